"""The definitions of a file that some of its lines call, and those that call a definition."""

import builtins
import re
from collections.abc import Iterator, Sequence

from forge_bot.knowledge.code_blocks import CodeBlock, is_long, short_around
from forge_bot.knowledge.line_spans import LONGEST_LINE, Span

_DECLARED = re.compile(r"\b(?:func\s+(?:\([^)\n]*\)\s*)?|fn\s+)\w+")
_RECEIVER = re.compile(r"^func \((\w+) ", re.MULTILINE)
_CALL = re.compile(r"(?<!def )(?<!class )(?<!\w)((?:[\w\])]+\.)*)([A-Za-z_]\w*)\(")
COMMON_METHODS = frozenset({*dir(str), *dir(list), *dir(dict), *dir(set), *dir(object)})
_OWN = ("self.", "cls.", "this.")
_MOST_CALLED = 12
_MOST_DEFINITIONS = 2
"""Definitions of one name that a call may mean."""


def called(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    spans: Sequence[Span],
    *,
    long: bool = False,
) -> Iterator[Span]:
    """Yield the short definitions of the same file that some lines call, or the long ones."""
    meant = [
        block
        for name, by_owner in _calls(lines, spans)
        for block in _callable([each for each in blocks if each.name == name])
        if by_owner or not _is_method(lines, block)
    ]
    for block in [each for each in meant if is_long(each) is long][:_MOST_CALLED]:
        yield block.first, block.last


def names_called(lines: Sequence[str], spans: Sequence[Span]) -> tuple[str, ...]:
    """Return the names that some lines call, in their order, without those of Python itself."""
    return tuple(dict.fromkeys(name for name, _ in _calls(lines, spans)))


def _calls(lines: Sequence[str], spans: Sequence[Span]) -> dict[tuple[str, bool], None]:
    """Return the names that some lines call, each with whether something stands before it."""
    text = "\n".join(line[:LONGEST_LINE] for a, b in spans for line in lines[a - 1 : b])
    text = _DECLARED.sub("", text)
    own = {*_OWN, *(f"{name}." for name in _RECEIVER.findall("\n".join(lines)))}
    return dict.fromkeys(
        (name, bool(owner))
        for owner, name in _CALL.findall(text)
        if owner in own or name not in (COMMON_METHODS if owner else dir(builtins))
    )


def _callable(hits: Sequence[CodeBlock]) -> Sequence[CodeBlock]:
    """Return the definitions that a call may mean: none where many have its name."""
    return hits if len(hits) <= _MOST_DEFINITIONS else ()


def _is_method(lines: Sequence[str], block: CodeBlock) -> bool:
    """Return whether a definition is called by an object only, as Python writes it."""
    head = re.compile(rf"\bdef {re.escape(block.name)}\((?:self|cls)\b")
    return any(head.search(line) for line in lines[block.first - 1 : block.last])


def callers(
    lines: Sequence[str], blocks: Sequence[CodeBlock], spans: Sequence[Span]
) -> Iterator[Span]:
    """Yield the short definitions of the same file that call a definition shown whole."""
    called = [block for block in blocks if (block.first, block.last) in spans]
    names = dict.fromkeys(block.name for block in called)
    for name in [*names][:_MOST_CALLED]:
        call = re.compile(rf"(?<!def )(?<!class )\b{re.escape(name)}\(")
        for number in (at for at, line in enumerate(lines, 1) if call.search(line)):
            yield from short_around(blocks, number)
