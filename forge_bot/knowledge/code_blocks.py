"""The definitions of a text file: where each begins and ends, read off keywords and indentation.

It knows no grammar, so it works for the usual languages, and errs by lines and not by files.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forge_bot.lazy_regex import lazy_regex

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override"
    r"|virtual|sealed|inline|extern|unsafe|const|pub(?:\([^)]*\))?|open|data|declare|suspend"
    r"|readonly|get|set)\s+)*"
)
_DEFINITION = lazy_regex(
    rf"^(?P<indent>[ \t]*){_MODIFIERS}"
    r"(?:(?:def|class|func|fn|function\*?|fun|interface|struct|enum|trait|impl|type|module"
    r"|namespace"
    r"|object|record|macro_rules!|sub|defmodule|defp?)\b\s*"
    r"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?(?P<name>[A-Za-z_$][\w$.]*)"
    r"|(?:let|var|const)\b\s*(?P<value>[A-Za-z_$][\w$]*)"
    r"|(?P<constant>[A-Z_][A-Z0-9_]{2,})\s*(?::[^=]+)?=(?!=)"
    r"|(?:it|test|describe|context|suite|specify)(?:\.\w+)*\(\s*(?P<quote>['\"`])(?P<test>.+?)(?P=quote),"
    r"|(?P<member>[\w$.]+)\s*[:=]\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|\w+\s*=>)"
    r"|\*?\s*(?P<method>[A-Za-z_$#][\w$]*)\s*(?:<[^>()]*>\s*)?\([^;]*\)\s*(?::\s*[^=;]+)?\{\s*$)"
)
_HOLDS_CODE = lazy_regex(r"=>\s*[({]?\s*$|=>|\bfunction\b|\bclass\b|[({\[]\s*$")
"""The end of the line of a value that holds code or several lines."""
_LONGEST_LINE = 2_000
_NO_METHODS = frozenset({"if", "for", "while", "switch", "catch", "return", "else", "with", "elif"})
_WORD_START = lazy_regex(r"(?<![A-Za-z])[A-Za-z]|(?<=[a-z])[A-Z]|[A-Z](?=[a-z])")
SHORTEST_PART = 5
"""Letters of a name that are looked for within other names."""

_SHORT_BLOCK = 40
_CLOSERS = (")", "]", "}", "end")
_OPENERS = ("(", "[", "{")
"""What ends a line that another line closes: text between them ends nothing, however it stands."""


class CodeBlock(NamedTuple):
    """A definition: its name, its first and last line counted from 1, and how deep it stands."""

    name: str
    first: int
    last: int
    depth: int


def code_blocks(lines: Sequence[str]) -> tuple[CodeBlock, ...]:
    """Return the definitions of a file, in their order; decorators and comments above belong."""
    found: list[tuple[str, int, int]] = []
    for number, line in enumerate(lines, 1):
        match = _DEFINITION.match(line) if len(line) <= _LONGEST_LINE else None
        name = match and _name(match, line)
        if match and name:
            found.append((name, number, _width(match["indent"])))
    ends = _ends(lines, [(number, width) for _, number, width in found])
    return tuple(
        CodeBlock(name, _with_decorators(lines, number), end, width)
        for (name, number, width), end in zip(found, ends, strict=True)
    )


def _name(match: re.Match[str], line: str) -> str | None:
    """Return the name of a definition; none of a local value, nor of a statement like a method."""
    if value := match["value"]:
        return value if not match["indent"] or _HOLDS_CODE.search(line) else None
    name = match["name"] or match["constant"] or match["test"] or match["member"] or match["method"]
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
    if len(parts) > 1:
        owners = [block for block in blocks if block.name == parts[-2]]
        inner = tuple(hit for hit in hits if any(is_inside(hit, owner) for owner in owners))
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
