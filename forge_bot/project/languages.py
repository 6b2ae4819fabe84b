"""Detect the languages of a repository from its files."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from forge_bot.values import Frozen

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


@lru_cache(maxsize=1 << 16)
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
