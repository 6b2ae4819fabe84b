"""tsconfig.json and jsconfig.json: the paths under which a project imports itself."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from posixpath import dirname, normpath

from forge_bot.project.file_list import Listing, above, join
from forge_bot.project.lenient_config import json_object, string, strings, table

_NAMES = ("tsconfig.json", "jsconfig.json")
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"?)|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*"?)|,(?=\s*[}\]])')


class TypeScriptPaths:
    """The `paths` and the `baseUrl` that count in each folder of a repository."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._for = cache(self._read_paths)

    def candidates(self, folder: str, name: str) -> tuple[tuple[str, ...], bool]:
        """Return the paths to try for a name, and whether the name can only be the project's."""
        patterns, start, base = self._for(folder)
        fitting = [pattern for pattern in patterns if _matched(pattern, name) is not None]
        # The longest fitting pattern counts, as TypeScript has it.
        best = max(fitting, key=lambda pattern: len(pattern.partition("*")[0]), default="")
        rest = _matched(best, name) or ""
        paths = [join(start, to.replace("*", rest)) for to in patterns.get(best, ())]
        paths += [] if base is None else [join(base, name)]
        inside = (path for path in map(normpath, paths) if not path.startswith(".."))
        return tuple(inside), best not in {"", "*"}

    def _read_paths(self, folder: str) -> tuple[Mapping[str, tuple[str, ...]], str, str | None]:
        """Return the patterns with the folder that they begin in, and the base folder."""
        places = (*reversed(above(f"{folder}/x")), "")
        files = (self._listing.first(place, _NAMES) for place in places)
        patterns: Mapping[str, tuple[str, ...]] = {}
        start, base = "", None
        for place, options in self._configs(next(filter(None, files), None)):
            url = string(options.get("baseUrl"))
            if base is None and url:
                base = "" if (path := normpath(join(place, url))) == "." else path
            if not patterns and (declared := table(options, "paths")):
                patterns = {name: strings(targets) for name, targets in declared.items()}
                start = place
        return patterns, start if base is None else base, base

    def _configs(self, first: str | None) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield the options of a file, then of those that it extends."""
        files = [first] if first else []
        for file in files:
            config = json_object(_plain_json(self._listing.text(file)))
            yield dirname(file), table(config, "compilerOptions")
            names = reversed(strings(config.get("extends")))
            others = (self._find_named_config(dirname(file), name) for name in names)
            files += [other for other in dict.fromkeys(others) if other and other not in files]

    def _find_named_config(self, folder: str, name: str) -> str | None:
        """Return the file that `extends` names, if it lies in the repository."""
        if not name.startswith("."):
            return None
        path = normpath(join(folder, name))
        forms = (path, f"{path}.json")
        return next(filter(self._listing.has, forms), None)


def _matched(pattern: str, name: str) -> str | None:
    """Return the part of a name that stands for the `*` of a pattern; None if it does not fit."""
    start, star, end = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    fits = name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
    return name[len(start) : len(name) - len(end)] if fits else None


def _plain_json(text: str) -> str:
    """Return JSON without the comments and last commas that a tsconfig may have."""
    without = _COMMENT.sub(lambda match: match[1] or " ", text)
    return _COMMA.sub(lambda match: match[1] or "", without)
