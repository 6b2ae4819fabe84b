"""The parts of a file that a text speaks of, those that matter most first."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forge_bot.knowledge.calls_in_file import COMMON_METHODS, called, callers
from forge_bot.knowledge.code_blocks import (
    CodeBlock,
    belongs,
    holds_as_word,
    is_inside,
    is_long,
    letters,
    named,
    named_alike,
    short_around,
)
from forge_bot.knowledge.file_parts import (
    AROUND,
    HEAD,
    LONGEST_BLOCK,
    MOST_RANKED,
    beginning_of,
    enclosing,
    imports_of,
    parts_of,
    pieces,
    ranked,
    uses_of,
)
from forge_bot.knowledge.line_spans import LONGEST_LINE, Span, clipped, not_in
from forge_bot.knowledge.mentions import as_searched, last_part
from forge_bot.project.search_words import words

_BASES = re.compile(r"^\s*(?:export )?class \w+(?:\(| extends )([\w., ]+)")
_TEST_AFFIX = re.compile(r"^tests?_?|_?tests?$", re.IGNORECASE)
_TAIL = 20
_TAIL_OF_TESTS = 8
_AROUND_LINES = 6
_MOST_USES = 4
_MOST_ALIKE = 2
_MOST_SIBLINGS = 4
"""The most classes of a file whose special method is compared with that of the meant class."""
_MOST_USES_SEARCHED = 3
_MOST_TOLD_BY_NAME = 1
_MOST_RANKED_INSIDE = 2
"""Parts of a long definition that is named."""

_MOST_RANKED_BESIDE = 1
_MOST_RANKED_ELSEWHERE = 1
"""Parts of a file that holds none of the names that a request has."""

_HEAD_OF_CLASS = 30
"""Lines of a class above its first method: what it has, its slots, its fields."""

_MAKERS = ("__init__", "__new__", "constructor")
_DOCSTRING_ENDS = ('"""', "'''", "*/")


class WantedPlaces(NamedTuple):
    """The parts of a file that matter: lines, names, and the words of the task.

    With `search` the words count even if lines or names are found, and so do definitions whose name
    contains a wanted name, such as tests. With `named_only` only the named parts are wanted. In
    `prose`, such as a changelog, the beginning comes before mere uses of a name. `first` is the
    file that matters most. `special` names methods that the task means without naming them.
    `called` names what the meant definitions of other files call. Without `head`, the beginning of
    a file is not wanted where something else of it is: only who edits a file needs its imports.
    With `tail` its end is wanted too: new tests are written there.
    """

    lines: tuple[Span, ...] = ()
    names: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    search: bool = False
    prose: bool = False
    first: bool = False
    named_only: bool = False
    special: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    head: bool = True
    tail: bool = False


def places_by_worth(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    wanted: WantedPlaces,
    without: Sequence[Span] = (),
) -> Iterator[Span]:
    """Yield the parts of a file, those that matter most first. What is around named lines is not
    wanted again if they are `without`, which is shown elsewhere.
    """
    total = len(lines)
    new = [span for span in wanted.lines if not_in((span,), without)]
    yield from _around_lines(blocks, new, total, AROUND if wanted.prose else _AROUND_LINES)
    if wanted.prose:
        yield from _of_prose(lines, wanted)
        return
    found = [*_meant(blocks, wanted.names)]
    for block in found:
        yield from short_around(blocks, block.first)
        yield from pieces(block, first_only=True)
        if wanted.first:
            yield from _makers(blocks, block)
    if wanted.search:
        yield from _searched(lines, blocks, found, wanted)
    else:
        yield from _of_document(lines, blocks, found, wanted)
    if wanted.search and (found or not wanted.first):
        return
    yield from _ends(lines, found, wanted)
    if wanted.named_only:
        return
    for block in found:
        yield from pieces(block, first_only=False)
    if not (found or wanted.lines):
        yield clipped(total - _TAIL, total, total)


def _of_document(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    found: Sequence[CodeBlock],
    wanted: WantedPlaces,
) -> Iterator[Span]:
    """Yield further places of what a document of the run names."""
    yield from _inside_long(lines, blocks, found, wanted)
    if wanted.named_only:
        yield from ((max(block.first, block.last - AROUND), block.last) for block in found)
    elif not (found or wanted.lines):
        yield from uses_of(lines, blocks, wanted.names, _MOST_USES)
        yield from ranked(lines, blocks, wanted.about)


def _ends(lines: Sequence[str], found: Sequence[CodeBlock], wanted: WantedPlaces) -> Iterator[Span]:
    """Yield the imports of a file, or its beginning where nothing else of it is wanted; and the end
    of tests that are edited.
    """
    told = bool(wanted.named_only or found or wanted.lines)
    imports = None if wanted.search else imports_of(lines)
    if imports and (wanted.head or not told):
        yield imports
    elif not told:
        yield beginning_of(lines)
    if wanted.tail:
        yield clipped(len(lines) - _TAIL_OF_TESTS, len(lines), len(lines))


def _around_lines(
    blocks: Sequence[CodeBlock], wanted: Sequence[Span], total: int, around: int
) -> Iterator[Span]:
    """Yield the named lines with so many around them."""
    for first, last in wanted:
        if first <= total:
            yield clipped(first - around, last + around, total)
            # A range that is too long for its room is shown by its ends.
            yield clipped(last - _TAIL, last, total)
            yield clipped(first, min(first + _TAIL, last), total)
            yield from enclosing(blocks, first)


def _inside_long(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    found: Sequence[CodeBlock],
    wanted: WantedPlaces,
) -> Iterator[Span]:
    """Yield the parts of long named definitions that share most words with the task."""
    for block in found:
        if block.last - block.first >= LONGEST_BLOCK:
            inside = (block, *parts_of(blocks, block))
            yield from ranked(lines, inside, wanted.about, _MOST_RANKED_INSIDE)


def _meant(blocks: Sequence[CodeBlock], names: Sequence[str]) -> Iterator[CodeBlock]:
    """Yield the definitions that the names mean.

    Of methods of several classes, only those of a named class are meant. A name with many
    definitions means none of them, or one or two that stand alone. If a class is named, the test of
    another class is not meant, even if a test is planned under the same name. Nor is a method with
    the name of a method of a built-in type.
    """
    owners = [block for name in names for block in blocks if block.name == last_part(name)]
    classes = [owner for owner in owners if parts_of(blocks, owner)]
    for name in names:
        hits, last = named(blocks, name), last_part(name)
        inside = [hit for hit in hits if belongs(hit, owners)]
        if last in COMMON_METHODS or (classes and last.startswith("test")):
            top = (hit for hit in hits if not any(is_inside(hit, block) for block in blocks))
            yield from inside or top
        elif len(hits) > 1:
            alone = [hit for hit in hits if not (hit.depth or hit.of)]
            few = hits if len(hits) <= _MOST_ALIKE else alone
            yield from inside or (few if len(few) <= _MOST_ALIKE else ())
        else:
            yield from hits


def _of_prose(lines: Sequence[str], wanted: WantedPlaces) -> Iterator[Span]:
    """Yield the beginning of a text, and where it uses the names if no line of it is named."""
    if wanted.search:
        yield from uses_of(lines, (), wanted.names, _MOST_USES, AROUND)
        return
    if not (wanted.named_only or wanted.lines):
        yield clipped(1, HEAD, len(lines))
        yield from uses_of(lines, (), wanted.names, _MOST_USES)


def _searched(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    found: Sequence[CodeBlock],
    wanted: WantedPlaces,
) -> Iterator[Span]:
    """Yield further places of a request.

    They are definitions whose name contains a wanted name, the code in those and in the named
    definitions, uses of a name, functions that these call, and the places that share most words
    with the request.
    """
    names = [as_searched(name) for name in wanted.names]
    alike = _alike(lines, blocks, found, names)
    yield from _told_by_name(blocks, wanted)
    if wanted.first:
        yield from _made_by(lines, blocks, found)
    for block in alike:
        yield from short_around(blocks, block.first)
        yield from pieces(block, first_only=True)
    inside = [
        span
        for owner in (*found, *alike, *_bases(lines, blocks, found))
        if is_long(owner)
        for span in ranked(lines, (owner, *parts_of(blocks, owner)), wanted.about)
    ]
    yield from inside
    special = [*_special(blocks, (*found, *alike, *_bases(lines, blocks, found)), wanted)]
    yield from special
    near = [(block.first, block.last) for block in found if not is_long(block)]
    yield from called(lines, blocks, (*special, *near))
    yield from _called_from_outside(blocks, wanted)
    if wanted.first:
        yield from _long_called(lines, blocks, near)
    used = [*uses_of(lines, blocks, wanted.names, _MOST_USES_SEARCHED)]
    yield from used
    for owner in _long_around(blocks, used):
        yield from ranked(lines, parts_of(blocks, owner), wanted.about, _MOST_RANKED_BESIDE)
    yield from called(lines, blocks, (*inside, *used))
    if wanted.first:
        yield from callers(lines, blocks, (*near, *used))
    if wanted.first or not (found or alike or used):
        for block in (*found, *alike):
            yield from pieces(block, first_only=False)
        most = MOST_RANKED if wanted.first or not wanted.names else _MOST_RANKED_ELSEWHERE
        if not (near or used):
            yield from ranked(lines, blocks, wanted.about, most)


def _made_by(
    lines: Sequence[str], blocks: Sequence[CodeBlock], found: Sequence[CodeBlock]
) -> Iterator[Span]:
    """Yield what the classes of the meant methods have above their first method, and how they are
    made: what a method can use stands there.
    """
    around = (block for block in blocks for method in found if is_inside(method, block))
    for owner in dict.fromkeys(around):
        parts = [block for block in parts_of(blocks, owner) if is_inside(block, owner)]
        above = min(part.first for part in parts) - 1
        above = next((at for at in range(above, owner.at, -1) if lines[at - 1].strip()), owner.at)
        if not lines[above - 1].rstrip().endswith(_DOCSTRING_ENDS):
            yield max(owner.at, above - _HEAD_OF_CLASS), above
        yield from _makers(blocks, owner)


def _makers(blocks: Sequence[CodeBlock], owner: CodeBlock) -> Iterator[Span]:
    """Yield how a long class is made, if that is short enough to be shown whole."""
    for part in parts_of(blocks, owner) if is_long(owner) else ():
        if part.name in _MAKERS and part.last - part.first < LONGEST_BLOCK:
            yield part.first, part.last


def _called_from_outside(blocks: Sequence[CodeBlock], wanted: WantedPlaces) -> Iterator[Span]:
    """Yield the short definitions that the meant ones of other files call."""
    for name in wanted.called:
        hits = named(blocks, name)
        if len(hits) == 1 and not is_long(hits[0]):
            yield hits[0].first, hits[0].last


def _alike(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    found: Sequence[CodeBlock],
    names: Sequence[str],
) -> list[CodeBlock]:
    """Return the definitions whose names hold one of some names. Beside what a name means, these
    are its neighbours, unless they test it.
    """
    return [
        block
        for block in named_alike(blocks, names)
        if block not in found
        and (_tests_one_of(lines, block, names) if "test" in block.name.lower() else not found)
    ]


def _long_called(
    lines: Sequence[str], blocks: Sequence[CodeBlock], near: Sequence[Span]
) -> Iterator[Span]:
    """Yield the long definitions that short ones call, by their ends if need be, and what these
    call: of a function that only hands on, the called one decides.
    """
    long = [*called(lines, blocks, near, long=True)]
    for first, last in long:
        yield first, min(last, first + LONGEST_BLOCK)
        yield max(first, last - LONGEST_BLOCK // 3), last
    yield from called(lines, blocks, long)


def _tests_one_of(lines: Sequence[str], block: CodeBlock, names: Sequence[str]) -> bool:
    """Return whether a test has one of some names in its own, and no longer name that its file
    uses: `TestLoggerFactory` is no test of `Logger` where the file imports `LoggerFactory`.
    """
    if not holds_as_word(block.name, names):
        return False
    tested = _TEST_AFFIX.sub("", block.name)
    if letters(tested) in {letters(name) for name in names}:
        return True
    uses = re.compile(rf"(?<!\w){re.escape(tested)}(?!\w)")
    return not any(uses.search(line[:LONGEST_LINE]) for line in lines)


def _special(
    blocks: Sequence[CodeBlock], owners: Sequence[CodeBlock], wanted: WantedPlaces
) -> Iterator[Span]:
    """Yield the short special methods of some classes; of the first file, also those of others
    where few classes have them.
    """
    for name in wanted.special:
        hits = [block for block in blocks if block.name == name and not is_long(block)]
        own = [hit for hit in hits if belongs(hit, owners)]
        few = hits if wanted.first and len(hits) <= _MOST_SIBLINGS else ()
        yield from ((block.first, block.last) for block in dict.fromkeys((*own, *few)))


def _told_by_name(blocks: Sequence[CodeBlock], wanted: WantedPlaces) -> Iterator[Span]:
    """Yield the short tests whose names are made of words of the task, best first; words of its
    names do not count.
    """
    own = [name for name in wanted.names if as_searched(name) == last_part(name)]
    told = {*wanted.about}.difference(*(words(name) for name in own))
    found: list[tuple[float, int, CodeBlock]] = []
    for block in blocks:
        said = {*words(block.name)}
        about = said - {"test"}
        shared = len(about & told)
        if about != said and shared and not is_long(block) and 2 * shared >= len(about):
            found.append((-shared / len(about), -shared, block))
    for *_, block in sorted(found)[:_MOST_TOLD_BY_NAME]:
        yield block.first, block.last


def _bases(
    lines: Sequence[str], blocks: Sequence[CodeBlock], found: Sequence[CodeBlock]
) -> list[CodeBlock]:
    """Return the classes of the same file that the found ones are made from."""
    heads = [_BASES.search("\n".join(lines[block.first - 1 : block.last])) for block in found]
    names = [name for head in heads if head for name in re.findall(r"\w+", head[1])]
    return [block for name in names for block in blocks if block.name == name]


def _long_around(blocks: Sequence[CodeBlock], spans: Sequence[Span]) -> list[CodeBlock]:
    """Return the long definitions that hold parts and some of the spans, the innermost of each."""
    found: dict[CodeBlock, None] = {}
    for first, last in spans:
        around = [each for each in blocks if each.first < first and last <= each.last]
        found.update(dict.fromkeys(filter(is_long, around[-1:])))
    return [owner for owner in found if parts_of(blocks, owner)][:_MOST_ALIKE]
