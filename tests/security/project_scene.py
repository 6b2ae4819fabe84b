"""A project in a folder, as a run at a commit of it sees it, and a registry of packages."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forge_bot.git import Repository, Tree
from forge_bot.runs.notifications import Notice
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.settings.config import load_config
from forge_bot.values import CommandResult
from tests.security.scene import git

_WALLS = (BackendName.BUBBLEWRAP, BackendName.LANDLOCK)
_WORKING = next((wall for wall in _WALLS if not failure_reason(wall)), _WALLS[0])
WALLS = [pytest.param(wall, marks=() if wall == _WORKING else pytest.mark.slow) for wall in _WALLS]
"""What forge-bot does beside the wall is the same behind each: the first line tries it behind one."""


def committed(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
        git(folder, *words)
    return folder


def project_in(
    folder: Path, *approved: bytes, base: str = "HEAD", told: list[Notice] | None = None
) -> Project:
    """The project of a run from a commit on, with patches of its setup that a person approved;
    `told` gets what it tells.
    """
    repository = Repository.find(folder)
    config, commit = load_config(repository.root), repository.commit_id(base)
    tell = ([] if told is None else told).append
    based = Foundation(commit, lambda: approved)
    return Project(repository, Tree(folder), config, tell, based)


def checked(project: Project) -> list[CommandResult]:
    """The results of the commands, run for this judgement."""
    return [output.result for output in project.check(lambda _: False)]


def judged_in(project: Project) -> Path:
    """The tree in which commands judged last."""
    with project.trial(project.tree.commit_id()) as place:
        return place.path


class Registry:
    """A registry at 127.0.0.1: its pages by their paths ("ok" for others), the values that it
    takes as credentials (without any it asks for none), the paths that it gave, and the command
    lines of this machine while it did.
    """

    def __init__(self, *credentials: str) -> None:
        self.pages: dict[str, bytes] = {}
        self.given: list[str] = []
        self.command_lines: set[bytes] = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                good = not credentials or self.headers.get("Authorization") in credentials
                page = outer.pages.get(self.path, b"ok") if good else b""
                self.send_response(200 if good else 401)
                if good:
                    outer.give(self.path)
                else:
                    self.send_header("WWW-Authenticate", 'Basic realm="private"')
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            # The name of the parameter is the base class's.
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"

    def give(self, path: str) -> None:
        self.given.append(path)
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.command_lines.add(file.read_bytes())
            except OSError:
                continue


@contextmanager
def serving(*credentials: str) -> Generator[Registry]:
    registry = Registry(*credentials)
    serve = registry.server.serve_forever
    threading.Thread(target=serve, args=(0.02,), daemon=True).start()
    yield registry
    registry.server.shutdown()
    registry.server.server_close()
