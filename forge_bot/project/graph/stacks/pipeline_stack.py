"""Workflows and pipelines: their phases, and the files of the repository that they name."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from posixpath import dirname, normpath

from forge_bot.project.file_list import Listing, items, join, string, table
from forge_bot.project.graph.stacks.stack import Resolution, Resolve, Stack
from forge_bot.project.graph.syntax import FileFacts, ImportLine, SymbolFact, unreadable

_PIPELINE = re.compile(r"(?:^|/)(?:\.github/workflows|pipelines)/[^/]+\.ya?ml$")
Place = tuple[int | str, ...]
_PATH = re.compile(r"(?<![\w.@-])[\w.@-]*(?:/[\w.@-]+)+|(?<![\w-])[\w-]+\.[A-Za-z]\w{0,4}\b")
_NAME_KEYS = ("id", "step", "name")
_MOST = 2_000
"""The most words that are read in one phase: with aliases a small file can be endless."""


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
        return _facts(content.value, content.lines, text.splitlines())
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "it"
        return FileFacts(problem=f"{where} cannot be parsed as YAML")


def _facts(content: object, places: Mapping[Place, int], text: list[str]) -> FileFacts:
    symbols: list[SymbolFact] = []
    read: list[ImportLine] = []
    for name, place, phase in _find_jobs(content):
        at = places.get(place, 1)
        symbols.append(SymbolFact(name, "phase", at, at, text[at - 1].strip()[:160]))
        words = dict.fromkeys(islice(_words(phase), _MOST))
        read.extend(ImportLine(word, _line_of(text, word, at)) for word in words)
    return FileFacts(tuple(read), tuple(symbols))


def _find_jobs(content: object) -> Iterator[tuple[str, Place, object]]:
    """Yield the jobs of a workflow, or the phases or steps of a pipeline, with their places."""
    for name, job in table(table(content).get("jobs")).items():
        yield str(name), ("jobs", str(name)), job
    for key in ("phases", "steps"):
        for number, phase in enumerate(items(table(content).get(key))):
            name = next(
                (value for name_key in _NAME_KEYS if (value := table(phase).get(name_key))), None
            )
            if isinstance(name, str | int):
                yield str(name), (key, number), phase


def _words(value: object) -> Iterator[str]:
    """Yield what may be the path of a file; the name of an agent stands for its prompt."""
    for key, inner in table(value).items():
        if key == "agent" and (agent := string(inner)):
            yield f"../prompts/{agent}.md.j2"
        yield from _words(inner)
    for inner in items(value):
        yield from _words(inner)
    yield from (path[0].removesuffix(".") for path in _PATH.finditer(string(value)))


def _line_of(text: list[str], word: str, start: int) -> int:
    """Return the first line from a phase's own on that has a word."""
    plain = word.removeprefix("../prompts/").removesuffix(".md.j2")
    return next((at for at, line in enumerate(text[start - 1 :], start) if plain in line), start)


def _resolver(listing: Listing) -> Resolve:
    def resolve(importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        folder = dirname(importer)
        for path in (line.module, join(folder, line.module)):
            plain = normpath(path).removeprefix("./")
            if listing.has(plain):
                return (Resolution((plain,)),)
            if listing.has(f"{plain}/action.yml"):
                return (Resolution((f"{plain}/action.yml",)),)
        return ()

    return resolve


PIPELINES = Stack(
    name="Pipelines",
    endings=(),
    read=_read,
    resolver=_resolver,
    promise="jobs and phases of workflows and pipelines, and the files they name",
)
