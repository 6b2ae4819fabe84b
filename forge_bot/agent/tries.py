"""The outcome of running the project's commands right after a task's edits."""

from collections.abc import Callable, Iterable, Sequence

from pydantic import Field

from forge_bot.artifacts.markdown import without_section
from forge_bot.git import blob_id
from forge_bot.values import Frozen

HEADING = "Tests After the Edits"
_NAMED = 10


class FormattedFile(Frozen):
    """A file of edits as the project's own formatter leaves it."""

    path: str
    before: str = Field(description="git's id of the file before")
    text: str


def with_formatting(
    files: Iterable[tuple[str, bytes | None]], formatted: Sequence[FormattedFile]
) -> tuple[tuple[str, bytes | None], ...]:
    """Return files of edits as they were formatted. A file with other bytes since stays as it
    is.
    """
    known = {(file.path, file.before): file.text.encode() for file in formatted}
    return tuple(
        (path, known.get((path, blob_id(data)), data) if data is not None else None)
        for path, data in files
    )


class TryOutcome(Frozen):
    """The outcome of the project's commands after some edits, beside the commit before them."""

    red: tuple[str, ...] = Field(default=(), description="what is newly red and goes back")
    summary: str = Field(default="", description="in a few words: `tests are red: 2 of 84`")
    words: str = Field(default="", description="what the commands said about it")
    green: tuple[str, ...] = Field(
        default=(), description="tests that failed before the edits and pass now"
    )
    ran: tuple[str, ...] = Field(
        default=(),
        description="commands with all of their tests, and how many ran, a sentence each",
    )
    untold: str = Field(default="", description="why some command tells nothing, a sentence")
    formatted: tuple[FormattedFile, ...] = Field(
        default=(), description="files that the project's own formatter changed"
    )
    formatting: tuple[str, ...] = Field(
        default=(), description="what it formatted, or why nothing, as sentences"
    )
    weakened: tuple[str, ...] = Field(
        default=(), description="tests that the edits delete, skip or weaken, a sentence each"
    )
    seconds: float = Field(default=0.0, description="how long the commands took; 0 if none ran")

    def with_rules(self, broken: Sequence[str]) -> "TryOutcome":
        """Return the outcome with the rules on tiers that the edits break."""
        if not broken:
            return self
        listed = "\n".join(f"- {rule}" for rule in broken)
        words = f"Rules of `.forge/manifest.yaml` that held before these edits:\n\n{listed}"
        summary = f"rules are red: {len(broken)}"
        return self.replace(
            red=(*self.red, *broken),
            summary="; ".join(filter(None, (self.summary, summary))),
            words="\n\n".join(filter(None, (self.words, words))),
        )

    def redacted(self, strike: Callable[[str], str]) -> "TryOutcome":
        """Return the outcome with secrets struck out of the commands' words."""
        return self.replace(
            red=tuple(map(strike, self.red)),
            words=strike(self.words),
            weakened=tuple(map(strike, self.weakened)),
            formatted=tuple(file for file in self.formatted if strike(file.text) == file.text),
        )


def with_tries(markdown: str, tries: Sequence[TryOutcome]) -> str:
    """Return a task's document with what our own process saw, in place of any such words in it."""
    section = _section(tries)
    return f"{without_section(markdown, HEADING).rstrip()}\n\n{section}" if section else markdown


def _section(tries: Sequence[TryOutcome]) -> str:
    """Return the section of a task's document about its tries; empty if they tell nothing."""
    if not tries:
        return ""
    last = tries[-1]
    weakened = [f"- Weakens tests, which the reviewer judges: {fact}." for fact in last.weakened]
    lines = [f"## {HEADING}", "", "Our own process ran the project's commands on the edits.", ""]
    if not any(outcome.red for outcome in tries):
        green = ["- Nothing is newly red, compared with the commit before them.", *_show_ran(last)]
        sentences = [
            *weakened,
            *_formatting(last),
            *(green if last.ran and not last.untold else ()),
        ]
        return "\n".join([*lines, *sentences]) + "\n" if sentences else ""
    back = [outcome for outcome in tries[: -1 if last.red else None] if outcome.red]
    lines += [f"- Went back to the implementer: {outcome.summary}." for outcome in back]
    if last.red:
        lines += [f"- Still newly red: {named(last.red)}."]
    elif back:
        lines += [
            *_formatting(last),
            "- Nothing is newly red after the last edits.",
            *_show_ran(last),
        ]
    lines += weakened
    if last.red:
        lines += ["", "What the commands say:", "", last.words]
    return "\n".join(lines) + "\n"


def _formatting(outcome: TryOutcome) -> list[str]:
    return [f"- {sentence}" for sentence in outcome.formatting]


def _show_ran(outcome: TryOutcome) -> list[str]:
    """Return the commands that ran, and the tests that turned green."""
    green = [f"- Red before the edits, green now: {named(outcome.green)}."] if outcome.green else []
    return [*(f"- {sentence}" for sentence in outcome.ran), *green]


def named(items: Sequence[str], most: int = _NAMED) -> str:
    """Return names of tests as code, the first of many."""
    shown = ", ".join(f"`{item.replace('`', chr(39))}`" for item in items[:most])
    more = len(items) - most
    return f"{shown} and {more} more" if more > 0 else shown
