"""The definitions of a text file: where each begins and ends, read off keywords and indentation.

It knows no grammar, so it works for the usual languages, and errs by lines and not by files.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override"
    r"|virtual|sealed|inline|extern|unsafe|const|pub(?:\([^)]*\))?|open|data|declare|suspend"
    r"|readonly|get|set)\s+)*"
)
_DEFINITION = re.compile(
    rf"^(?P<indent>[ \t]*){_MODIFIERS}"
    r"(?:func\s+\(\s*(?:\w+\s+)?\*?(?P<receiver>\w+)(?:\[[^\]]*\])?\)\s*(?P<own>\w+)"
    r"|impl\b\s*(?:<.*?>)?\s*(?:.*\sfor\s+)?&?(?:\w+::)*(?P<extended>\w+)"
    r"|(?:def|class|func|fn|function\*?|fun|interface|struct|enum|trait|type|module|mod"
    r"|namespace|object|record|macro_rules!(?=\s)|sub|defmodule|defp?)(?!\w)\s*"
    r"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?(?P<name>[A-Za-z_$][\w$.]*)"
    r"|(?:let|var|const)\b\s*(?:mut\s+)?(?P<value>[A-Za-z_$][\w$]*)"
    r"|(?P<constant>[A-Z_][A-Z0-9_]{2,})\s*(?::[^=]+)?=(?!=)"
    r"|(?:it|test|describe|context|suite|specify|\w\.Run)(?:\.\w+)*"
    r"\(\s*(?P<quote>['\"`])(?P<test>.+?)(?P=quote),"
    r"|(?P<member>[\w$.]+)\s*:?[:=]\s*(?:async\s+)?"
    r"(?:func(?:tion)?\b|\([^()]*\)\s*(?::[^=]+)?=>|\w+\s*=>)"
    r"|\*?\s*(?P<method>[A-Za-z_$#][\w$]*)\s*(?:<[^>()]*>\s*)?\([^;]*\)\s*(?::\s*[^=;]+)?\{\s*$)"
)
_HOLDS_CODE = re.compile(r"=>\s*[({]?\s*$|=>|\bfunction\b|\bclass\b|[({\[]\s*$")
"""The end of the line of a value that holds code or several lines."""
_GROUP = re.compile(r"(?:const|var|type) \($")
_MEMBER = re.compile(r"\t([A-Za-z_]\w*)")
"""A group of declarations in Go, and one of them."""

_LONGEST_LINE = 2_000
_NO_METHODS = frozenset(
    {
        *("if", "for", "while", "switch", "catch", "return", "else", "with", "elif"),
        *("match", "func", "fn", "select", "loop"),
    }
)
_WORD_START = re.compile(r"(?<![A-Za-z])[A-Za-z]|(?<=[a-z])[A-Z]|[A-Z](?=[a-z])")
SHORTEST_PART = 5
"""Letters of a name that are looked for within other names."""

_SHORT_BLOCK = 40
_CLOSERS = (")", "]", "}", "end")
_CONTINUED = ("{", "where")
_OPENERS = ("(", "[", "{")
"""What ends a line that another line closes: text between them ends nothing, however it stands."""


class CodeBlock(NamedTuple):
    """A definition: its name, its first and last line counted from 1, and how deep it stands.

    `of` is the type that it belongs to where it stands outside of that: a method in Go, an `impl`
    in Rust, which has the name of the type too. `at` is the line with the name, below comments and
    decorators.
    """

    name: str
    first: int
    last: int
    depth: int
    of: str = ""
    at: int = 0

    @property
    def extends(self) -> bool:
        """Return whether it only adds to a type that is defined elsewhere."""
        return bool(self.of) and self.of == self.name


def code_blocks(lines: Sequence[str]) -> tuple[CodeBlock, ...]:
    """Return the definitions of a file, in their order; decorators and comments above belong."""
    found: list[CodeBlock] = []
    group = 0
    for number, line in enumerate(lines, 1):
        match = _DEFINITION.match(line) if len(line) <= _LONGEST_LINE else None
        name = match and _name(match, line)
        if match and name:
            of = match["receiver"] or match["extended"] or ""
            found.append(CodeBlock(name, number, number, _width(match["indent"]), of, number))
        elif member := _MEMBER.match(line) if group else None:
            # The first of a group stands for all of it.
            first = number == group + 1
            depth = 0 if first else _width("\t")
            found.append(CodeBlock(member[1], number - first, number, depth, at=number))
        group = number if _GROUP.match(line) else 0 if line.startswith(")") else group
    ends = _ends(lines, [(block.first, block.depth) for block in found])
    return tuple(
        block._replace(first=_with_decorators(lines, block.first), last=end)
        for block, end in zip(found, ends, strict=True)
    )


def _name(match: re.Match[str], line: str) -> str | None:
    """Return the name of a definition; none of a local value, nor of a statement like a method."""
    if value := match["value"]:
        return value if not match["indent"] or _HOLDS_CODE.search(line) else None
    kinds = ("own", "extended", "name", "constant", "test", "member", "method")
    name = next((match[kind] for kind in kinds if match[kind]), None)
    return None if name in _NO_METHODS else name


def defines(text: str, name: str) -> bool:
    """Return whether a text defines a name."""
    lines = [line for line in text.split("\n") if name in line and len(line) <= _LONGEST_LINE]
    matches = ((line, _DEFINITION.match(line)) for line in lines)
    return any(match and _name(match, line) == name for line, match in matches)


def named(blocks: Sequence[CodeBlock], name: str) -> tuple[CodeBlock, ...]:
    """Return the definitions that a name means; of `Class.method`, the method in that class."""
    parts = [part for part in re.split(r"\.|::|->|#", name) if part]
    last = parts[-1] if parts else ""
    hits = tuple(block for block in blocks if block.name == last)
    hits = tuple(hit for hit in hits if not hit.extends) or hits
    if len(parts) > 1:
        owners = [block for block in blocks if block.name == parts[-2]]
        inner = tuple(hit for hit in hits if hit.of == parts[-2] or belongs(hit, owners))
        return inner or hits
    return hits


def named_alike(blocks: Sequence[CodeBlock], names: Sequence[str]) -> list[CodeBlock]:
    """Return the definitions whose name holds one of some names, however it is written."""
    long = [part for part in dict.fromkeys(map(letters, names)) if len(part) >= SHORTEST_PART]
    return [block for part in long for block in blocks if part in letters(block.name)]


def holds_as_word(name: str, others: Sequence[str]) -> bool:
    """Return whether a name holds one of some others from the beginning of a word on: `SlicedTests`
    holds `sliced`, `IslicedTests` does not.
    """
    ends = [letters(name[start.start() :]) for start in _WORD_START.finditer(name)]
    return any(end.startswith(letters(other)) for other in others for end in ends)


def letters(name: str) -> str:
    """Return a name without what differs between styles of writing it."""
    return name.replace("_", "").replace("-", "").casefold()


def is_inside(block: CodeBlock, owner: CodeBlock) -> bool:
    """Return whether a definition is a part of another."""
    return owner.first <= block.first and block.last <= owner.last and block != owner


def belongs(block: CodeBlock, owners: Sequence[CodeBlock]) -> bool:
    """Return whether a definition is a part of one of some types, or is written for it."""
    return any(is_inside(block, owner) or block.of == owner.name != block.name for owner in owners)


def is_long(block: CodeBlock) -> bool:
    """Return whether a definition is too long to be shown for a mere use."""
    return block.last - block.first >= _SHORT_BLOCK


def short_around(blocks: Sequence[CodeBlock], line: int) -> Iterator[tuple[int, int]]:
    """Yield the longest definition around a line that is still short, if there is one."""
    spans = [(block.first, block.last) for block in blocks if block.first <= line <= block.last]
    short = [(first, last) for first, last in spans if last - first < _SHORT_BLOCK]
    if short:
        yield max(short, key=lambda span: span[1] - span[0])


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _ends(lines: Sequence[str], starts: Sequence[tuple[int, int]]) -> list[int]:
    """Return the last line of each definition, in one pass over the lines."""
    ends = [len(lines)] * len(starts)
    opened: list[int] = []
    unclosed: set[int] = set()
    at = 0
    last_filled = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        width = _width(line[: len(line) - len(line.lstrip())])
        closing = text.startswith(_CLOSERS)
        begins = at < len(starts) and starts[at][0] == number
        while opened and width <= starts[opened[-1]][1] and starts[opened[-1]][0] != number:
            same = width == starts[opened[-1]][1]
            if same and text.startswith(_CONTINUED):
                if text.endswith(_OPENERS):
                    unclosed.add(opened[-1])
                break
            if closing and same:
                if not text.endswith(_OPENERS):
                    unclosed.discard(opened[-1])
                break
            if opened[-1] in unclosed and not (closing or begins):
                break
            ends[opened.pop()] = last_filled
        if begins:
            if text.endswith(_OPENERS):
                unclosed.add(at)
            opened.append(at)
            at += 1
        last_filled = number
    for index in opened:
        ends[index] = last_filled
    return ends


def _with_decorators(lines: Sequence[str], number: int) -> int:
    """Return the first line of the decorators, attributes and comments right above a definition."""
    first = number
    while first > 1 and lines[first - 2].lstrip().startswith(("@", "#[", "//", "#:", "/**", "*")):
        first -= 1
    return first
