"""Rank the files of a repository for a task: by words, imports, and what changed together."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from posixpath import basename, splitext

from forge_bot.knowledge.code_blocks import (
    SHORTEST_PART,
    CodeBlock,
    code_blocks,
    is_inside,
    letters,
)
from forge_bot.knowledge.mentions import as_searched
from forge_bot.knowledge.search_index import Ranking
from forge_bot.project.search_words import words

_PATH_WEIGHT = 4
_SYMBOL_WEIGHT = 2
_CHARACTERS = 20_000
_ASIDE = 0.7
_BESIDE_CODE = re.compile(
    r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?|changes|changelog\.d)/|(?:^|/)test_|_test\.\w+$"
    r"|(?:^|[/_])tests?\.rs$|\.(?:md|rst|txt|adoc)$",
    re.IGNORECASE,
)
_ENDING = re.compile(r"\.(?:[cm]?[jt]sx?|h|hh|hpp)$")
_PROSE = re.compile(r"(?:^|/)(?:docs?/|doc\.go$)|\.(?:md|rst|txt|adoc|ya?ml|toml)$", re.IGNORECASE)
_FIRST = 40
_NEIGHBOURS = 4
_LINKED = 0.15
_TOGETHER = 0.25
_WORD = re.compile(r"[A-Za-z]+(?=[\s\W])")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""A word of a text, and a word of a name."""

_WORDS_OF_A_NAME = 4
"""The most words of a name that a text says in words."""

_IMPORT = re.compile(
    r"""^[^\S\n]*(?:from\s+([\w.]+)\s+import|import\s+([\w.]+)|use\s+([\w:]+)|\#include\s+"([^"]+)"
    |.*?\b(?:require|import)\s*\(?\s*['"]([^'"]+)['"]|.*?\bfrom\s+['"]([^'"]+)['"])""",
    re.VERBOSE | re.MULTILINE,
)


class LikelyFiles:
    """The text files of a commit, ready to be ranked.

    `together` maps a file to those that earlier commits changed with it, and how often; `links`
    maps it to those that its text imports or its name pairs it with.
    """

    def __init__(
        self, texts: Mapping[str, str], together: Mapping[str, Mapping[str, int]] | None = None
    ) -> None:
        self._paths = tuple(texts)
        self._together = together or {}
        blocks = {path: code_blocks(text.split("\n")) for path, text in texts.items()}
        self._ranking = Ranking(
            [_document(path, text, blocks[path]) for path, text in texts.items()]
        )
        self._places: dict[str, list[tuple[str, CodeBlock]]] = {}
        for path, found in blocks.items():
            for block, after in zip_longest(found, found[1:]):
                if after is None or not _is_overload(path, block, after):
                    self._places.setdefault(block.name, []).append((path, block))
        self.links = file_links(texts)

    def definitions(self, name: str) -> list[tuple[str, int]]:
        """Return the files and lines that define a name; of `Class.method`, the method there.

        The title of a test defines nothing, though it may be the key that the test is about.
        """
        if "-" in name.replace("->", "") or " " in name:
            return []
        parts = [part for part in re.split(r"\.|::|->|#", name) if part]
        hits = self._places.get(parts[-1], []) if parts else []
        owners = self._places.get(parts[-2], []) if len(parts) > 1 else []
        inner = [
            (path, block)
            for path, block in hits
            if (len(parts) > 1 and block.of == parts[-2])
            or any(path == other and is_inside(block, owner) for other, owner in owners)
        ]
        own = [(path, block) for path, block in hits if not block.extends]
        return [(path, block.at) for path, block in inner or own or hits]

    def said_in_words(self, text: str) -> tuple[str, ...]:
        """Return the names of code that a text says in words of its own, in the order of the text:
        `FloatConverter` where it speaks of a float converter. The longest counts.
        """
        said = [run.casefold() for run in _WORD.findall(text)]
        names: dict[str, list[str]] = {}
        for name, places in self._places.items():
            beside = any(is_beside_code(path) for path, _ in places)
            if len(_HUMP.findall(name)) > 1 and len(places) == 1 and not beside:
                names.setdefault(letters(name), []).append(name)
        found: list[str] = []
        at = 0
        while at < len(said):
            many = range(min(_WORDS_OF_A_NAME, len(said) - at), 1, -1)
            parts = {"".join(said[at : at + count]): count for count in many}
            meant = next((part for part in parts if len(names.get(part, ())) == 1), "")
            found += names.get(meant, ())
            at += parts.get(meant, 1)
        return tuple(found)

    def types_said(self, text: str, path: str) -> tuple[str, ...]:
        """Return the types that a file alone defines and a text says in one plain word: `Schema`
        in the file that is most likely meant, where it speaks of a schema.
        """
        said = dict.fromkeys(words(text))
        own: dict[str, str] = {}
        for name, places in self._places.items():
            code = [place for place in places if not is_beside_code(place[0])]
            if name[:1].isupper() and not name.isupper() and len(code) == 1:
                ((at, block),) = code
                if at == path and not (block.depth or block.of):
                    own[name.casefold()] = name
        return tuple(own[word] for word in said if word in own)

    def named_alike(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return how many definitions of each file have one of some names in theirs."""
        parts = dict.fromkeys(map(letters, map(as_searched, names)))
        long = [part for part in parts if len(part) >= SHORTEST_PART]
        found: Counter[str] = Counter()
        for name, places in self._places.items():
            if any(part in letters(name) for part in long):
                found.update(path for path, _ in places)
        return found

    def best(self, about: Sequence[str], limit: int) -> tuple[str, ...]:
        """Return the most likely files for these words, best first."""
        found = self._ranking.best(about, _FIRST)
        if not found:
            return ()
        top = found[0][1]
        scores = {
            path: score / top * _share(path)
            for path, score in ((self._paths[place], score) for place, score in found)
        }
        leaders = sorted(scores, key=lambda path: (-round(scores[path], 6), path))[:_NEIGHBOURS]
        for leader in leaders:
            for path in self.links[leader]:
                scores[path] = scores.get(path, 0.0) + _LINKED * scores[leader]
            changed = self._together.get(leader, {})
            most = max(changed.values(), default=1)
            for path, times in changed.items():
                if path in self.links:
                    scores[path] = scores.get(path, 0.0) + _TOGETHER * times / most
        ranked = sorted(scores, key=lambda path: (-round(scores[path], 6), path))
        return tuple(ranked[:limit])


def _is_overload(path: str, block: CodeBlock, after: CodeBlock) -> bool:
    """Return whether a definition of Python is only one form of the next, which has its name."""
    same = (block.name, block.depth) == (after.name, after.depth)
    return same and path.endswith((".py", ".pyi"))


def file_links(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the files that each file imports, and those that its name pairs it with."""
    stems: dict[str, list[str]] = {}
    for path in texts:
        stems.setdefault(_stem(path), []).append(path)
    return {path: _linked(path, text, stems) for path, text in texts.items()}


def _document(path: str, text: str, blocks: Sequence[CodeBlock]) -> list[str]:
    symbols = " ".join(block.name for block in blocks)
    own = words(text[:_CHARACTERS])
    return [*words(path) * _PATH_WEIGHT, *words(symbols) * _SYMBOL_WEIGHT, *own]


def is_prose(path: str) -> bool:
    """Return whether a file is documentation by its place or ending, and no code or test."""
    return bool(_PROSE.search(path))


def is_beside_code(path: str) -> bool:
    """Return whether a file only goes with the code: tests, examples, benchmarks and pages."""
    return bool(_BESIDE_CODE.search(path))


def _share(path: str) -> float:
    """Return the weight of a file: tests and texts share words with every task."""
    return _ASIDE if is_beside_code(path) else 1.0


def _stem(path: str) -> str:
    name = splitext(basename(path))[0]
    return basename(path.rpartition("/")[0]) if name in {"__init__", "index", "mod"} else name


def _without_ending(quoted: str) -> str:
    return _ENDING.sub("", quoted)


def _linked(path: str, text: str, stems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the files that this one imports, and those that belong to it by name."""
    modules = {
        # What is quoted is a file: its ending is none of its name.
        re.split(r"[./:]+", next(filter(None, (*parts[:3], *map(_without_ending, parts[3:])))))[-1]
        for parts in _IMPORT.findall(text[:_CHARACTERS])
        if any(parts)
    }
    own = _stem(path)
    plain = own.removeprefix("test_").removesuffix("_test").removesuffix(".test")
    modules |= {plain, f"test_{own}", f"{own}_test", f"{own}.test"} - {own}
    found = {name for module in modules for name in stems.get(module, ()) if name != path}
    return tuple(sorted(found))
