"""tsconfig.json and jsconfig.json: the paths under which a project imports itself."""

import re
from collections.abc import Mapping, Sequence
from posixpath import dirname, normpath
from typing import NamedTuple

from forge_bot.project.file_list import Listing, above, join
from forge_bot.project.graph.stacks.package_exports import matched
from forge_bot.project.lenient_config import items, json_object, string, strings, table

_NAMES = ("tsconfig.json", "jsconfig.json")
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"?)|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*"?)|,(?=\s*[}\]])')
_DEEPEST = 8


class _Paths(NamedTuple):
    """`paths` with their base folder, and `baseUrl`; None for a missing setting."""

    patterns: Mapping[str, Sequence[str]]
    start: str
    base: str | None


_NONE = _Paths({}, "", None)


class TypeScriptConfigs:
    """The configurations of a repository, each read once."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._by_folder: dict[str, _Paths] = {}
        self._by_file: dict[str, _Paths] = {}

    def candidates(self, folder: str, name: str) -> tuple[tuple[str, ...], bool]:
        """Return the paths to try for a name, and whether the name can only be the project's."""
        found = self._for(folder)
        fitting = [
            (pattern, rest)
            for pattern in found.patterns
            if (rest := matched(pattern, name)) is not None
        ]
        fitting.sort(key=lambda each: -len(each[0].partition("*")[0]))
        # The longest fitting pattern counts, as TypeScript has it.
        wished = [
            normpath(join(found.start, target.replace("*", rest)))
            for pattern, rest in fitting[:1]
            for target in found.patterns[pattern]
        ]
        if found.base is not None:
            wished.append(normpath(join(found.base, name)))
        own = bool(fitting) and fitting[0][0] != "*"
        return tuple(path for path in wished if not path.startswith("..")), own

    def _for(self, folder: str) -> _Paths:
        if folder not in self._by_folder:
            self._by_folder[folder] = self._nearest(folder)
        return self._by_folder[folder]

    def _nearest(self, folder: str) -> _Paths:
        for place in (*reversed(above(folder + "/x")), ""):
            file = self._listing.first(place, _NAMES)
            if file:
                return self._read(file)
        return _NONE

    def _read(self, file: str, depth: int = 0) -> _Paths:
        """Return the paths of a file: its own, else those it extends, else those it refers to."""
        if file not in self._by_file:
            self._by_file[file] = _NONE
            self._by_file[file] = self._read_anew(file, depth)
        return self._by_file[file]

    def _read_anew(self, file: str, depth: int) -> _Paths:
        config = json_object(plain_json(self._listing.text(file)))
        options = table(config.get("compilerOptions"))
        folder = dirname(file)
        base = string(options.get("baseUrl"))
        base_folder = normpath(join(folder, base)) if base else None
        base_folder = "" if base_folder == "." else base_folder
        patterns = {
            pattern: strings(targets) for pattern, targets in table(options, "paths").items()
        }
        own = _Paths(patterns, folder if base_folder is None else base_folder, base_folder)
        if depth > _DEEPEST:
            return own
        for other in reversed(strings(config.get("extends"))):
            if parent := _named(self._listing, folder, other):
                own = _merged(own, self._read(parent, depth + 1))
        if not own.patterns and own.base is None:
            for reference in items(config.get("references")):
                path = string(table(reference).get("path"))
                found = (
                    self._read(other, depth + 1)
                    if (other := _named(self._listing, folder, path))
                    else own
                )
                if found.patterns or found.base is not None:
                    return found
        return own


def _named(listing: Listing, folder: str, name: str) -> str | None:
    """Return the file that `extends` or a reference names, if it lies in the repository."""
    if not name.startswith("."):
        return None
    path = normpath(join(folder, name)).removeprefix("./")
    forms = (path, f"{path}.json", join("" if path == "." else path, "tsconfig.json"))
    return next((form for form in forms if listing.has(form)), None)


def _merged(own: _Paths, parent: _Paths) -> _Paths:
    base = parent.base if own.base is None else own.base
    if own.patterns:
        return own._replace(
            base=base, start=own.start if own.base is not None else base or own.start
        )
    return _Paths(parent.patterns, parent.start, base)


def plain_json(text: str) -> str:
    """Return JSON without the comments and last commas that a tsconfig may have. Lines stay."""
    without = _COMMENT.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)
    return _COMMA.sub(lambda found: found[1] or "", without)
