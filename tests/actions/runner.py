"""Workflows run on this machine by act in host mode, against the GitHub of the tests: what a runner
of GitHub does with our files.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forge_bot.forge.github import workflow_files as workflow_file
from tests.bot.stage import SECRET, Job, Stage

ROOT = Path(__file__).parents[2]
STUBS = Path(__file__).parent / "stubs"
ACTION = f"{workflow_file.ACTION}@0123456789abcdef0123456789abcdef01234567"
RELEASE = f"{ACTION} # v1.0.0"
KEY = "OPENAI_API_KEY"
_SUMMARY = re.compile(r"Summary - (.*)")
_USES = re.compile(r"uses: (?P<name>[\w.-]+/[\w./-]+)@(?P<pin>[0-9a-f]{40}) # v")


def program(name: str) -> str | None:
    """A program beside the Python of the tests, or anywhere."""
    return shutil.which(
        name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    )


@cache
def missing() -> str:
    """Why no workflow can be run here; empty if one can."""
    lacking = [name for name in ("act", "uv", "git", "bash") if program(name) is None]
    return f"{', '.join(lacking)} is not installed" if lacking else ""


@cache
def uv_cache() -> str:
    """Where uv keeps what it has fetched; the environment of the tests came out of it."""
    uv = program("uv")
    if uv is None:
        raise RuntimeError("uv is not on the path: pip install uv, or take that of .check/bin")
    return subprocess.run(
        [uv, "cache", "dir"], capture_output=True, text=True, check=True
    ).stdout.strip()


@dataclass
class Runner(Stage):
    """A stage whose jobs are workflows. `files` are those of the consumer's repository, by their
    paths; `uses` maps actions to folders.
    """

    files_here: Mapping[str, str] = field(default_factory=dict[str, str])
    called: str = "forge-bot.yml"
    uses: Mapping[str, Path] = field(default_factory=dict[str, Path])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    warm: bool = False
    """Whether jobs are led without a workflow, in a Python that has imported forge-bot already."""

    def job(self, event: str, payload: Any, actor: str) -> Job:
        """One event, and everything that the workflow makes of it."""
        if self.warm:
            return super().job(event, payload, actor)
        return self.started(event, payload, actor).ended()

    def started(
        self, event: str, payload: Any, actor: str, again: "Underway | None" = None
    ) -> "Underway":
        """The workflow begins."""
        environ, folder = self.machine(event, payload, actor)
        if again is not None:
            environ |= {"GITHUB_RUN_ID": again.run_id, "GITHUB_RUN_ATTEMPT": "2"}
        process = subprocess.Popen(
            self._words(event, folder, actor, environ),
            cwd=self._checkout(folder / "workspace"),
            env={
                "PATH": program_path(),
                "HOME": str(folder / "home"),
                "TMPDIR": str(folder / "tmp"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Underway(process, event, folder, environ["GITHUB_RUN_ID"])

    def _checkout(self, folder: Path) -> Path:
        """The consumer's repository as far as GitHub reads it: its workflows. The address is a name
        here, and is never asked.
        """
        for name, text in self.files_here.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            # act 0.2.89 does not know `queue` yet and would refuse the file; it looks after no
            # queues either.
            known = "".join(
                line for line in text.splitlines(keepends=True) if line.strip() != "queue: max"
            )
            (folder / name).write_text(known, encoding="utf-8")
        for words in (
            ["init", "-q", "-b", "main"],
            ["remote", "add", "origin", f"https://github.com/{self.repo.full_name}.git"],
        ):
            subprocess.run(["git", "-C", str(folder), *words], check=True)
        subprocess.run(["git", "-C", str(folder), "add", "-A"], check=True)
        subprocess.run(
            [
                "git",
                "-C",
                str(folder),
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.c",
                "commit",
                "-qm",
                "workflow",
            ],
            check=True,
        )
        return folder

    def _words(
        self, event: str, folder: Path, actor: str, environ: Mapping[str, str]
    ) -> Sequence[str]:
        for name in ("home", "tmp", "cache"):
            (folder / name).mkdir()
        act = program("act")
        assert act is not None
        told = {
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_SERVER_URL": self.hub.url,
            "GITHUB_TRIGGERING_ACTOR": actor,
            **{name: environ[name] for name in ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT")},
            "UV_CACHE_DIR": uv_cache(),
            "UV_OFFLINE": "1",
            "ARTIFACTS": str(folder / "artifacts"),
            **self.variables,
        }
        model = self.environ["FORGE_BOT_MODEL"]
        secrets = {
            "GITHUB_TOKEN": environ["GITHUB_TOKEN"],
            "ANTHROPIC_API_KEY": SECRET,
            KEY: SECRET,
            **self.secrets,
        }
        return [
            *(
                act,
                event,
                "--workflows",
                f".github/workflows/{self.called}",
                "--eventpath",
                str(folder / "event.json"),
                "--actor",
                actor,
            ),
            *(
                "--platform",
                "ubuntu-24.04=-self-hosted",
                "--no-cache-server",
                "--pull=false",
                "--no-skip-checkout",
            ),
            *(
                "--action-cache-path",
                str(folder / "cache"),
                "--action-offline-mode",
                "--use-new-action-cache",
            ),
            *(
                "--env-file",
                os.devnull,
                "--secret-file",
                os.devnull,
                "--var-file",
                os.devnull,
                "--input-file",
                os.devnull,
            ),
            *("--var", f"FORGE_BOT_MODEL={model}"),
            *(
                part
                for name, path in self.uses.items()
                for part in ("--local-repository", f"{name}={path}")
            ),
            *(part for name, value in secrets.items() for part in ("--secret", f"{name}={value}")),
            *(part for name, value in told.items() for part in ("--env", f"{name}={value}")),
        ]


@dataclass(frozen=True)
class Underway:
    """A workflow that runs."""

    process: "subprocess.Popen[str]"
    event: str
    folder: Path
    run_id: str

    def ended(self) -> Job:
        """How it ended; its machine is gone then."""
        log, _ = self.process.communicate(timeout=300)
        for name in ("cache", "tmp"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        return Job(self.event, self.process.returncode, log, "\n".join(_SUMMARY.findall(log)))

    def lose(self, module: str) -> None:
        """The process that runs a module of ours dies with all it started, as on a machine that is
        lost.
        """
        found = [pid for pid, words in below(self.process.pid) if f"-m {module}" in words]
        assert found, [words for _, words in below(self.process.pid)]
        for pid in (found[0], *(pid for pid, _ in below(found[0]))):
            os.kill(pid, signal.SIGKILL)


def below(pid: int) -> Iterator[tuple[int, str]]:
    """Every process that came of this one and is alive, with its command line."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child, Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            yield from below(child)


def program_path() -> str:
    """The programs that a machine of GitHub has."""
    folders = [
        str(Path(found).parent)
        for name in ("uv", "git", "bash")
        if (found := program(name)) is not None
    ]
    return os.pathsep.join(
        dict.fromkeys([str(Path(sys.executable).parent), *folders, "/usr/bin", "/bin"])
    )


def shipped(folder: Path) -> Path:
    """The action as a release has it: the files that git knows, without what lies beside them."""
    names = (
        subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True)
        .stdout.decode()
        .split("\0")
    )
    for name in filter(None, names):
        if not name.startswith(("tests/", "benchmarks/", "docs/")):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return folder


def pins(text: str) -> dict[str, str]:
    """Every `uses:` of a workflow by the name of the action, each as `name@commit`."""
    return {found["name"]: f"{found['name']}@{found['pin']}" for found in _USES.finditer(text)}


def consumer() -> str:
    """The workflow that `init` writes, with the model of the tests."""
    text = workflow_file.workflow_text(RELEASE, KEY)
    return text.replace(
        "        env:\n",
        "        with:\n          model: ${{ vars.FORGE_BOT_MODEL }}\n        env:\n",
    )
