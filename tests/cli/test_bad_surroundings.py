"""Whatever stands around the command line: its streams, its environment, what a person types. A
sentence, a way out, a code.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fakes.sample import Said, Sample, by_script
from tests.fakes.warm_python import warm_python

TASK = "Fix the rota before its start"


def program(
    sample: Sample,
    *words: str | bytes,
    streams: str = "",
    without: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Said:
    """The program as a process of its own, under a shell that opens or closes its streams as
    `streams` says.
    """
    # Buffered, as it is for users: what is left in a buffer at the end is where it goes wrong.
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in (*without, "PYTHONUNBUFFERED")
    }
    environment = kept | dict(environ or {})
    command = [
        "bash",
        "-c",
        f'set -o pipefail; "$@" {streams}',
        "bash",
        python,
        "-m",
        "forge_bot",
        *words,
        *by_script(words),
    ]
    done = subprocess.run(
        command,
        cwd=sample.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def told(said: Said, code: str, exit_code: int) -> str:
    assert said.code == exit_code, said
    assert code in said.err
    assert "→" in said.err
    assert "unexpected" not in said.err
    return said.err


def untouched(sample: Sample) -> bool:
    return (
        sample.git("branch", "--format=%(refname:short)") == "main"
        and len(sample.git("worktree", "list").splitlines()) == 1
    )


# -- streams
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reader_who_leaves_stops_the_run_where_it_can_go_on(sample: Sample) -> None:
    model = sample.model()
    said = program(sample, "run", TASK, "--effort", "S", "--model", model, streams="| head -n 1")
    assert said.code == 1
    assert said.out.splitlines() == [TASK]
    again = sample.forge("resume", "--model", model)
    assert again.code == 3
    assert "put aside" not in again.out, (
        "what the tests left in the tree is nobody's unfinished work"
    )


# -- environment
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("HOME", "nowhere", "CONFIG-005"),
        ("XDG_STATE_HOME", "/proc/nowhere", "PREFLIGHT-001"),
        ("XDG_STATE_HOME", "FILE", "GIT-006"),
    ],
)
def test_without_a_place_for_its_state_a_run_does_not_begin(
    sample: Sample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    code: str,
) -> None:
    (tmp_path / "FILE").touch()
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv(variable, str(tmp_path / "FILE") if value == "FILE" else value)
    assert "XDG_STATE_HOME" in told(sample.forge("run", TASK, "--model", sample.model()), code, 5)
    assert untouched(sample)


# -- what a person types
# --------------------------------------------------------------------------------------------------


def test_the_list_of_commands_has_whole_sentences_at_any_width(sample: Sample) -> None:
    for words in ((), ("graph",), ("capabilities",)):
        said = program(sample, *words, "--help", environ={"COLUMNS": "80"}, python=warm_python())
        listed = said.out[said.out.index("Commands:") :]
        assert "..." not in listed
        assert max(map(len, listed.splitlines())) <= 80
    told = " ".join(program(sample, "--help", python=warm_python()).out.split())
    assert "Write .forge/config.yml and, on GitHub, the workflow, where they are missing." in told


def test_help_begins_with_what_people_use_most(sample: Sample) -> None:
    for words, part, count in (((), "Commands:", 8), (("run",), "Options:", 9)):
        shown = program(sample, *words, "--help", python=warm_python()).out
        listed = shown.partition(f"\n{part}\n")[2]
        names = re.findall(r"^  (?:-\w, )?([\w-]+)", listed.partition("\n\n")[0], re.MULTILINE)
        assert len(names) == count, names


MISTYPED = [
    (["rn", TASK], "Did you mean 'run'?"),
    (["run", TASK, "--efort", "S"], "--effort"),
    (["aprove"], "Did you mean 'approve'?"),
    (["run"], "Missing argument 'task'"),
    (["reject"], "→ forge-bot reject --help says what it takes"),
]


def test_a_mistyped_command_says_what_could_be_meant(sample: Sample) -> None:
    for words, part in MISTYPED:
        said = sample.forge(*words)
        assert said.code == 2, words
        assert part in said.err
        assert "--help says what it takes" in said.err


def test_an_answer_that_cannot_be_taken_changes_nothing(asked_sample: Sample) -> None:
    model = asked_sample.model()
    before = (asked_sample.workspace / "reports.jsonl").read_bytes()
    digest = next(
        line
        for line in asked_sample.forge("status", "--json").out.splitlines()
        if '"digest"' in line
    ).split('"')[3]
    wrong = "0" * 12 if not digest.startswith("0") else "1" * 12
    cases = (
        (["reject", ""], "GATE-003", 5),
        (["reject", " \n "], "GATE-003", 5),
        (["reject", "x" * 100_001], "REQUEST-002", 2),
        (["retry", "phase-3", "--notes", "x" * 100_001], "REQUEST-002", 2),
        (["approve", digest[:6]], "REQUEST-007", 2),
        (["approve", wrong], "GATE-002", 5),
        (["approve", f"{digest}0"], "REQUEST-007", 2),
        (["approve", "sha256:"], "REQUEST-007", 2),
        (["done"], "GATE-004", 5),
        (["skip"], "GATE-004", 5),
        (["retry", "phase-99"], "REQUEST-007", 2),
        (["continue", "nan"], "REQUEST-007", 2),
        (["continue", "1e999"], "REQUEST-007", 2),
        (["continue", "0"], "REQUEST-007", 2),
        (["continue", "+$"], "REQUEST-007", 2),
    )
    for words, code, exit_code in cases:
        told(asked_sample.forge(*words, "--model", model), code, exit_code)
        assert (asked_sample.workspace / "reports.jsonl").read_bytes() == before, words
