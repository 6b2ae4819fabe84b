"""The values of a task's fields: a mode, paths, ids of other tasks."""

import re
from collections.abc import Iterator, Sequence

from forge_bot.artifacts.waves import normal_path
from forge_bot.values import TaskId, TaskMode

ID = r"(?:[A-Za-z]{1,12}-?)?\d+(?:\.\d+)*[a-z]?"

_NONE = {"", "none", "nothing", "n/a", "na", "nil", "null", "tbd"}
_STARTS_WITH_NONE = re.compile(r"\W*(?:none|nothing|n/a)\b", re.IGNORECASE)
_MODE = re.compile(
    r"(?P<mode>sequential|parallel|human[ _-]?gate)(?:\s*(?:[.,;(#]|[-–—]\s).*)?",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = " \t`*\"'"

_ACTION = re.compile(
    r"^\**(?:to )?(?:creates?|new|add(?:ed)?|modif(?:y|ied)|edit|update|change|delete|remove"
    r"|rename|tests?)\**\s*[:：]\**\s*",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ASIDE = re.compile(r"\s+\([^)]*\)")
_REMARK = re.compile(r"\s+(?:[-–—]+|→|<-|//)\s.*|(?<=[\w`*]):\s+.*|\s+#.*", re.DOTALL)
_PLACE = re.compile(r"(?::\d+(?:-\d+)?|\#L\d+(?:-L?\d+)?)+$")
_EXTENSION = re.compile(r"\.\w{1,10}$")
_ENTRY = re.compile(
    rf"(?:tasks?\s*)?#?(?P<id>{ID}|[A-Z])(?:\s*[:–—-]\s.*)?", re.IGNORECASE | re.DOTALL
)
_BETWEEN = re.compile(r"\s*(?:,|;|&|\+|\band\b)\s*", re.IGNORECASE)


def is_none(value: str) -> bool:
    """Return whether a value is empty: `[]`, `none`, `-`, `n/a`, or without a word."""
    return value.strip(" \t.,;:-–—…()[]{}*_`\"'").lower() in _NONE


def read_mode(value: str) -> TaskMode | None:
    """Return the mode, or None if the value is not exactly one of the three.

    A remark may follow.
    """
    match = _MODE.fullmatch(re.sub(r"[`*\"]", "", value).strip())
    return (
        TaskMode(re.sub(r"human[ _-]?gate", "human_gate", match["mode"].lower())) if match else None
    )


def read_paths(values: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the normalised paths, each once, and the values that are no paths."""
    paths: list[str] = []
    unread: list[str] = []
    for value in _items(values):
        found = [
            path for path in _paths(value) if not is_none(path) or path.strip("/") in {".", ".."}
        ]
        paths += [path for path in found if _path_like(path)]
        unread += [path for path in found if not _path_like(path)]
    return tuple(dict.fromkeys(map(_normal, paths))), tuple(unread)


def read_dependencies(values: Sequence[str]) -> tuple[tuple[TaskId, ...], tuple[str, ...]]:
    """Return the ids of tasks, each once, and the values that are no ids.

    Examples of the latter are `the schema` and `all of the above`.
    """
    ids: list[TaskId] = []
    unread: list[str] = []
    for value in values:
        text = re.sub(r"\([^)]*\)", "", value).strip(_MARKS)
        text = text.removeprefix("[").removesuffix("]")
        if is_none(text) or _STARTS_WITH_NONE.match(text):
            continue
        for piece in _BETWEEN.split(text):
            entry = piece.strip(_MARKS + ".")
            match = _ENTRY.fullmatch(entry)
            if match is not None:
                ids.append(TaskId(match["id"]))
            elif entry:
                unread.append(entry)
    return tuple(dict.fromkeys(ids)), tuple(unread)


def _items(values: Sequence[str]) -> Iterator[str]:
    """Yield the values, with each list in brackets split."""
    for value in values:
        inner = value.strip()
        if inner.startswith("[") and inner.endswith("]"):
            yield from inner[1:-1].split(",")
        else:
            yield inner


def _paths(value: str) -> list[str]:
    """Return the paths of one bullet, without remarks: separated by commas, else in backticks."""
    text = _REMARK.sub("", _ASIDE.sub("", _ACTION.sub("", _LINK.sub(r"\1", value.strip()))))
    between = [path for piece in text.split(",") for path in _quoted(piece) or [_bare(piece)]]
    return between if all(map(_path_like, between)) else _quoted(text) or [_bare(text)]


def _quoted(text: str) -> list[str]:
    return [path for path in re.findall(r"`([^`]+)`", text) if _path_like(path)]


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("**") and text.endswith("**"):
        text = text[2:-2]
    return text.strip(" \t`\"'").rstrip(",;")


def _path_like(path: str) -> bool:
    return bool(path) and (
        not re.search(r"\s", path) or (_EXTENSION.search(path) is not None and "/" in path)
    )


def _normal(path: str) -> str:
    path = re.sub(r"\\([_*`\[\]()])", r"\1", _PLACE.sub("", path))
    absolute = path.startswith(("/", "\\"))
    steps = normal_path(path if path.endswith("..") else path.rstrip("."))
    return f"/{steps}" if absolute else steps or "."
