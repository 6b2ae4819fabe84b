"""The project's own formatter on the files of edits, in the tree where commands judge."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from forge_bot.agent.tries import FormattedFile, named
from forge_bot.errors import CannotJudge, PathEscapes, WriteFailed
from forge_bot.git import Tree, blob_id
from forge_bot.project.detected_commands import Command, takes
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store import inside, write_whole
from forge_bot.text_format import command_line
from forge_bot.values import CommandName
from forge_bot.verification.unusable_commands import Cause, cause_of

Files = Sequence[tuple[str, bytes | None]]
"""Files by name as edits leave them; None for those that go."""

_MOST_SECONDS = 60
_MOST_GROWN = 4
"""A file is taken if it has become at most this many times as long."""


@dataclass
class FormattedEdits:
    """The edits of one try, and what the project's formatters make of them."""

    run: Run
    project: Project
    base: str
    edits: Files
    seconds: float
    files: list[FormattedFile] = field(default_factory=list[FormattedFile])
    facts: list[str] = field(default_factory=list[str])
    spent: float = 0.0

    def run_in(self, made: str) -> None:
        """Run the formatters on a commit with the edits, and take what they make of those files
        that were formatted before.
        """
        texts = {path: data for path, data in self.edits if data is not None and _is_text(data)}
        jobs = [
            (command, [path for path in texts if takes(command, path)])
            for command in self.project.profile.commands.format
        ]
        if not any(paths for _, paths in jobs) or self.seconds <= 0:
            return
        began = time.monotonic()
        if not any(result.exit_code for result in self.project.set_up()):
            with self.project.trial(made) as place:
                for command, paths in jobs:
                    present = {
                        path: texts[path]
                        for path in paths
                        if _read_plain_file(place, path, _most(texts[path])) is not None
                    }
                    if present:
                        self._format(command, place, present)
        self.spent = time.monotonic() - began

    def _format(self, command: Command, place: Tree, texts: Mapping[str, bytes]) -> None:
        words = f"`{command_line(command.argv)}`"
        if why := self._run_formatter(command, place, [*texts]):
            fact = f"{words} formatted nothing: {why}."
            # Two modules may have the same one.
            self.facts += [] if fact in self.facts else [fact]
            return
        now = {path: _read_plain_file(place, path, _most(texts[path])) for path in texts}
        new = {
            path: data
            for path, data in now.items()
            if data is not None and data != texts[path] and _is_text(data)
        }
        formatted = [*self._find_formatted_before(command, place, [*new])] if new else []
        for path, before in texts.items():
            _write(place, path, new[path] if path in formatted else before)
        self.files += [
            FormattedFile(path=path, before=blob_id(texts[path]), text=new[path].decode())
            for path in formatted
        ]
        if formatted:
            self.facts.append(f"{words} formatted {named(formatted)}.")

    def _run_formatter(self, command: Command, place: Tree, paths: Sequence[str]) -> str:
        """Run a formatter on files; why it did nothing, or ""."""
        argv = (*command.argv, *paths)
        seconds = min(self.seconds, self.run.config.command_seconds, _MOST_SECONDS)
        try:
            result = self.project.run_in(place, CommandName.FORMAT, argv, seconds).result
        except CannotJudge as error:
            return error.message.rstrip(".")
        if cause_of(result) is Cause.MISSING_TOOL:
            return "it is not installed in the project's environment"
        if result.timed_out:
            return f"it did not end within {seconds:g} seconds"
        return f"it ended with exit code {result.exit_code}" if result.exit_code else ""

    def _find_formatted_before(
        self, command: Command, place: Tree, paths: Sequence[str]
    ) -> Iterator[str]:
        """Yield those of some files that are new, or that the formatter leaves alone as they were
        before the edits.
        """
        before = self.run.repository.read_many(self.base, paths)
        yield from (path for path in paths if path not in before)
        for path, data in before.items():
            _write(place, path, data)
        if before and not self._run_formatter(command, place, [*before]):
            yield from (
                path
                for path in before
                if _read_plain_file(place, path, len(before[path])) == before[path]
            )

    def say(self) -> None:
        """Tell a person what was formatted, or why nothing was."""
        for fact in self.facts:
            self.project.tell(Message(text=f"after the edits: {fact}"))


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _most(data: bytes) -> int:
    return _MOST_GROWN * len(data)


def _read_plain_file(place: Tree, path: str, most: int) -> bytes | None:
    """Return a plain file of the tree; None for a link, where one leads out, and for a file of more
    bytes: a formatter may leave any number there.
    """
    with suppress(PathEscapes, OSError):
        file = inside(place.path, path)
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= most:
            return file.read_bytes()
    return None


def _write(place: Tree, path: str, data: bytes) -> None:
    """Write a file of the tree, unless a command left something else in its place."""
    with suppress(PathEscapes, WriteFailed):
        write_whole(inside(place.path, path), data)
