"""Read off a text which files, lines and names it speaks of. No disk, only its input."""

import re
import sys
from collections.abc import Iterator, Sequence
from keyword import kwlist
from posixpath import normpath
from typing import NamedTuple

_NO_CHANGE = (
    r"(?:need(?:s|ed)?(?: not|n['’]t)(?: be)? chang|not (?:be )?(?:affected|touched|changed)"
    r"|unaffected|unchanged|out of scope|no changes? (?:is |are )?needed)\w*"
)
_SPARED_HEADING = re.compile(rf"^#{{1,6}} .*\b{_NO_CHANGE}", re.IGNORECASE)
_SPARED_LINE = re.compile(
    rf"[`,;:(]\W*+(?:it |is |are |(?:but|and|or) |read |searched )*{_NO_CHANGE}\W*(?:$|;)",
    re.IGNORECASE,
)
"""Words by which a heading or a line says that what it names does not change. That callers of a
changed file need not change says nothing of that file."""

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_LEADS = re.compile(r"^\s*[-*+]\s+(?:\[[ xX]\]\s+)?\**`([^`\n]{1,200})`", re.MULTILINE)
_PATH = re.compile(r"((?:\.{0,2}/)?[\w.@+-]+(?:/[\w.@+-]+)*)(?:(?:::|:|#L)([\w.:\[\]-]+))?")
_BARE_PATH = re.compile(r"(?<![\w/.@+`:-])((?:[\w.@+-]+/)+[\w.@+-]*\w)(?!\w*://)(?::(\d+))?")
_FRAME = re.compile(
    r"File \"([^\"\n]+)\", line (\d+)(?:, in (\w+))?|(?<![\w/])([\w@+-]+\.\w+):(\d+)"
)
_NUMBERS = re.compile(
    r"(?:\blines?\s+(?=\d)|(?:\(|\bat |, |\band |: )(?=\d\d))"
    r"(\d{1,7})(?:\s*[-–]\s*(\d{1,7}))?(?=[),;.]|\s*$| \(| and\b| say)"
)
"""The number of a line, or a range of them, behind the path of a file."""

_FILE = re.compile(r"\w\.[A-Za-z]\w{0,9}$|^\.\w|/\w+$")
_ATTRIBUTE = re.compile(r"@?\w+(?:\.\w+)*\.[A-Za-z_]\w{5,}")
"""A name like that of an attribute: few endings of files have six letters and more."""

_NAME = re.compile(r"[@*&]{0,2}([A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*)!?\s*(?:\(.*\))?")
_TYPED = re.compile(r"\(\*?(\w+)\)(?=\.\w)|::<[^<>]*(?:<[^<>]*>)?[^<>]*>")
"""What stands around a name in Go's `(*T).Method`, and in Rust's `parse::<T>`."""

_OPTION = re.compile(r"(?:(--\w+)|-{0,2}([A-Za-z]\w*(?:-\w+)+))(?:[ =:].*)?")
"""An option of a command, or a key with hyphens, such as `--id -5` and `short-option-groups`."""

_TITLE = re.compile(r"[“„]((?:[^\s“”„]+ ){2,}[^\s“”„]+)[”“]")
"""The title of a test: three words and more in typographic quotes."""

_LIKE_CODE = re.compile(
    r"(?<![A-Za-z_])(?<!\w\.)[A-Za-z_][\w.]*(?=\((?!s\)))|\b[A-Za-z_]\w*(?==[^=\s])"
    r"|\b[A-Za-z]\w*_\w+|\b[A-Z]+[a-z0-9]+[A-Z]\w*|\b[a-z]+[A-Z]\w*|(?<!\S)--[a-z][\w-]*\w"
)
_ADDRESS = re.compile(r"\w+://\S+|[\w.-]+@[\w.-]+")
_NO_NAMES = frozenset({*kwlist, "self", "true", "false", "null", "catch", "throw"})
_PARTS = re.compile(r".{1,300}(?:\s|$)|.{1,300}")
"""The parts in which a long line is read: broken between words if it has any."""
_SHORTEST_NAME = 3
_MOST_INSIDE = 6

_ONLY_HANDS_ON = (
    r"^\s*(?:(?:from|import|use|pub use|require)\b.*|[\"']?{0}[\"']?,?|{0}\s*[:=]\s*{0},?)\s*$"
)
"""A line that only hands a name on: an import, an entry of a list, a parameter."""


class Place(NamedTuple):
    """A file that a text names, with the lines that it cites of it."""

    path: str
    lines: tuple[tuple[int, int], ...] = ()


class Mentions(NamedTuple):
    """The files and the names of a text, in its order. `read` are the lines that it cites of files
    that need not change.
    """

    places: tuple[Place, ...] = ()
    names: tuple[str, ...] = ()
    read: tuple[Place, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(place.path for place in self.places)


def mentions(text: str) -> Mentions:
    """Return the files and names in a Markdown text: in backticks, paths with a folder and places
    of tracebacks anywhere. A section or line is left out if it says that nothing need change there.
    """
    counting: dict[str, list[tuple[int, int]]] = {}
    spared: dict[str, list[tuple[int, int]]] = {}
    names: dict[str, None] = {}
    below_spared = False
    for line, _ in _lines(text):
        if line.startswith("#"):
            below_spared = bool(_SPARED_HEADING.match(line)) or (
                below_spared and line.startswith("###")
            )
        is_spared = below_spared or _SPARED_LINE.search(line) is not None
        for path, *span in _places(line):
            cited = (spared if is_spared else counting).setdefault(path, [])
            cited += [(span[0], span[1])] if span[0] else []
        if not is_spared:
            names.update(dict.fromkeys(_names(line)))
    return Mentions(
        tuple(
            Place(path, tuple(dict.fromkeys(at)))
            for path, at in counting.items()
            if path not in spared
        ),
        tuple(names),
        tuple(Place(path, tuple(at)) for path, at in spared.items() if at),
    )


def leading_paths(text: str) -> tuple[str, ...]:
    """Return the paths with which the bullets of a text begin, in backticks."""
    return tuple(path[1] for begun in _LEADS.findall(text) if (path := _PATH.fullmatch(begun)))


def request_names(title: str, text: str) -> tuple[str, ...]:
    """Return the names of a request: of its title first, in backticks or only written like code.

    Names in examples of code count where nothing else is named: an example is full of others.
    """
    prose = [title, *(line for line, fenced in _lines(text) if not fenced)]
    code = [line for line, fenced in _lines(text) if fenced]
    named = [*_like_code([title]), *(name for line in prose for name in _names(line))]
    named += _like_code(prose)
    known = (name for name in named or _like_code(code) if not name.startswith("__"))
    return tuple(dict.fromkeys(known))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark:
            fence = ("" if mark[1].startswith(fence) else fence) if fence else mark[1][:3]
        for part in _PARTS.findall(line) or [""]:
            yield part, bool(fence)


def _like_code(lines: Sequence[str]) -> list[str]:
    plain = (_TYPED.sub(r"\1", _ADDRESS.sub(" ", _TICKED.sub(" ", line))) for line in lines)
    return [name for line in plain for name in _LIKE_CODE.findall(line) if _may_be_a_name(name)]


def last_part(name: str) -> str:
    """Return the last part of a dotted name; what is no such name, such as an option, whole."""
    return name if "-" in name or " " in name else re.split(r"\W+", name)[-1]


def as_searched(name: str) -> str:
    """Return the words by which a name is searched: of a dotted name the last part, but all of one
    of Python's standard library, such as `pickle.dumps`: its last part alone means others too.
    """
    return name if name.partition(".")[0] in sys.stdlib_module_names else last_part(name)


def only_hands_on(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    quoted = re.escape(name)
    return re.compile(rf"(?<!\w){quoted}(?!\w)"), re.compile(_ONLY_HANDS_ON.format(quoted))


def resolve(written: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a written path means: the file itself, or those that end with it.

    A path from another machine, as tracebacks have it, means the file that shares its end.
    """
    path = normpath(written).removeprefix("./").lstrip("/")
    if path in files:
        return (path,)
    ending = tuple(name for name in files if name.endswith(f"/{path}"))
    if ending or "/" not in path:
        return ending
    shared = tuple(name for name in files if path.endswith(f"/{name}"))
    return shared or resolve(path.partition("/")[2], files)


def _places(line: str) -> Iterator[tuple[str, int, int]]:
    for match in _FRAME.finditer(line):
        path, number = match[1] or match[4], int(match[2] or match[5])
        yield path, number, number
    rest = _FRAME.sub(" ", line)
    paths = [(match.start(), match.end(), match[1]) for match in _TICKED.finditer(rest)]
    paths += [(m.start(), m.end(), m[0]) for m in _BARE_PATH.finditer(_TICKED.sub(_blank, rest))]
    paths = [place for place in sorted(paths) if _path_of(place[2])]
    for (_, end, written), after in zip(paths, [*paths[1:], None], strict=False):
        path, inside = _path_of(written) or ("", "")
        span = re.fullmatch(r"(\d{1,7})(?:-L?(\d{1,7}))?", inside)
        yield path, int(span[1]) if span else 0, int(span[2] or span[1]) if span else 0
        for first, last in _NUMBERS.findall(_TICKED.sub("`", rest[end : after and after[0]])):
            yield path, int(first), int(last or first)


def _blank(match: "re.Match[str]") -> str:
    return " " * len(match[0])


def _path_of(written: str) -> tuple[str, str] | None:
    """Return the path that is written and what follows its colon; None if it looks like no file."""
    match = _PATH.fullmatch(written.strip())
    if match is None or not _FILE.search(match[1]) or _ATTRIBUTE.fullmatch(match[1]):
        return None
    return match[1], match[2] or ""


def _names(line: str) -> Iterator[str]:
    yield from filter(None, (match[3] for match in _FRAME.finditer(line)))
    yield from _TITLE.findall(line)
    for ticked in _TICKED.findall(line):
        text = _TYPED.sub(r"\1", ticked).strip()
        path, _, inside = text.partition("::")
        if inside and _path_of(path):
            yield from (part.partition("[")[0] for part in inside.split("::"))
        elif option := _OPTION.fullmatch(text):
            yield option[1] or option[2]
        elif match := _NAME.fullmatch(text):
            if _may_be_a_name(match[1]) and not (_path_of(text) and "/" in text):
                yield match[1]
            inside = text[match.end(1) :]
            yield from filter(_may_be_a_name, _LIKE_CODE.findall(inside)[:_MOST_INSIDE])
        elif not _path_of(text):
            yield from filter(_may_be_a_name, _LIKE_CODE.findall(text)[:_MOST_INSIDE])


def _may_be_a_name(text: str) -> bool:
    shortest = _SHORTEST_NAME - text[:1].isupper()
    return len(text) >= shortest and text not in _NO_NAMES
