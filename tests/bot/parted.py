"""A stage on which hearing, working and publishing are jobs on machines of their own, each with no
more than it needs.
"""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge_bot.gate.workflow_step import run_gate
from tests.bot.stage import PERMISSIONS, Job, Stage, outputs


def untouched(folder: Path) -> None:
    """What a worker's machine delivered arrives as it was sent."""
    del folder


@dataclass
class Parted(Stage):
    """`on_the_way` is what happens to the worker's folder between the machines."""

    on_the_way: Callable[[Path], None] = untouched

    def job(self, event: str, payload: Any, actor: str) -> Job:
        environ, folder = self.machine(event, payload, actor)
        del environ["OPENAI_API_KEY"]
        gate = run_gate(environ)
        found = outputs(folder / "outputs")
        if found["proceed"] != "true":
            return Job(found["result"], gate, "", "")
        self.environ["FORGE_BOT_WAKE"] = found["wake"]
        code, log, handed = self._part(("publish",), "", PERMISSIONS)
        for last in (False, True):
            if not handed:
                break
            _, worked, _ = self._part(("work", "--out", "work"), handed, {"contents": "read"})
            words = ("publish", "--in", "work", *(("--last",) if last else ()))
            code, published, handed = self._part(words, handed, PERMISSIONS)
            log += worked + published
        return Job(found["result"], code, log, "")

    def _part(
        self, words: tuple[str, ...], handed: str, permissions: Mapping[str, str]
    ) -> tuple[int, str, str]:
        """One part on a machine without anything; what it says, and what it hands over."""
        environ, folder = self.machine("workflow_call", {}, "maint")
        environ |= {
            "GITHUB_TOKEN": self.hub.actions_token(self.repo, **permissions),
            "FORGE_BOT_HANDED": handed,
        }
        work = self.folder / "work"
        if words[0] == "work":
            environ.pop("FORGE_BOT_SIGNING_KEY", None)
        if words[0] == "publish":
            environ = {
                name: value
                for name, value in environ.items()
                if name not in {"OPENAI_API_KEY", "FORGE_BOT_MODEL"}
            }
            if work.is_dir():
                shutil.move(work, folder / "work")
        done = subprocess.run(
            [self.python, "-m", "forge_bot", *words],
            env=environ,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        shutil.rmtree(folder / "state", ignore_errors=True)
        if words[0] == "work" and (folder / "work").is_dir():
            shutil.move(folder / "work", work)
            self.on_the_way(work)
        return (
            done.returncode,
            done.stdout + done.stderr,
            outputs(folder / "outputs").get("handed", ""),
        )
