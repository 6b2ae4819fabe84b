"""Read off a text which files, lines and names it speaks of. No disk, only its input."""

import re
import sys
from collections.abc import Iterator, Sequence
from keyword import kwlist
from posixpath import normpath
from typing import NamedTuple

_NO_CHANGE = (
    r"need(?:s|ed)?(?: not|n['’]t)(?: be)? chang|not (?:be )?affected|unaffected"
    r"|no changes? (?:is |are )?needed"
)
_SPARED_HEADING = re.compile(
    rf"\b(?:{_NO_CHANGE}|unchanged|out of scope|not (?:be )?(?:touched|changed)|not change)",
    re.IGNORECASE,
)
"""Words by which a heading says that nothing changes below it."""

_SPARED_LINE = re.compile(
    rf"\b(?:read|searched|seen|looked at),? (?:but |and )?(?:{_NO_CHANGE})"
    rf"|^\W*`[^`]+`(?:,? (?:and )?`[^`]+`)*\W{{0,4}}(?:it |this (?:file )?|is |are )?"
    rf"(?:{_NO_CHANGE})"
    rf"|^\W*`[^`]+`.*[;,(] *(?:it |this (?:file )?)?(?:{_NO_CHANGE})\w*\W*$",
    re.IGNORECASE,
)
"""Words by which a line says that the file it names does not change. That callers of a changed file
need not change says nothing of that file."""

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_LEADS = re.compile(r"^\s*[-*+]\s+(?:\[[ xX]\]\s+)?\**`([^`\n]{1,200})`")
_DOTTED = re.compile(r"@?\w+(?:\.\w+)*\.[A-Za-z_]\w{5,}")
"""A name like that of an attribute: few endings of files have six letters and more."""

_LONG_ENDINGS = (
    ".config",
    ".example",
    ".gradle",
    ".markdown",
    ".properties",
    ".svelte",
    ".template",
)
_BULLET = re.compile(r"\s*[-*+]\s+")
_LINES_AFTER = re.compile(
    r"^[^\n`]{0,60}?\(?\blines?\s+(\d{1,7})(?:\s*(?:-|–|to|and)\s*(\d{1,7}))?", re.IGNORECASE
)
_PATH = re.compile(
    r"^(?P<path>(?:\.{0,2}/)?[\w.@+-]+(?:/[\w.@+-]+)*)"
    r"(?:(?::|#L|::)(?P<rest>[\w.:\[\]-]+))?$"
)
_BARE_PATH = re.compile(
    r"(?<![\w/.@+`-])((?:[\w.@+-]+/)+[\w.@+-]*\w|[\w-]+\.[a-z]{1,5})(?::(\d+))?"
)
_NAME = re.compile(r"^(?:[@*&]{0,2})([A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*)!?\s*(?:\(.*\))?$")
_LITERAL = re.compile(r"-{0,2}\w+(?:-\w+)*|.* .*")
"""A plain word, an option or key with hyphens, or several words: searched as it is written."""

_TYPED = re.compile(r"\(\*?(\w+)\)(?=\.\w)|::<[^<>]*(?:<[^<>]*>)?[^<>]*>")
"""What stands around a name in Go's `(*T).Method`, and in Rust's `parse::<T>`."""

_OPTION = re.compile(r"^(--\w+|-{0,2}(?P<key>[A-Za-z]\w*(?:-\w+)+))(?:[ =:].*)?$")
"""An option of a command, or a key with hyphens, such as `--id -5` and `short-option-groups`."""

_QUOTE = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|[“„]([^“”„\n]+)[”“]")
_TITLE = re.compile(r"[“„]((?:[^\s“”„]+ ){2,}[^\s“”„]+)[”“]")
"""The title of a test, in a document: three words and more in typographic quotes."""

_PIECE = re.compile(r"(?:[A-Za-z]+[ ])+[A-Za-z]+")
_SHORTEST_PHRASE = 10
_MOST_PIECES = 2
_NUMBERS = re.compile(
    r"(?:(?<=\()|(?<=\bat )|(?<=\bline )|(?<=\blines )|(?<=, )|(?<=\band )|(?<=: ))"
    r"(\d{2,6})(?:\s*[-–]\s*(\d{2,6}))?(?=[),;.]|\s*$| \(| and\b| say)"
)
"""The number of a line, or a range of them, behind the path of a file."""

_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in (\w+))?')
_FRAME = re.compile(r"(?<![\w/])((?:[\w.@+-]+/)*[\w@+-]+\.[A-Za-z]{1,5}):(\d+)(?::\d+)?\b")
_IN_CODE = re.compile(
    r"(?<![A-Za-z_])(?<!\w\.)[A-Za-z_][\w.]*(?=\()"
    r"|\b[A-Za-z_]\w*(?==[^=])|\b[A-Za-z]+_\w+|\b[A-Z]\w*[a-z]\w*"
)
_LIKE_CODE = re.compile(
    r"(?<![A-Za-z_])(?<!\w\.)[A-Za-z_][\w.]*(?=\((?!s\)))"
    r"|\b[A-Za-z_]\w*(?==[^=\s])|\b[A-Za-z]\w*_\w+"
    r"|\b[A-Z]+[a-z0-9]+[A-Z]\w*|\b[a-z]+[A-Z]\w*|(?<!\S)--[a-z][\w-]*\w|\b[a-z]+(?:-[a-z]+){2,}"
)
_PUNCTUATION = re.compile(r"[(=\[{<]|\w\.\w")
"""Signs of code: words without them may be a message, in which a capital letter begins a
sentence."""

_ADDRESS = re.compile(r"(?<!\w)\w+://\S+|(?<![\w.-])[\w.-]+@[\w.-]+")
_LONGEST_LINE = 2_000
_NO_NAMES = frozenset({*kwlist, "self", "true", "false", "null", "catch", "throw"})
"""Words of languages, in backticks or code, that name nothing of a project."""

_STATEMENTS = frozenset({*kwlist, "const", "function", "let", "new", "var"})
"""Words that begin a piece of code and no message."""

_SHORTEST_NAME = 3


class Place(NamedTuple):
    """A file that a text names, with the lines and names beside it."""

    path: str
    lines: tuple[tuple[int, int], ...] = ()


class Mentions(NamedTuple):
    """The files and the names of a text, each in the order in which it names them. `read` are the
    lines that it cites of files that need not change.
    """

    places: tuple[Place, ...] = ()
    names: tuple[str, ...] = ()
    read: tuple[Place, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths as they are written."""
        return tuple(place.path for place in self.places)


def mentions(text: str) -> Mentions:
    """Return the files and names in a Markdown text.

    Files and names count in backticks, paths with a folder and places of tracebacks anywhere. A
    section is left out if it says that nothing need change there; so is a file in a line that says
    so, but for lines that it cites.
    """
    lines: dict[str, list[tuple[int, int]]] = {}
    names: dict[str, None] = {}
    spared = {
        path
        for line in _lines(text)
        if _SPARED_LINE.search(line)
        for path, _, _ in _places(line.partition("`:")[0] + "`")
    }
    for line in _counting(text):
        for path, first, last in _places(line):
            spans = lines.setdefault(path, [])
            if first and (first, last) not in spans:
                spans.append((first, last))
        names.update(dict.fromkeys(_names(line)))
    places = tuple(Place(path, tuple(spans)) for path, spans in lines.items() if path not in spared)
    return Mentions(places, tuple(names), tuple(_cited_of_spared(text)))


def _cited_of_spared(text: str) -> Iterator[Place]:
    """Yield the lines of files that are cited beside the words that these need not change."""
    for line in _lines(text):
        cited: dict[str, list[tuple[int, int]]] = {}
        for path, first, last in _places(line) if _SPARED_LINE.search(line) else ():
            if first:
                cited.setdefault(path, []).append((first, last))
        yield from (Place(path, tuple(spans)) for path, spans in cited.items())


def leading_paths(text: str) -> tuple[str, ...]:
    """Return the paths with which the bullets of a text begin, in backticks."""
    begun = (_LEADS.match(line) for line in _lines(text))
    paths = (_PATH.match(match[1].strip()) for match in begun if match is not None)
    return tuple(dict.fromkeys(path["path"] for path in paths if path is not None))


def request_names(title: str, text: str) -> tuple[str, ...]:
    """Return the names of a request: of its title first, in backticks or only written like code.

    Names in examples of code count where nothing else is named: an example is full of others.
    """
    told = [(line, fenced) for line, mark, fenced in _fenced(text) if not mark]
    prose = [line for line, fenced in told if not fenced]
    code = [line for line, fenced in told if fenced]
    named = [*_like_code([*_lines(title)]), *mentions(title).names, *_like_code(prose)]
    named += [name for line in prose for name in _names(line)]
    named = named or _like_code(code)
    return tuple(dict.fromkeys((*named, *_quoted([title, *prose]))))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines, a very long one in parts: to look through one takes a time that grows with
    the square of its length.
    """
    for line in text.splitlines():
        rest = line
        while len(rest) > _LONGEST_LINE:
            end = rest.rfind(" ", 1, _LONGEST_LINE)
            end = _LONGEST_LINE if end < 0 else end
            yield rest[:end]
            rest = rest[end:]
        yield rest


def _quoted(lines: Sequence[str]) -> Iterator[str]:
    """Yield the longest runs of words in quotes, such as those of a message: the rest of a message
    is made by the code.
    """
    for line in lines:
        for match in _QUOTE.finditer(line):
            pieces = _PIECE.findall(next(filter(None, match.groups())))
            long = [
                piece
                for piece in pieces
                if len(piece) >= _SHORTEST_PHRASE and piece.split()[0] not in _STATEMENTS
            ]
            yield from sorted(long, key=len, reverse=True)[:_MOST_PIECES]


def _like_code(lines: Sequence[str]) -> list[str]:
    plain = [_TYPED.sub(r"\1", _ADDRESS.sub(" ", _TICKED.sub(" ", line))) for line in lines]
    found = [name for line in plain for name in _LIKE_CODE.findall(line)]
    return [name for name in found if _may_be_a_name(name)]


def _fenced(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the lines of a text, each with two facts: whether it marks a fence, and whether it is
    inside or begins one.
    """
    fence = ""
    for line in _lines(text):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1][:3]
        yield line, mark is not None, bool(fence)


def last_part(name: str) -> str:
    """Return the last part of a dotted name; what is no such name, such as an option, whole."""
    return name if _LITERAL.fullmatch(name) else re.split(r"\W+", name)[-1]


def as_searched(name: str) -> str:
    """Return the words by which a name is searched: of a dotted name the last part, but all of one
    of Python's standard library, such as `pickle.dumps`: its last part alone means others too.
    """
    return name if name.partition(".")[0] in sys.stdlib_module_names else last_part(name)


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


def _counting(text: str) -> Iterator[str]:
    """Yield the lines that count."""
    spared_level = 0
    for line, mark, fenced in _fenced(text):
        if not mark and not fenced and (heading := _HEADING.match(line)):
            level = len(heading[1])
            if spared_level and level <= spared_level:
                spared_level = 0
            if not spared_level and _SPARED_HEADING.search(heading[2]):
                spared_level = level
        if not spared_level and (fenced or not _SPARED_LINE.search(line)):
            yield line


def _places(line: str) -> Iterator[tuple[str, int, int]]:
    for path, number, _name in _PYTHON_FRAME.findall(line):
        yield path, int(number), int(number)
    for match in _TICKED.finditer(line):
        found = _PATH.match(match[1])
        if found and _is_file(found["path"]):
            after = _LINES_AFTER.match(line[match.end() :])
            first, last = _span(found["rest"] or "") or _said(after)
            yield found["path"], first, last
            for number, end in _NUMBERS.findall(_told_of_it(line[match.end() :])):
                yield found["path"], int(number), int(end or number)
    untouched = _TICKED.sub(" ", _PYTHON_FRAME.sub(" ", line))
    for path, number in _FRAME.findall(untouched):
        yield path, int(number), int(number)
    for match in _BARE_PATH.finditer(untouched):
        path, number = match.groups()
        if "/" in path and _is_file(path) and "//" not in line[: line.find(path)][-3:]:
            yield path, int(number or 0), int(number or 0)
            if _BULLET.fullmatch(untouched[: match.start()]):
                told = _BARE_PATH.split(untouched[match.end() :], maxsplit=1)[0]
                for first, last in _NUMBERS.findall(told):
                    yield path, int(first), int(last or first)


def _told_of_it(rest: str) -> str:
    """Return what a line says of a file behind its path, up to the next path, without code."""
    for other in _TICKED.finditer(rest):
        path = _PATH.match(other[1])
        if path and _is_file(path["path"]):
            rest = rest[: other.start()]
            break
    return _TICKED.sub("`", rest)


def _said(after: "re.Match[str] | None") -> tuple[int, int]:
    return (int(after[1]), int(after[2] or after[1])) if after else (0, 0)


def _span(rest: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"L?(\d{1,7})(?:-L?(\d{1,7}))?", rest)
    return (int(found[1]), int(found[2] or found[1])) if found else None


def _is_file(path: str) -> bool:
    """Return whether a path looks like a file: with an ending, or a name such as Makefile."""
    last = path.rstrip("/").rpartition("/")[2]
    if path == last and _DOTTED.fullmatch(path) and not path.endswith(_LONG_ENDINGS):
        return False
    hidden = last.startswith(".") and len(last) > 1
    return (
        bool(re.search(r"\w\.[A-Za-z]\w{0,9}$", last)) or hidden or ("/" in path and last.isalnum())
    )


def _names(line: str) -> Iterator[str]:
    for _path, _number, function in _PYTHON_FRAME.findall(line):
        if function:
            yield function
    yield from _TITLE.findall(line)
    for ticked in _TICKED.findall(line):
        text = _TYPED.sub(r"\1", ticked)
        path, _, inside = text.partition("::")
        if inside and _is_file(path):
            yield from (part.partition("[")[0] for part in inside.split("::"))
        elif option := _OPTION.match(text.strip()):
            yield option["key"] or option[1]
        elif found := _NAME.match(text.strip()):
            if _may_be_a_name(found[1]) and not (_is_file(text) and "/" in text):
                yield found[1]
        elif not path or not _is_file(path):
            yield from _called(text)


def _called(text: str) -> Iterator[str]:
    """Yield names from a piece of code: what it defines, calls, sets or reads from an object."""
    code = _IN_CODE if _PUNCTUATION.search(text) else _LIKE_CODE
    for name in code.findall(text)[:6]:
        if _may_be_a_name(name):
            yield name


def _may_be_a_name(text: str) -> bool:
    return len(text) >= _SHORTEST_NAME and text not in _NO_NAMES
