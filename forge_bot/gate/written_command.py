"""A line of a comment or an answer that names a command, as it was written."""

from dataclasses import dataclass

LONGEST_SHOWN = 60
"""Characters of a mistyped line that are shown again."""


@dataclass(frozen=True, slots=True)
class Mistyped:
    """A line that was meant as a command and is none. The hint is one sentence of Markdown."""

    line: int
    written: str
    hint: str


class Misplaced(Mistyped):
    """A line that would be a command in the first line of its comment. It is none here."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WrittenCommand:
    """A command as somebody wrote it: its words, and its author's own lines below it."""

    line: int
    said: str
    rest: str
    below: str
    prefix: str

    @property
    def text(self) -> str:
        """Return the text behind the command and below it."""
        return f"{self.rest}\n{self.below}".strip()

    @property
    def prefixed(self) -> bool:
        """Return whether it was written with the prefix in front."""
        return bool(self.prefix) and len(self.said.split()) > 1

    def named(self, command: str) -> str:
        """Another command as this one is written, for example `/forge reject`, `/reject` or
        `reject`.
        """
        if self.prefix and not self.prefixed:
            return f"/{command}"
        return f"{self.prefix} {command}".strip()

    def wrong(self, hint: str) -> Mistyped:
        """The line as one that cannot be followed."""
        return Mistyped(self.line, f"{self.said} {self.rest}".strip()[:LONGEST_SHOWN], hint)
