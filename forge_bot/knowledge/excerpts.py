"""Show a file whole, or the parts of it that a text speaks of, those that matter most first."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.knowledge.code_index import (
    CLOSERS,
    LONGEST,
    Definition,
    Span,
    block_end,
    blocks_around,
    definitions_of,
    holds,
    is_prose,
    likely_definitions,
    meant_by,
    pieces_between,
)
from forge_bot.knowledge.mentions import as_searched, last_part, only_hands_on
from forge_bot.knowledge.search_index import Ranking, words
from forge_bot.text_format import gist

_WHOLE = 4_000
"""Characters up to which a file is shown whole. Unneeded text costs tokens in every call."""

_WHOLE_IF_FIRST = 9_000
"""The same for the file that a request is most likely about: looking up the rest costs a call."""

_AROUND_LINE = 4
_AROUND_RANGE = 2
_LONGEST_CITED = 60
"""Lines of a cited range of which only the beginning is shown."""

_AROUND_USE = 3
_SHORT = 40

_HEAD = 30
_HEAD_OF_LONG = 20
_TAIL_OF_TESTS = 8
_MOST_USES = 2
_MOST_RANKED = 2
_MOST_PIECES = 3
_MOST_ALIKE = 2
_LEAST_LEFT = 4
_SMALL_GAP = 6
"""Lines between shown ones that are shown too: they may decide, and a mark costs as much."""

_LONGEST_SIGNATURE = 6
_TOP = 120
_LONGEST_LINE = 4_000
_MOST_NAMED = 12
_LONGEST_NAME = 50

_IMPORT = re.compile(
    r"(?:from\s+[\w.]+\s+import|import|package|use|pub use|mod|using|#include|require)\b"
    r"|(?:const|let|var)\b.*\brequire\(|export\b.*\bfrom\s+['\"]"
)
_EXAMPLE = (">>>", "...")
_CALL = re.compile(r"(?<!def )(?<!class )(?<!func )(?<!fn )(?<!\w)([A-Za-z_]\w*)\(")
_DECLARED = (
    r"^\s*(?:(?:export|default|async|static|get|set|pub)\s+)*(?:"
    r"(?:function\*?|def|fn|const|let|var|mod)\s+{0}\b|(?:[\w.]+\.)?{0}\s*[:=]\s*(?:async\b|func|\()"
    r"|\*?{0}\(.*\{{\s*$|(?:it|test|describe|\w\.Run)(?:\.\w+)*\(\s*['\"`]{0}['\"`],)"
)
"""The beginning of a definition in most languages."""

_COMMENT = re.compile(r"\s*(?:#|//|/?\*|--|;|$)")


class FileFocus(NamedTuple):
    """The parts of a file that are wanted: cited lines, names, and the words of the task.

    With `search` the names are those of a request, and their neighbours count too. `first` is the
    file that matters most. With `named_only` nothing else is wanted. Without `head`, the beginning
    counts only where nothing else does. With `tail` the end is wanted: new tests are written there.
    """

    lines: tuple[Span, ...] = ()
    names: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    search: bool = False
    first: bool = False
    named_only: bool = False
    head: bool = True
    tail: bool = False


class Excerpt(NamedTuple):
    """The text that is shown of a file, and which lines of how many it has."""

    text: str
    spans: tuple[Span, ...]
    total: int

    @property
    def part(self) -> str:
        """Return the shown lines in words; nothing for a whole file."""
        if self.spans == ((1, self.total),):
            return ""
        ranges = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in self.spans)
        return f"lines {ranges} of {self.total:,}"


def excerpt(
    path: str, text: str, wanted: FileFocus, room: int, *, without: Sequence[Span] = ()
) -> Excerpt:
    """Return the part of a file that fits into `room` characters: a small file whole, else its
    wanted parts. Lines in `without` are shown elsewhere and left out.
    """
    lines = text.removesuffix("\n").split("\n")
    total = len(lines)
    everything = _not_in(((1, total),), without)
    whole = _WHOLE_IF_FIRST if wanted.first else _WHOLE
    some = wanted.named_only and (without or wanted.lines)
    if size_of(lines, everything) <= min(room, whole) and not some:
        return Excerpt(written(lines, everything), everything, total)
    definitions = () if is_prose(path) else definitions_of(path, text)
    parts = _Parts(lines, definitions, wanted, without, prose=is_prose(path))
    further_tests = wanted.search and not wanted.first and belongs_to_tests(path)
    chosen: tuple[Span, ...] = ()
    for span in parts.of_tests() if further_tests else parts.by_worth():
        left = _not_in(((max(1, span[0]), min(span[1], total)),), (*without, *chosen))
        # What little is left of a part that is shown already tells nothing by itself.
        fresh = [part for part in left if part == span or part[1] - part[0] >= _LEAST_LEFT]
        more = merge_spans((*chosen, *fresh))
        if fresh and size_of(lines, more) <= room:
            chosen = more
    chosen = merge_spans((*chosen, *parts.signatures(chosen)), _SMALL_GAP)
    # Where more of a file is shown, the prompt has said what else it holds.
    named = () if without else parts.best_named()
    return Excerpt(written(lines, chosen, named) if chosen else "", chosen, total)


class _Parts:
    """The parts of one file."""

    def __init__(
        self,
        lines: Sequence[str],
        definitions: Sequence[Definition],
        wanted: FileFocus,
        without: Sequence[Span],
        *,
        prose: bool,
    ) -> None:
        self.lines = lines
        self.definitions = definitions
        self.wanted = wanted
        self.without = without
        self.prose = prose

    def by_worth(self) -> Iterator[Span]:
        """Yield the parts, those that matter most first."""
        if self.wanted.tail:
            yield len(self.lines) - _TAIL_OF_TESTS, len(self.lines)
        cited = [span for span in self.wanted.lines if _not_in((span,), self.without)]
        yield from self._around_cited(cited)
        meant = [] if self.prose else [*self._meant()]
        for definition in meant:
            yield from self._around(definition.first)
            yield (
                definition.first,
                definition.last
                if definition.length <= LONGEST
                else definition.first + _HEAD_OF_LONG,
            )
        for definition in meant:
            if definition.length > LONGEST:
                yield from self._rank(self._pieces_of(definition), _MOST_RANKED)
        if self.wanted.first and self.definitions:
            yield from self._find_likely(meant)
        elif self.wanted.search or not (meant or cited or self.wanted.named_only):
            yield from self._uses(self.wanted.names)
            pieces = [*pieces_between(self.lines, 1, len(self.lines))]
            yield from self._rank(pieces, _MOST_PIECES)
        yield from self._ends(is_wanted=bool(meant or cited or self.wanted.named_only))
        for definition in meant if not (self.wanted.named_only or self.wanted.search) else ():
            yield from self._pieces_of(definition)

    def of_tests(self) -> Iterator[Span]:
        """Yield the parts of tests beside the code of a request: cited lines, and of the tests
        that use what it names, or are called alike, those that share most words with it; of a long
        one the lines around the one that shares most; then the imports, for those that are written.
        Where no grammar lists tests, words count.
        """
        yield from self._around_cited(self.wanted.lines)
        tests: dict[Span, None] = {}
        for name in map(as_searched, self.wanted.names):
            alike = (one for one in self.definitions if holds(one.name, name))
            tests.update(dict.fromkeys((one.first, one.last) for one in alike))
            for at in [] if self._find_declared(name) else self._lines_with(name, called=True):
                inside = [(one.first, one.last) for one in self._definitions_around(at)]
                tests.update(dict.fromkeys(inside[-1:] or self._around(at)))
        if not any("test" in one.name.lower() for one in self.definitions):
            tests.update(dict.fromkeys(pieces_between(self.lines, 1, len(self.lines))))
        for first, last in self._best([*tests], _MOST_RANKED):
            yield first, last
            for at, _ in self._best([(n, n) for n in range(first, last + 1)], 1):
                yield max(first, at - _AROUND_USE), min(last, at + _AROUND_USE)
        if tests and (imports := self._imports()):
            yield imports

    def best_named(self) -> list[Definition]:
        """Return the definitions whose names share most words with the task, in their order."""
        ranking = Ranking([words(one.name) for one in self.definitions])
        best = sorted(at for at, _ in ranking.best(self.wanted.about, _MOST_NAMED))
        return [self.definitions[at] for at in best]

    def signatures(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Yield the first lines of the definitions within which some spans begin."""
        begins = {line for one in self.definitions for line in (one.first, one.at)}
        for first in (first for first, _ in spans if first not in begins):
            for one in self._definitions_around(first)[-1:]:
                top = range(one.at, min(one.at + _LONGEST_SIGNATURE, first))
                ends = (n for n in top if self.lines[n - 1].rstrip().endswith((":", "{")))
                yield from _not_in(((one.at, next(ends, one.at)),), self.without)

    def _definitions_around(self, line: int) -> list[Definition]:
        return [one for one in self.definitions if one.at <= line <= one.last]

    def _around_cited(self, cited: Sequence[Span]) -> Iterator[Span]:
        """Yield cited ranges, of a long one the beginning; and what is around single lines."""
        for first, last in cited:
            if last - first >= _LONGEST_CITED:
                yield first, first + _HEAD_OF_LONG
            elif last > first:
                yield first - _AROUND_RANGE, last + _AROUND_RANGE
            else:
                yield first - _AROUND_LINE, last + _AROUND_LINE
                yield from self._around(first)

    def _meant(self) -> Iterator[Definition]:
        """Yield the definitions that the names mean. Of several that are called alike those of a
        named class are meant, else those that stand alone.
        """
        owners = {name for name in self.wanted.names if "." not in name}
        for name in self.wanted.names:
            hits = meant_by(name, self.definitions) or self._find_declared(name)
            if len(hits) > 1:
                inside = [hit for hit in hits if {*hit.owner.split(".")} & owners]
                alone = [hit for hit in hits if not hit.owner]
                few = hits if len(hits) <= _MOST_ALIKE else alone
                hits = inside or (few if len(few) <= _MOST_ALIKE else [])
            yield from hits

    def _find_declared(self, name: str) -> list[Definition]:
        """Return the blocks that begin with a name where no grammar sees a definition: a function
        in another, a member of an object, a test by its title.
        """
        begins = re.compile(_DECLARED.format(re.escape(last_part(name))))
        at = [number for number, line in enumerate(self.lines, 1) if begins.match(line)]
        return [Definition(name, "", n, block_end(self.lines, n), n) for n in at]

    def _find_likely(self, meant: Sequence[Definition]) -> Iterator[Span]:
        """Yield the definitions that the request is most likely about; of a long one the pieces
        that share most words with it, and the short ones that these call.
        """
        near = [(one.first, one.last) for one in meant if one.length <= LONGEST]
        called = [one for one in self._called_in(near) if one not in meant]
        wanted = self.wanted
        for one in likely_definitions(
            self.lines, self.definitions, wanted.names, wanted.about, called
        ):
            if one.length <= LONGEST:
                yield one.first, one.last
                continue
            ranked = self._rank([*pieces_between(self.lines, one.at, one.last)], _MOST_PIECES)
            pieces = [span for span in ranked if span[1] - span[0] >= _LEAST_LEFT]
            yield from pieces
            yield from self._find_called(pieces)

    def _find_called(self, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield the short definitions of this file that some lines call."""
        for one in self._called_in(spans):
            if one.length <= _SHORT:
                yield one.first, one.last

    def _called_in(self, spans: Sequence[Span]) -> list[Definition]:
        """Return the definitions of this file that some lines call by a name of their own, but for
        examples in a docstring.
        """
        lines = (line for first, last in spans for line in self.lines[first - 1 : last])
        text = "\n".join(line for line in lines if not line.lstrip().startswith(_EXAMPLE))
        hits = [meant_by(name, self.definitions) for name in dict.fromkeys(_CALL.findall(text))]
        return [hit[0] for hit in hits if len(hit) == 1]

    def _uses(self, names: Iterable[str]) -> Iterator[Span]:
        """Yield the short definitions that use a name, or the lines around the use."""
        for name in dict.fromkeys(map(as_searched, names)):
            spans: dict[Span, None] = {}
            for at in self._lines_with(name):
                around = [*self._around(at)] or [(at - _AROUND_USE, at + _AROUND_USE)]
                spans.update(dict.fromkeys(around))
                if len(spans) == _MOST_USES:
                    break
            yield from spans

    def _lines_with(self, name: str, *, called: bool = False) -> list[int]:
        """Return the lines that use a name and do not only hand it on; with `called` a plain word
        counts only where it is called.
        """
        word, weak = only_hands_on(name)
        held = f"{name}(" if called and name.islower() and name.isalpha() else name
        lines = [(at, line) for at, line in enumerate(self.lines, 1) if held in line]
        return [at for at, line in lines if word.search(line) and not weak.match(line)]

    def _around(self, line: int) -> Iterator[Span]:
        """Yield the longest block around a line that is still short, if there is one."""
        spans = takewhile(lambda span: span[1] - span[0] < _SHORT, blocks_around(self.lines, line))
        yield from [span for span in spans if span[0] < span[1]][-1:]

    def _pieces_of(self, definition: Definition) -> list[Span]:
        if definition.length <= LONGEST:
            return [(definition.first, definition.last)]
        return [*pieces_between(self.lines, definition.at, definition.last)]

    def _rank(self, pieces: Sequence[Span], most: int) -> Iterator[Span]:
        """Yield the pieces that share most words with the task, and what is around them."""
        for piece in self._best(pieces, most):
            yield from self._around(piece[0])
            yield piece

    def _best(self, pieces: Sequence[Span], most: int) -> list[Span]:
        pieces = [piece for piece in pieces if _not_in((piece,), self.without) == (piece,)]
        texts = [words(" ".join(self.lines[first - 1 : last])) for first, last in pieces]
        return [pieces[place] for place, _ in Ranking(texts).best(self.wanted.about, most)]

    def _ends(self, *, is_wanted: bool) -> Iterator[Span]:
        """Yield the imports of a file, or its beginning where nothing else of it is wanted."""
        imports = None if self.wanted.search or self.prose else self._imports()
        if imports and (self.wanted.head or not is_wanted):
            yield imports
        elif not (is_wanted or self.wanted.search):
            # The first lines that are no comment; of a page just the first.
            code = (at for at, line in enumerate(self.lines, 1) if not _COMMENT.match(line))
            first = 1 if self.prose else next(code, 1)
            yield first, first + _HEAD

    def _imports(self) -> Span | None:
        """Return the lines near the top that import something."""
        top = self.lines[:_TOP]
        at = [number for number, line in enumerate(top, 1) if _IMPORT.match(line)]
        if not at:
            return None
        last = at[-1]
        if top[last - 1].rstrip().endswith(("(", "{", "[")):
            last = (
                next((n for n in range(last, len(top)) if top[n].startswith(CLOSERS)), last - 1) + 1
            )
        return at[0], min(last, at[0] + _HEAD)


def merge_spans(spans: Iterable[Span], gap: int = 2) -> tuple[Span, ...]:
    """Return spans in order, joined where at most `gap` lines lie between them."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + gap + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _not_in(spans: Iterable[Span], without: Iterable[Span]) -> tuple[Span, ...]:
    """Return the lines of some spans that are in none of others, in order."""
    left = [span for span in spans if span[0] <= span[1]]
    for first, last in without:
        parts = [part for a, b in left for part in ((a, min(b, first - 1)), (max(a, last + 1), b))]
        left = [part for part in dict.fromkeys(parts) if part[0] <= part[1]]
    return tuple(sorted(left))


def size_of(lines: Sequence[str], spans: Sequence[Span]) -> int:
    """Return the characters that spans take, with the lines in place of gaps."""
    shown = (line for first, last in spans for line in lines[first - 1 : last])
    return 80 * (len(spans) + 1) + sum(min(len(line), _LONGEST_LINE) + 1 for line in shown)


def written(
    lines: Sequence[str], spans: Sequence[Span], definitions: Sequence[Definition] = ()
) -> str:
    """Return ranges of lines as a text that names the omitted lines and their definitions."""
    parts: list[str] = []
    reached = 0
    for first, last in (*spans, (len(lines) + 1, len(lines))) if spans or definitions else ():
        if first > reached + 1:
            inside = {
                gist(definition.name, _LONGEST_NAME): definition.at
                for definition in reversed(definitions)
                if reached < definition.first < first
            }
            named = ", ".join(f"{name} {at}" for name, at in reversed(inside.items()))
            tail = f": {named}" if named else ""
            parts.append(f"[… lines {reached + 1}-{first - 1} are not shown here{tail} …]")
        parts += [gist_line(line) for line in lines[first - 1 : last]]
        reached = last
    return "\n".join(parts) + "\n" if parts else ""


def gist_line(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}[… line is longer …]"
