"""Read the inline Markdown of one block for hidden parts and for the HTML between its words.

Code spans, autolinks, escapes, entities and tags are read by markdown-it's own rules. Links and
images are found with the bracket stack of the CommonMark specification (appendix, "An algorithm for
parsing nested emphasis and links"). The library looks ahead by recursion instead, with a nesting
limit that hides a link from it and not from GitHub. Emphasis hides nothing and is not read.
"""

import sys
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field

from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_inline import (
    StateInline,
    autolink,
    backtick,
    entity,
    escape,
    html_inline,
    text,
)
from markdown_it.token import Token

from forge_bot.prompts.invisible import hides
from forge_bot.prompts.markdown_blocks import footnote_key, reader
from forge_bot.prompts.markdown_links import (
    LONGEST_LABEL,
    Bracket,
    Target,
    alt,
    is_blank,
    is_plain_word,
    label_end,
    spaced_address,
)
from forge_bot.prompts.removals import RemovalKind, RemovedSpan, cut
from forge_bot.prompts.tex_formulas import Formulas, hidden_in_formula

_DECLARATIONS = (
    ("<!--", None),
    ("<![CDATA[", RemovalKind.CDATA),
    ("<?", RemovalKind.PROCESSING_INSTRUCTION),
    ("<!", RemovalKind.DECLARATION),
)


@dataclass
class Inlines:
    """The contents of one block's text. All offsets count within that text."""

    hidden: list[RemovedSpan] = field(default_factory=list[RemovedSpan])
    code: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    markup: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    rendered: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    labels: set[str] = field(default_factory=set[str])
    footnotes: set[str] = field(default_factory=set[str])
    notes: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])


def read_inlines(source: str, labels: Collection[str], footnotes: Collection[str]) -> Inlines:
    """Read the text of one block.

    `labels` and `footnotes` are all defined ones, in normalised form.
    """
    return _Scan(source, labels, footnotes).run()


class _Scan:
    def __init__(self, source: str, labels: Collection[str], footnotes: Collection[str]) -> None:
        self._source = source
        self._state = StateInline(source, reader(), {}, [])
        self._labels = labels
        self._footnotes = footnotes
        self._brackets: list[Bracket] = []
        self._formulas = Formulas(source)
        self._formula_end = 0
        self._dead_below = (
            0  # links may not hold links: openers below this index can only become images
        )
        self._read = Inlines()

    def run(self) -> Inlines:
        state = self._state
        while state.pos < state.posMax:
            start = state.pos
            if text(state, False):
                continue
            match self._source[start]:
                case "\\":
                    found = escape(state, False)
                case "`":
                    found = self._code(start)
                case "<":
                    found = self._angle(start)
                case "&":
                    found = self._entity(start)
                case "[" | "!" | "]":
                    found = self._bracket(start)
                case "$":
                    found = self._dollar(start)
                case _:
                    found = False
            if not found:
                state.pos = start + 1
        return self._read

    def _dollar(self, start: int) -> bool:
        """Record the hidden parts of a formula.

        Its text is still read as Markdown: GitHub may not take it for a formula.
        """
        if start >= self._formula_end and (found := self._formulas.at(start)):
            unseen = hidden_in_formula(self._source, found.start, found.end)
            # Two dollars without anything between them would be the beginning of another formula.
            empty = unseen and not cut(self._source[: found.end], unseen)[0][found.start :].strip()
            self._read.hidden += (
                [RemovedSpan(start, found.after, RemovalKind.FORMULA)] if empty else unseen
            )
            self._formula_end = found.after
        return False

    def _code(self, start: int) -> bool:
        tokens = len(self._state.tokens)
        found = backtick(self._state, False)
        if len(self._state.tokens) > tokens:
            self._read.code.append((start, self._state.pos))
        return found

    def _angle(self, start: int) -> bool:
        state = self._state
        if end := self._comment_end(start):
            state.pos = end
        elif autolink(state, False):
            return True
        elif not html_inline(state, False):
            return False
        kind = next(
            (kind for opening, kind in _DECLARATIONS if self._source.startswith(opening, start)),
            None,
        )
        if kind:
            self._read.hidden.append(RemovedSpan(start, state.pos, kind))
        self._read.markup.append((start, state.pos))
        return True

    def _comment_end(self, start: int) -> int:
        """Return the end of a comment as browsers see it, which also ends with `--!>`.

        Return 0 if it is never closed and so is shown as text.
        """
        source, last = self._source, self._state.html_terminator_last
        if not source.startswith("<!--", start) or max(last("-->"), last("--!>")) < start + 2:
            return 0
        plain = source.find("-->", start + 2)
        bang = source.find("--!>", start + 4, plain if plain >= 0 else len(source))
        if bang >= 0:
            return bang + 4
        return plain + 3 if plain >= 0 else 0

    def _entity(self, start: int) -> bool:
        state = self._state
        if not entity(state, False):
            return False
        after = self._source[state.pos : state.pos + 2]
        if hides(_meant(state.tokens[-1]), self._source[max(0, start - 2) : start], after):
            self._read.hidden.append(RemovedSpan(start, state.pos, RemovalKind.INVISIBLE_CHARACTER))
        return True

    def _bracket(self, start: int) -> bool:
        if self._source[start] == "]":
            return self._close(start)
        image = self._source[start] == "!"
        if image and not self._source.startswith("[", start + 1):
            return False
        if self._brackets:
            self._brackets[-1].bracket_after = True
        self._brackets.append(Bracket(start, image))
        self._state.pos = start + (2 if image else 1)
        return True

    def _close(self, at: int) -> bool:
        if not self._brackets:
            return False
        dead = len(self._brackets) <= self._dead_below
        opener = self._brackets.pop()
        self._dead_below = min(self._dead_below, len(self._brackets))
        if dead and not opener.image:
            return False
        target = self._inline_target(at + 1) or self._reference(opener, at)
        if target is None:
            self._note_footnote(opener, at)
            return False
        self._take(opener, at, target)
        return True

    def _take(self, opener: Bracket, at: int, target: Target) -> None:
        read = self._read
        self._state.pos = target.end
        read.hidden.extend(target.hidden)
        if target.label is not None:
            read.labels.add(target.label)
        if opener.image:
            read.rendered.append((opener.at, '<img src="" alt="" />'))
            read.hidden.extend(alt(opener, at, target))
            return
        self._dead_below = len(self._brackets)
        read.rendered += [(opener.at, '<a href="">'), (target.end, "</a>")]
        if is_blank(self._source[opener.inside : at]):
            read.hidden.append(RemovedSpan(opener.at, target.end, RemovalKind.EMPTY_LINK))

    def _inline_target(self, at: int) -> Target | None:
        """Read `(address "title")` at this place."""
        source, end = self._source, len(self._source)
        if not source.startswith("(", at):
            return None
        start = self._past_space(at + 1)
        address = parseLinkDestination(source, start, end)
        reached = address.pos if address.ok else start
        hidden = spaced_address(source, start, reached)
        after = self._past_space(reached)
        if after > reached and (title := parseLinkTitle(source, after, end)).ok:
            hidden = (
                (*hidden, RemovedSpan(reached, title.pos, RemovalKind.LINK_TITLE))
                if title.str
                else hidden
            )
            after = self._past_space(title.pos)
        return Target(after + 1, hidden) if source.startswith(")", after) else None

    def _reference(self, opener: Bracket, at: int) -> Target | None:
        """Read `[label]`, `[]` or nothing at this place, if the label is defined."""
        end, label = at + 1, ""
        if (close := label_end(self._source, at + 1)) > 0:
            end, label = close + 1, self._source[at + 2 : close]
        by_text = not label
        if by_text and (opener.bracket_after or at - opener.inside > LONGEST_LABEL):
            return None
        shown = self._source[opener.inside : min(at, opener.inside + LONGEST_LABEL)]
        key = normalizeReference(label or shown)
        if key not in self._labels:
            return None
        if (
            by_text
            or is_plain_word(label)
            or (key == normalizeReference(shown) and not opener.image)
        ):
            return Target(end, (), key, by_text)
        return Target(end, (RemovedSpan(at + 1, end, RemovalKind.LINK_LABEL),))

    def _note_footnote(self, opener: Bracket, at: int) -> None:
        if self._source.startswith("[^", opener.at) and at - opener.at <= LONGEST_LABEL:
            key = footnote_key(self._source[opener.at + 2 : at])
            if key in self._footnotes:
                self._read.footnotes.add(key)
                self._read.notes.append((opener.at, at + 1, self._source[opener.at + 2 : at]))

    def _past_space(self, at: int) -> int:
        while at < len(self._source) and self._source[at] in " \t\n":
            at += 1
        return at


def _meant(token: Token) -> str:
    """Return the character of an entity.

    markdown-it shows U+FFFD for a control character; GitHub puts the control character itself on
    the page.
    """
    number = token.markup.strip("&#;").lower() if token.markup.startswith("&#") else ""
    code = int(number.removeprefix("x"), 16 if number.startswith("x") else 10) if number else 0
    is_character = 0 < code <= sys.maxunicode and unicodedata.category(chr(code)) != "Cs"
    return chr(code) if is_character else token.content
