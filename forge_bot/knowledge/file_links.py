"""Find the files of a repository that belong together, by their imports and their names."""

import re
from collections.abc import Mapping, Sequence
from posixpath import basename, dirname, splitext

_CHARACTERS = 20_000
_ENDING = re.compile(r"\.(?:[cm]?[jt]sx?|h|hh|hpp)$")
_TEST_AFFIX = re.compile(r"^test_|[_.](?:test|spec)$")
_IMPORT = re.compile(
    r"""^[^\S\n]*(?:from\s+([\w.]+)\s+import|import\s+([\w.]+)|use\s+([\w:]+)|\#include\s+"([^"]+)"
    |.*?\b(?:require|import)\s*\(?\s*['"]([^'"]+)['"]|.*?\bfrom\s+['"]([^'"]+)['"])""",
    re.VERBOSE | re.MULTILINE,
)


def file_links(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the files that each file imports, and those that its name pairs it with."""
    stems: dict[str, list[str]] = {}
    for path in texts:
        stems.setdefault(stem(path), []).append(path)
    return {path: _linked(path, text, stems) for path, text in texts.items()}


def stem(path: str) -> str:
    """Return the name by which a file is imported."""
    name = splitext(basename(path))[0]
    return basename(dirname(path)) if name in {"__init__", "index", "mod"} else name


def tested_stem(path: str) -> str:
    """Return the name of a file without what makes it one of tests."""
    return _TEST_AFFIX.sub("", stem(path))


def _linked(path: str, text: str, stems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the files that this one imports, and those that belong to it by name."""
    modules = {
        # What is quoted is a file: its ending is none of its name.
        re.split(r"[./:]+", next(filter(None, (*parts[:3], *map(_plain, parts[3:])))))[-1]
        for parts in _IMPORT.findall(text[:_CHARACTERS])
        if any(parts)
    }
    own = stem(path)
    modules |= {tested_stem(path), f"test_{own}", f"{own}_test", f"{own}.test"} - {own}
    linked = {name for module in modules for name in stems.get(module, ()) if name != path}
    return tuple(sorted(linked))


def _plain(quoted: str) -> str:
    return _ENDING.sub("", quoted)
