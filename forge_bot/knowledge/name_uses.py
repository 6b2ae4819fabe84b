"""The lines of a file that use a name, and those that only hand it on."""

import re
from collections.abc import Iterable, Iterator, Sequence

from forge_bot.knowledge.code_blocks import CodeBlock

_WEAK_USE = (
    r"^\s*(?:from|import|use|\#include)\b|^\s*[\"']?{0}[\"']?,?\s*$"
    r"|^\s*\*{{0,2}}(?=[a-z_]){0}\s*[:=][^=].*,\s*$|^\s*[a-z_]\w*\s*:[^=(]*(?=[A-Z])\b{0}\b.*,\s*$"
    r"|^\s*(?:self|this)\.{0} = {0};?\s*$"
)
"""A line that only hands a name on: an import, an entry of a list, a parameter, a field of it."""

_CLEAR_USE = r"[.`\"']{0}\b|\b{0}(?:[(`\"']|=(?! |=))"
"""A call, an attribute, a keyword argument, or a quoted word."""

_KNOWN = (
    r"\b(?:def|class|fn|func|function|fun|import|use|require|from)\b.*\b{0}\b"
    r"|^\s*[\"']?{0}[\"']?,?\s*$|\b{0}:"
)
"""A definition, an import or an entry of one, a parameter."""

_ASSIGNED = r"^\s+(?:[\w.*]+, *)*{0}(?:, *[\w.*]+)* *=(?!=)|\bfor {0} in\b|\bas {0}\b"
"""An assignment to a variable of a function."""

_DOCSTRING = re.compile(r'"{3}|\'{3}')


def telling_uses(lines: Sequence[str], blocks: Sequence[CodeBlock], name: str) -> Sequence[int]:
    """Return the numbers of the lines that use or define a name.

    Lines that only pass it on are left out; if there are no others, the first of them is returned.
    """
    declared = re.compile(rf"\bdef {re.escape(name)}(?!\w)")
    weak = only_hands_on(name)
    own = [(block.first, block.last) for block in blocks if block.name == name]
    uses = [
        at
        for at, line in lines_meaning(name, enumerate(lines, 1))
        if not declared.search(line) or any(first <= at <= last for first, last in own)
    ]
    said = _comments(lines) if blocks else ()
    local = [*_where_local(lines, blocks, name, uses)]
    uses = [at for at in uses if not any(first <= at <= last for first, last in local)]
    return [at for at in uses if at not in said and not weak.search(lines[at - 1])] or uses[:1]


def _where_local(
    lines: Sequence[str], blocks: Sequence[CodeBlock], name: str, uses: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the definitions in which a plain word is a variable of their own."""
    if not (name.isalpha() and name.islower()):
        return
    assigned = re.compile(_ASSIGNED.format(name))
    for at in uses:
        if assigned.search(lines[at - 1]):
            around = [block for block in blocks if block.first < at <= block.last]
            yield from ((block.first, block.last) for block in around[-1:])


def _comments(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines that are comments or stand in a docstring."""
    found: set[int] = set()
    quoted = False
    for number, line in enumerate(lines, 1):
        opens = len(_DOCSTRING.findall(line)) % 2 == 1
        if quoted or opens or line.lstrip().startswith(("#", "//", "/*", "* ")):
            found.add(number)
        quoted ^= opens
    return frozenset(found)


def lines_meaning(
    name: str, lines: Iterable[tuple[int, str]], *, prose: bool = False
) -> list[tuple[int, str]]:
    """Return the numbered lines of a file that hold a name as a whole word.

    A plain word is often a variable in code that neither defines nor imports it. There it counts
    only where it is called or quoted, or is an attribute or a keyword argument.
    """
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    held = [(number, line) for number, line in lines if word.search(line)]
    if prose or not (name.isalpha() and name.islower()):
        return held
    known = re.compile(_KNOWN.format(name))
    if any(known.search(line) for _, line in held):
        return held
    clear = re.compile(_CLEAR_USE.format(name))
    return [(number, line) for number, line in held if clear.search(line)]


def only_hands_on(name: str) -> re.Pattern[str]:
    """Return the pattern of the lines that only hand a name on, such as an import of it."""
    return re.compile(_WEAK_USE.format(re.escape(name)))
