"""Read the fields of one task line by line from its section of tasks.md."""

import re
from collections.abc import Sequence
from enum import StrEnum

from forge_bot.artifacts.task_values import is_none, read_dependencies, read_mode, read_paths
from forge_bot.values import Frozen, TaskId, TaskMode


class Field(StrEnum):
    """The fields of a task."""

    MODE = "mode"
    FILES = "files"
    DEPENDS_ON = "depends_on"
    ACCEPTANCE = "acceptance"


_WORDS = {
    Field.MODE: r"(?:execution[ _-])?mode",
    Field.FILES: (
        r"(?:affected |touched )?files?(?:"
        r" (?:to|touched|affected|changed|modified|created|involved)\b[\w /,-]{0,40})?"
    ),
    Field.DEPENDS_ON: r"depends[ _-]on|dependenc(?:y|ies)",
    Field.ACCEPTANCE: r"acceptance(?:[ _-]criteri(?:a|on))?|definition of done",
}
_ANY = "|".join(f"(?P<{field.value}>{words})" for field, words in _WORDS.items())
_LEAD = r"^\s*(?:[-*+]\s+)?(?:\#{1,6}\s+)?"
# `mode: x`, `- **Mode:** x`, `**Mode**: x`, `### Files:`; then a label without a colon: `###
# Files`, `**Files**`.
_LABELLED = re.compile(
    rf"{_LEAD}[*_`]{{0,3}}(?:{_ANY})[*_`]{{0,3}}\s*(?:\([^)]*\)\s*)?[:：][*_`]{{0,3}}(?P<rest>.*)$",
    re.IGNORECASE,
)
_ALONE = re.compile(
    rf"^\s*(?:\#{{1,6}}\s+|(?=\*\*|__))[*_]{{0,3}}(?:{_ANY})[*_]{{0,3}}\s*(?P<rest>)$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<rest>.*)$")
_CRITERION = re.compile(r"^\s*(?:[-*+]\s+)?(?:\[[ xX]?\]\s*)?[*_]{0,3}AC[ -]?\d+\b")
_CHECKBOX = re.compile(r"^\[[ xX✓✔]?\]\s*")


class Fields(Frozen):
    """The content of one section. `unread` holds unreadable values, each with its field."""

    modes: tuple[TaskMode, ...] = ()
    files: tuple[str, ...] = ()
    depends_on: tuple[TaskId, ...] = ()
    acceptance: tuple[str, ...] = ()
    unread: tuple[tuple[Field, str], ...] = ()


def read_fields(lines: Sequence[str]) -> Fields:
    """Read the fields of a section. Prose between them is ignored."""
    reader = _Reader()
    for line in _joined(lines):
        reader.take(line)
    return reader.fields()


def names_mode(line: str) -> bool:
    """Return whether a line gives a task its mode.

    Such a line outside of every task belongs to a task that was not recognised.
    """
    match = _LABELLED.match(line)
    return (
        match is not None
        and match[Field.MODE.value] is not None
        and read_mode(match["rest"]) is not None
    )


def starts_with_field(line: str) -> bool:
    """Return whether a line begins with one of the fields."""
    return _LABELLED.match(line) is not None


def _joined(lines: Sequence[str]) -> list[str]:
    """Return the lines; a bracketed list over several lines becomes one line."""
    joined: list[str] = []
    for line in lines:
        last = joined[-1] if joined else ""
        match = _LABELLED.match(last)
        opened = match is not None and match["rest"].lstrip().startswith("[") and "]" not in last
        if opened and line.strip() and _LABELLED.match(line) is None:
            joined[-1] = f"{last} {line.strip()}"
        else:
            joined.append(line)
    return joined


class _Reader:
    """Tracks which field a bullet belongs to."""

    def __init__(self) -> None:
        self._open: Field | None = None
        self._entries = 0
        self._gap = False
        self._found: dict[Field, list[str]] = {field: [] for field in Field}

    def take(self, line: str) -> None:
        if not line.strip():
            self._gap = True
            return
        labelled = _LABELLED.match(line) or _ALONE.match(line)
        if labelled is not None:
            self._label(
                next(field for field in Field if labelled[field.value] is not None),
                labelled["rest"].strip(),
            )
        elif _CRITERION.match(line):
            self._open = Field.ACCEPTANCE
            self._add(Field.ACCEPTANCE, line)
        elif (bullet := _BULLET.match(line)) is not None:
            self._bullet(bullet["rest"])
        else:
            self._prose(line)
        self._gap = False

    def _label(self, field: Field, rest: str) -> None:
        self._open = field
        self._entries = 0
        inline = rest.strip(" *_")
        if inline and not (
            field is Field.ACCEPTANCE and inline.startswith("(") and inline.endswith(")")
        ):
            self._add(field, rest)
            self._open = field if field is Field.ACCEPTANCE else None

    def _bullet(self, rest: str) -> None:
        # After a gap, bullets may belong to a description or to the list of files; those of a
        # description do not look like paths.
        stray = (
            self._gap
            and self._entries
            and self._open is not Field.ACCEPTANCE
            and " " in rest.strip()
            and "`" not in rest
        )
        if stray:
            self._open = None
        if self._open in {Field.FILES, Field.DEPENDS_ON} and _CHECKBOX.match(rest):
            self._open = Field.ACCEPTANCE
        if self._open is not None:
            self._add(self._open, rest)

    def _prose(self, line: str) -> None:
        acceptance = self._open is Field.ACCEPTANCE
        if acceptance and self._entries and line.startswith("  ") and not self._gap:
            self._found[Field.ACCEPTANCE][-1] += f" {line.strip()}"
        elif self._open is not None and not self._entries and (acceptance or not self._gap):
            self._add(self._open, line)
        elif self._open is Field.FILES and " " not in line.strip():
            self._add(Field.FILES, line)
        else:
            self._open = None

    def _add(self, field: Field, value: str) -> None:
        self._found[field].append(value.strip())
        self._entries += 1

    def fields(self) -> Fields:
        modes = [(value, read_mode(value)) for value in self._found[Field.MODE]]
        paths, no_paths = read_paths(self._found[Field.FILES])
        ids, no_ids = read_dependencies(self._found[Field.DEPENDS_ON])
        unread = [
            *((Field.MODE, value) for value, mode in modes if mode is None),
            *((Field.FILES, value) for value in no_paths),
            *((Field.DEPENDS_ON, value) for value in no_ids),
        ]
        return Fields(
            modes=tuple(dict.fromkeys(mode for _, mode in modes if mode is not None)),
            files=paths,
            depends_on=ids,
            acceptance=tuple(
                text for value in self._found[Field.ACCEPTANCE] if (text := _criterion(value))
            ),
            unread=tuple(unread),
        )


def _criterion(value: str) -> str:
    bullet = _BULLET.match(value)
    text = _unbold(_CHECKBOX.sub("", (bullet["rest"] if bullet else value).strip())).strip()
    return "" if is_none(text) else text


def _unbold(text: str) -> str:
    """Remove the marks of bold type. Code keeps its underscores, as in `__init__`."""
    parts = text.split("`")
    return "`".join(
        part if place % 2 else part.replace("**", "").replace("__", "")
        for place, part in enumerate(parts)
    )
