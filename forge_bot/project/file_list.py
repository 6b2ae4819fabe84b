"""The files of a repository as a queryable list, the language of each, and readers of configuration
for which a value of an unexpected type is absent. No disk, no git, only its input.
"""

import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import cast

from forge_bot.text_format import names
from forge_bot.values import Frozen

# Folders with third-party or generated content; they do not show how this project works.
_FOREIGN = frozenset(
    names("""
        node_modules vendor third_party site-packages .venv venv dist build target .git .tox .nox
        """)
)
# Projects in these folders are samples, not meant to be built.
_SPECIMENS = re.compile(r"(?:.*[-_])?(?:fixtures|testdata|examples?|samples?|templates?)_*")
_DEEPEST_PROJECT = 3


class Listing:
    """Paths relative to the repository's root with `/` between folders, and a text reader."""

    def __init__(self, files: Sequence[str], read: Callable[[str], str | None]) -> None:
        self.files = tuple(sorted({path.removeprefix("./") for path in files if path}))
        self._known = frozenset(self.files)
        holders = {path.rpartition("/")[0] for path in self.files}
        self._folders = frozenset(place for folder in holders for place in above(f"{folder}/"))
        self._read = read
        self._texts: dict[str, str] = {}
        self._own: dict[str, tuple[str, ...]] = {}

    def has(self, path: str) -> bool:
        return path in self._known

    def has_folder(self, path: str) -> bool:
        return path in self._folders

    def first(self, folder: str, names: Sequence[str]) -> str | None:
        return next((path for name in names if self.has(path := join(folder, name))), None)

    def text(self, path: str | None) -> str:
        """Return the text of a listed file; empty when it is not listed or cannot be read."""
        if path is None or path not in self._known:
            return ""
        if path not in self._texts:
            self._texts[path] = (self._read(path) or "").removeprefix("\ufeff")
        return self._texts[path]

    def below(self, folder: str) -> tuple[str, ...]:
        """Return all files in a folder and its subfolders. The root is the empty string."""
        start = f"{folder}/" if folder else ""
        return tuple(path for path in self.files if path.startswith(start))

    def own(self, folder: str = "") -> tuple[str, ...]:
        """Return the files of `below` without third-party files and samples."""
        if folder not in self._own:
            start = len(folder) + 1 if folder else 0
            self._own[folder] = tuple(
                path
                for path in self.below(folder)
                if not any(map(_is_strange, path[start:].split("/")[:-1]))
            )
        return self._own[folder]

    def projects(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the topmost folders below the root with a file of one of these names, sorted.

        The root itself is never included.
        """
        parts = (path.rpartition("/") for path in self.own())
        holders = {folder for folder, _, name in parts if name in names}
        near = {folder for folder in holders if folder and folder.count("/") < _DEEPEST_PROJECT}
        return tuple(sorted(folder for folder in near if not near.intersection(above(folder))))


def _is_strange(folder: str) -> bool:
    return folder in _FOREIGN or bool(_SPECIMENS.fullmatch(folder))


def join(folder: str, name: str) -> str:
    """Return the path of a name in a folder; the root is the empty string."""
    return f"{folder}/{name}" if folder else name


def above(path: str) -> tuple[str, ...]:
    """Return all folders above a path, without the root."""
    return tuple(accumulate(path.split("/")[:-1], join))


_SHOWN = 6
_BY_ENDING = {
    "C": ".c .h",
    "C#": ".cs",
    "C++": ".cc .cpp .cxx .hh .hpp",
    "CSS": ".css .less .scss",
    "Clojure": ".clj .cljc .cljs",
    "Dart": ".dart",
    "Elixir": ".ex .exs",
    "Erlang": ".erl .hrl",
    "Go": ".go",
    "HTML": ".htm .html",
    "Haskell": ".hs",
    "Java": ".java",
    "JavaScript": ".cjs .js .jsx .mjs",
    "Julia": ".jl",
    "Kotlin": ".kt .kts",
    "Lua": ".lua",
    "Nix": ".nix",
    "OCaml": ".ml .mli",
    "Objective-C": ".m .mm",
    "PHP": ".php",
    "Perl": ".pl .pm",
    "Python": ".py .pyi .pyx",
    "R": ".r",
    "Ruby": ".rake .rb",
    "Rust": ".rs",
    "SQL": ".sql",
    "Scala": ".sbt .scala",
    "Shell": ".bash .fish .sh .zsh",
    "Svelte": ".svelte",
    "Swift": ".swift",
    "Terraform": ".tf",
    "TypeScript": ".cts .mts .ts .tsx",
    "Vue": ".vue",
    "Zig": ".zig",
}
_LANGUAGES = {ending: name for name, endings in _BY_ENDING.items() for ending in endings.split()}
_GENERATED = (".min.js", ".min.css", "_pb2.py", ".pb.go", ".d.ts")


class Language(Frozen):
    """A language and its share of the files whose language is known."""

    name: str
    percent: int


def language_of(path: str) -> str:
    """Return the language of a file; empty when its ending does not determine one."""
    name = path.rpartition("/")[2].lower()
    start, _, ending = name.rpartition(".")
    # A dot at the beginning of a name begins no ending.
    known = _LANGUAGES.get(f".{ending}", "") if start.strip(".") else ""
    return "" if known and name.endswith(_GENERATED) else known


def read_languages(files: Iterable[str]) -> tuple[Language, ...]:
    """Return the most used languages, largest share first.

    Shares are whole percents, rounded down; those below one percent are left out.
    """
    counts = Counter(map(language_of, files))
    del counts[""]
    total = counts.total()
    ranked = sorted(counts, key=lambda name: (-counts[name], name))[:_SHOWN]
    shares = {name: counts[name] * 100 // total for name in ranked}
    return tuple(Language(name=name, percent=share) for name, share in shares.items() if share)


def toml(text: str) -> Mapping[str, object]:
    """Return the table in a TOML text; empty when it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def json_object(text: str) -> Mapping[str, object]:
    """Return the object in a JSON text; empty when it is none."""
    try:
        return table(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def ini(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI text; empty when it is none."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {
        name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()
    }


def table(value: object, *path: str) -> Mapping[str, object]:
    """Return the table at the end of a path of keys; empty when something on the way is none."""
    for key in path:
        value = table(value).get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> tuple[object, ...]:
    """Return the elements of a list; none when it is no list."""
    return tuple(cast("list[object]", value)) if isinstance(value, list) else ()


def strings(value: object) -> tuple[str, ...]:
    """Return the strings in a list; a single string counts as a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in items(value) if isinstance(item, str))


def string(value: object) -> str:
    """Return the value when it is a string, else an empty string."""
    return value if isinstance(value, str) else ""
