"""Workflows and pipelines: their jobs, phases or steps."""

import re
from collections.abc import Iterator

from forge_bot.project.file_list import items, table
from forge_bot.project.graph.stacks.stack import Stack
from forge_bot.project.graph.syntax import FileFacts, SymbolFact, unreadable

_PIPELINE = re.compile(r"(?:^|/)(?:\.github/workflows|pipelines)/[^/]+\.ya?ml$")
_Place = tuple[int | str, ...]
_NAME_KEYS = ("id", "step", "name")


def is_pipeline(path: str) -> bool:
    """Return whether a file holds a workflow or a pipeline."""
    return bool(_PIPELINE.search(path))


def _read(path: str, data: bytes) -> FileFacts:
    if (trouble := unreadable(data)) is not None:
        return trouble
    import yaml

    from forge_bot.settings.yaml_file import read_contents

    del path
    text = data.decode("utf-8", "replace")
    try:
        content = read_contents(text)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "it"
        return FileFacts(problem=f"{where} cannot be parsed as YAML")
    lines = text.splitlines()
    return FileFacts(
        symbols=tuple(
            SymbolFact(name, "phase", at, at, lines[at - 1].strip()[:160])
            for name, place in _find_phases(content.value)
            for at in (content.lines.get(place, 1),)
        )
    )


def _find_phases(content: object) -> Iterator[tuple[str, _Place]]:
    """Yield the jobs of a workflow, or the phases or steps of a pipeline, with their places."""
    for name in table(table(content).get("jobs")):
        yield str(name), ("jobs", str(name))
    for key in ("phases", "steps"):
        for number, phase in enumerate(items(table(content).get(key))):
            named = (table(phase).get(name_key) for name_key in _NAME_KEYS)
            name = next(filter(None, named), None)
            if isinstance(name, str | int):
                yield str(name), (key, number)


PIPELINES = Stack(
    name="Pipelines",
    endings=(),
    read=_read,
    resolver=None,
    promise="jobs and phases of workflows and pipelines",
)
