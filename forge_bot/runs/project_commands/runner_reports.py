"""The reports that the runners of a test command write, beside its output."""

import json
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import PathEscapes
from forge_bot.git import Tree
from forge_bot.sandbox.box import Box
from forge_bot.store import inside
from forge_bot.verification.runners import (
    Words,
    package_folder,
    places_of_reports,
    report_environment,
    reporting,
)

_MOST_BYTES = 60_000_000
_MOST_FILES = 5_000
_WRITTEN = re.compile(
    r"^(?:-+ generated xml file: .*|Test results written to: .*|JSON report written to .*)\n?",
    re.MULTILINE,
)
"""What runners print about their reports."""


@dataclass
class RunnerReports:
    """The reports of one test command, which runs in a tree by `argv`."""

    argv: Words
    plain: Words
    place: Tree
    folder: Path
    _began: float
    """When the folder was made, by the clock of its file system."""

    def in_box(self, box: Box) -> Box:
        """Return the box in which the command may write its reports."""
        env = {**box.env, **report_environment(str(self.folder), box.env)}
        limits = (
            box.limits.replace(output_bytes=_MOST_BYTES) if "-json" in self.argv else box.limits
        )
        return box.replace(writable=(*box.writable, self.folder), env=env, limits=limits)

    def read(self) -> dict[str, str]:
        """Return the reports by name; what Maven and Gradle write by its path."""
        texts = {path.name: path for path in self.folder.iterdir()}
        globs = places_of_reports(self.plain)
        reports = (path for glob in globs for path in self.place.path.glob(glob))
        texts |= {path.relative_to(self.place.path).as_posix(): path for path in reports}
        chosen = [*texts.items()][:_MOST_FILES]
        return {name: text for name, path in chosen if (text := self._text(path))}

    def _text(self, path: Path) -> str:
        """Return a file that the command wrote; "" for a link, which may lead out."""
        root = self.folder if path.parent == self.folder else self.place.path
        with suppress(PathEscapes, OSError):
            file = inside(root, path.relative_to(root).as_posix())
            stat = file.lstat()
            is_new = file.is_file() and not file.is_symlink() and stat.st_mtime >= self._began
            if is_new and stat.st_size <= _MOST_BYTES:
                return file.read_text("utf-8", "replace")
        return ""

    def without_words(self, output: str) -> str:
        """Return the output without what it says of the reports."""
        ours = " ".join(self.argv[len(self.plain) :]).removeprefix("-- ")
        return _WRITTEN.sub("", output.replace(f" {ours}", "") if ours else output)


@contextmanager
def reports_of(argv: Words, place: Tree, parent: Path) -> Generator[RunnerReports]:
    """Make a folder for the reports of a test command, and remove it afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="reports-", dir=parent))
    try:
        words = reporting(argv, str(folder), _script(place, argv))
        yield RunnerReports(words, argv, place, folder, folder.stat().st_mtime)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _script(place: Tree, argv: Words) -> str:
    """Return the script that a package manager runs as `test`; "" for another command."""
    folder = package_folder(argv)
    if folder is None or "test" not in argv:
        return ""
    with suppress(OSError, ValueError, AttributeError, PathEscapes):
        manifest = inside(place.path, f"{folder}/package.json" if folder else "package.json")
        script = json.loads(manifest.read_text("utf-8"))["scripts"]["test"]
        return script if isinstance(script, str) else ""
    return ""
