"""How quickly the action begins on a machine that has its wheels: the shipped steps of action.yml,
one after the other, with a GitHub on loopback that notes when it is asked. Once on a machine that
is new otherwise, and once on one that keeps its tool cache from job to job.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import yaml

from benchmarks.measuring import Row, summed_up
from forge_bot.gate.action import INPUTS
from tests.actions.runner import ROOT, shipped, uv_cache
from tests.bot.stage import Stage, outputs
from tests.fakes.github import FakeGitHub

TIMES = 7
SIGN = "label → 👀 on the issue"
ASKED = "label → supervisor's first question"
COST = "… of it, processor time"
KEPT = "label → the run's first push"
COST_KEPT = "… of it, until then processor time"
INSTALL = "label, the step that installs"
GATE = "gate, {}, by the clock"
SHARE = "gate, {}, processor time"
NEW, KEEPS = "a new machine", "one that keeps its tool cache"
_LABEL, _TALK = "a label", "talk"
_NOTES, _PARTS = "forge-bot/compiled/*/*-*", 2
"""What `scripts/action/install` leaves when a part of the code is compiled, and the parts."""


def rows() -> Iterator[Row]:
    """Each go has a fresh copy of the action, an empty environment and an issue of its own; one
    that warms the disk, and the tool cache, does not count.
    """
    for said in (NEW, KEEPS):
        with tempfile.TemporaryDirectory(
            prefix="forge-bot-benchmarks-", ignore_cleanup_errors=True
        ) as name:
            tools = Path(name) / "tools" if said is KEEPS else None
            gone = [_once(Path(name) / "go", tools) for _ in range(TIMES + 1)][1:]
        for what in gone[0]:
            yield Row(what, said, TIMES, summed_up([each[what] for each in gone]))


def _once(folder: Path, tools: Path | None) -> dict[str, float]:
    folder.mkdir()
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    with FakeGitHub(folder / "github") as hub:
        stage = Stage(hub, folder / "jobs", folder / "script.jsonl")
        if tools is not None:
            stage.environ["RUNNER_TOOL_CACHE"] = str(tools)
        found = _talk(stage, steps[0], folder) | _label(stage, steps, folder)
    while tools is not None and len([*tools.glob(_NOTES)]) < _PARTS:
        time.sleep(0.05)
    # What is compiled ahead on a new machine is still being written.
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)
    return found


def _talk(stage: Stage, gate: Mapping[str, Any], folder: Path) -> dict[str, float]:
    """What a comment without a command costs."""
    payload = stage.hub.payload(
        "issue_comment.created", stage.repo, "maint", comment=stage.comment("What a nice idea!")
    )
    environ, _ = stage.machine("issue_comment", payload, "maint")
    clock, share = ran(gate, around(environ, shipped(folder / "heard")))
    return {GATE.format(_TALK): clock, SHARE.format(_TALK): share}


def _label(stage: Stage, steps: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, float]:
    """From the first step's first instruction, with times by GitHub's own watch."""
    stage.issue.labels.append(stage.hub.label(stage.repo, "forge"))
    payload = stage.hub.payload(
        "issues.labeled", stage.repo, "maint", issue=stage.issue, label="forge"
    )
    environ, job = stage.machine("issues", payload, "maint")
    environ = around(environ, shipped(folder / "action"))
    at: dict[str, float] = {}
    kept = Event()
    stage.hub.faults.meanwhile(
        r"POST .*/reactions$", lambda: at.setdefault(SIGN, time.perf_counter() - start)
    )
    stage.hub.faults.meanwhile(
        r"GET .*/info/refs$",
        lambda: at.update({ASKED: time.perf_counter() - start, COST: _used(process.pid)}),
    )
    stage.hub.faults.meanwhile(
        r"POST .*/git-receive-pack$",
        lambda: (
            at.setdefault(KEPT, time.perf_counter() - start),
            at.setdefault(COST_KEPT, _used(process.pid)),
            kept.set(),
        ),
    )
    known = {step["id"]: step for step in steps if "id" in step}
    gate, install, run = known["gate"], known["install"], known["run"]
    start = time.perf_counter()
    clock, share = ran(gate, environ)
    installing, installed = ran(install, environ)
    with _begun(run, environ | {"FORGE_BOT_WAKE": outputs(job / "outputs")["wake"]}) as process:
        while process.poll() is None and not kept.wait(0.1):
            continue
        process.kill()
    if not kept.is_set():
        raise RuntimeError((job / "log").read_text(encoding="utf-8"))
    for cost in (COST, COST_KEPT):
        at[cost] += share + installed
    return {GATE.format(_LABEL): clock, SHARE.format(_LABEL): share, **at, INSTALL: installing}


def _used(pid: int) -> float:
    """Processor seconds of a process and the children that it waited for: proc(5), utime to
    cstime.
    """
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def around(environ: Mapping[str, str], action: Path) -> dict[str, str]:
    """A step's environment, as the runner makes it of the action's inputs."""
    job = Path(environ["HOME"])
    inputs = {each.env: each.default for each in INPUTS if "${{" not in each.default}
    return {
        **inputs,
        **environ,
        "FORGE_BOT_PYTHON": sys.executable,
        "GITHUB_ACTION_PATH": str(action),
        "RUNNER_TEMP": str(job / "temp"),
        "UV_CACHE_DIR": uv_cache(),
        "UV_OFFLINE": "1",
    }


def ran(step: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[float, float]:
    """Seconds by the clock and of a processor that one step takes."""
    start = time.perf_counter()
    process = _begun(step, environ)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError((Path(environ["HOME"]) / "log").read_text(encoding="utf-8"))
    return took, used.ru_utime + used.ru_stime


def _begun(step: Mapping[str, Any], environ: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    job = Path(environ["HOME"])
    with (job / "log").open("ab") as log:
        # What `shell: bash` is on a runner.
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.Popen(words, cwd=job, env=dict(environ), stdout=log, stderr=log)
