"""Paths that a request names and wants worked on, read off its words: a sign, not a proof."""

import re
from collections.abc import Collection

_FENCED = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"^\s{0,3}>.*$", re.MULTILINE)
_ADDRESS = re.compile(r"\b\w+://\S+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_SPARED = re.compile(
    r"\b(?:not|never|without|except|leave|leaving|keep|keeping|instead of|rather than)\b|n['’]t\b",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([^`\s]+)`")
_BARE = re.compile(r"(?<![\w/.@+*-])(?:\./)?((?:[\w.@+*-]+/)+[\w.@+*-]*|\.?[\w@+-]+(?:\.[\w-]+)+)")
_PATH = re.compile(r"[\w.@+*-]+(?:/[\w.@+*-]+)*")
_FILE = re.compile(r"(?:[\w.@+*-]+/)+[\w@+*.-]*[\w*]\.[A-Za-z]\w{0,7}")


def named_paths(text: str) -> tuple[str, ...]:
    """Return the words of a request that look like paths, in its order, from the root and without a
    slash at the end.

    Left out are fenced code and quotations, which are material and no orders; web addresses; and
    paths that a sentence names in order to spare them (`do not touch x/y.py`).
    """
    prose = _ADDRESS.sub(" ", _QUOTED.sub(" ", _FENCED.sub(" ", text)))
    wanted = [
        sentence for sentence in _SENTENCE.split(prose) if sentence and not _SPARED.search(sentence)
    ]
    found = (
        match
        for sentence in wanted
        for match in (*_TICKED.findall(sentence), *_BARE.findall(sentence))
    )
    return tuple(dict.fromkeys(path for match in found if (path := _clean(match))))


def named_files(paths: Collection[str], files: Collection[str]) -> tuple[str, ...]:
    """Those of the paths that are files: tracked ones, and new ones with a folder and an ending."""
    return tuple(path for path in paths if path in files or _FILE.fullmatch(path))


def below(paths: Collection[str], folder: str) -> tuple[str, ...]:
    """Those of the paths that are a folder or lie in it."""
    return tuple(path for path in paths if path == folder or path.startswith(f"{folder}/"))


def _clean(match: str) -> str:
    path = match.removeprefix("./").rstrip("/.,:;")
    return path if _PATH.fullmatch(path) else ""
