"""Read the outline of a design: the files it changes, its tests, its risks, and its open decisions,
numbered questions with lettered options.
"""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from forge_bot.artifacts.markdown import Block, blocks_below, first_paragraph
from forge_bot.artifacts.read_artifact import without_requirement_numbers
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.text_format import one_line
from forge_bot.values import Frozen, Problem

_SECTION = "Decisions"
_OPTION = re.compile(r"(?P<letter>[a-z]): (?P<text>\S.*)")
_LETTERS = "abcdef"
_MOST_DECISIONS, _LONGEST_TEXT = 9, 400
_FORM = (
    "`1. Question?` and below it, indented, `- a: the least change` and `- b: …`: numbered 1, 2, 3,"
    f" at most {_MOST_DECISIONS}, each text of at most {_LONGEST_TEXT} characters"
)


class Option(Frozen):
    """One option of an open decision, by its letter."""

    letter: str
    text: str


_NO_OPTION = Option(letter="?", text="")


class OpenDecision(Frozen):
    """A question that a person decides at the checkpoint. The first option is the least change."""

    number: int
    question: str
    options: tuple[Option, ...]

    @property
    def default(self) -> Option:
        """The option that counts where a person names none."""
        return self.options[0]

    def reworded(self, words: Callable[[str], str]) -> "OpenDecision":
        options = (option.replace(text=words(option.text)) for option in self.options)
        return self.replace(question=words(self.question), options=tuple(options))


def read_open_decisions(design: str) -> tuple[tuple[OpenDecision, ...], tuple[Problem, ...]]:
    """Return the numbered items below `## Decisions` with their options, and what is not in the
    prescribed form. With a problem no decision is returned.

    The numbers count from 1, the letters from a; a decision has two options or more. Bullets are
    decisions that are made.
    """
    items = [block for block in blocks_below(design, _SECTION) if block.starts_item]
    starts = [place for place, block in enumerate(items) if block.depth == 1 and block.number]
    decisions: list[OpenDecision] = []
    for number, start in enumerate(starts, 1):
        nested = takewhile(lambda block: block.depth > 1, items[start + 1 :])
        options = tuple(map(_option, nested))
        question = without_requirement_numbers(items[start].words)
        letters = "".join(option.letter for option in options)
        texts = (question, *(option.text for option in options))
        if (
            items[start].number != str(number)
            or len(options) < 2  # noqa: PLR2004 - a choice has two
            or not _LETTERS.startswith(letters)
            or any(len(text) > _LONGEST_TEXT for text in texts)
            or number > _MOST_DECISIONS
        ):
            message = f"decision {number} is not in the form {_FORM}"
            return (), (Problem(place=_SECTION, message=message, fatal=False),)
        decisions.append(OpenDecision(number=number, question=question, options=options))
    return tuple(decisions), ()


def _option(item: Block) -> Option:
    written = _OPTION.fullmatch(without_requirement_numbers(item.words))
    return Option(letter=written["letter"], text=written["text"]) if written else _NO_OPTION


_NONE = re.compile(r"none\b", re.IGNORECASE)
_COLUMNS = 3
FILE_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*\.[A-Za-z0-9_]{1,12}|[\w.@+~-]+(?:/[\w.@+~-]+)+")
_POINTER = re.compile(
    r"(?:see|as) (?:below|above|described)\.?|(?:the|its) tests? below\b.*", re.IGNORECASE
)
_SPARED = re.compile(
    r"(?:(?:it|is|are|stays?|remains?|left) )*"
    r"(?:unchanged|untouched|not (?:changed|touched)|as (?:it is|they are))\b(?! for| in| but)",
    re.IGNORECASE,
)
"""Words that say at the beginning of an item that its files do not change."""
_JOINT = re.compile(r"\s*(?:,|;|&|(?:, ?)?and)\s*")


class FileChange(Frozen):
    """A file that a design changes, and the change in a sentence."""

    path: str
    change: str

    @property
    def is_test(self) -> bool:
        """Return whether the path is that of a test, by its name or a folder's."""
        return belongs_to_tests(self.path)


class Example(Frozen):
    """An input as a user gives it, with its result today and after the change."""

    input: str
    today: str
    after: str

    @property
    def is_unchanged(self) -> bool:
        return self.after in {self.today, "unchanged"}

    @property
    def result(self) -> str:
        """The result of both, empty where the design says no more than that it is unchanged."""
        return "" if self.today == "unchanged" else self.today


class DesignOutline(Frozen):
    """The parts of a design that a person reads first.

    `approach` is its first paragraph, without the numbers of requirements, and `examples` its
    table. `settled` is what the design decided by itself, and `decisions` are open.
    """

    approach: str = ""
    examples: tuple[Example, ...] = ()
    files: tuple[FileChange, ...] = ()
    risks: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    decisions: tuple[OpenDecision, ...] = ()

    def reworded(self, words: Callable[[str], str]) -> "DesignOutline":
        return self.replace(
            approach=words(self.approach),
            decisions=tuple(decision.reworded(words) for decision in self.decisions),
        )


def read_outline(design: str) -> DesignOutline:
    """Return the outline of a design, by its headings of level 1 or 2.

    A file is the code that begins an item under `Changes`, or one of several paths that begin it,
    unless the item says that it stays unchanged; without words of its own its first sub-item tells
    the change. A document without these headings has an empty outline.
    """
    changes = _items(design, "Changes")
    return DesignOutline(
        approach=without_requirement_numbers(first_paragraph(design, "Approach")),
        examples=_examples(design),
        files=tuple(
            FileChange(path=path, change=change or _first_below(changes[place + 1 :]))
            for place, block in enumerate(changes)
            if block.depth == 1 and leading_code(block)
            for paths in (joined_codes(block),)
            for change in (_about(block, paths),)
            for path in paths
            if _SPARED.match(change) is None
        ),
        risks=_points(_items(design, "Risks")),
        settled=_points([one for one in _items(design, "Decisions") if not one.number]),
        decisions=read_open_decisions(design)[0],
    )


def leading_code(block: Block) -> str:
    """Return the code that an item begins with; empty if it begins with words."""
    first = next((span for span in block.spans if span.text.strip()), None)
    return first.text.strip() if first is not None and first.code else ""


def joined_codes(block: Block) -> tuple[str, ...]:
    """Return the first code of an item, and the paths joined to it by commas or “and”, each with
    the numbers of its requirements or without.
    """
    spans = [span for span in block.spans if span.text.strip()]
    first = next((place for place, span in enumerate(spans) if span.code), len(spans))
    paths = [span.text.strip() for span in spans[first : first + 1]]
    for joint, span in zip(spans[first + 1 :: 2], spans[first + 2 :: 2], strict=False):
        path = span.text.strip() if span.code else ""
        words = without_requirement_numbers(joint.text)
        if _JOINT.fullmatch(words) is None or FILE_PATH.fullmatch(path) is None:
            break
        paths.append(path)
    return tuple(paths)


def _items(design: str, heading: str) -> list[Block]:
    return [block for block in blocks_below(design, heading) if block.starts_item]


def _points(items: Sequence[Block]) -> tuple[str, ...]:
    """Return the words of the top items, without what says that there are none."""
    tops = (item for item in items if item.depth == 1 and not _NONE.match(item.text.strip()))
    return tuple(without_requirement_numbers(item.words) for item in tops)


def _examples(design: str) -> tuple[Example, ...]:
    rows = (block for block in blocks_below(design, "Approach") if not block.header)
    cells = (row.cells for row in rows if len(row.cells) == _COLUMNS)
    return tuple(Example(input=given, today=now, after=then) for given, now, then in cells)


def _about(block: Block, paths: Sequence[str]) -> str:
    words = block.words
    for path in paths:
        _, _, words = words.partition(f"`{one_line(path)}`")
    change = one_line(without_requirement_numbers(words)).lstrip(",;:：–—- ")
    return "" if _POINTER.fullmatch(change) else change


def _first_below(behind: Sequence[Block]) -> str:
    """Return the words of the first item below an item; empty where another begins."""
    return without_requirement_numbers(behind[0].words) if behind and behind[0].depth > 1 else ""
