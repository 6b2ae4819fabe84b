"""Read the open decisions of a design: numbered questions with lettered options."""

import re
from collections.abc import Callable, Iterator

from forge_bot.artifacts.markdown import Block
from forge_bot.artifacts.requirement_table import without_numbers
from forge_bot.artifacts.sections import blocks_below
from forge_bot.values import Frozen, Problem

_SECTION = "Decisions"
_OPTION = re.compile(r"(?P<letter>[a-z]): (?P<text>\S.*)")
_LETTERS = "abcdef"
_MOST_DECISIONS, _LONGEST_TEXT = 9, 400
_FORM = "`1. Question?` and below it, indented, `- a: the least change` and `- b: …`"


class Option(Frozen):
    """One option of an open decision, by its letter."""

    letter: str
    text: str


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
        options = tuple(_options(items[start + 1 :]))
        letters = "".join(option.letter for option in options)
        if items[start].number != str(number):
            return (), (_problem(f"number the open decisions 1, 2, 3 …: {_FORM}"),)
        if len(options) < 2 or not _LETTERS.startswith(letters):  # noqa: PLR2004 - a choice has two
            return (), (_problem(f"decision {number} has no options a, b …; write {_FORM}"),)
        if number > _MOST_DECISIONS or any(
            len(text) > _LONGEST_TEXT
            for text in (without_numbers(items[start].words), *(option.text for option in options))
        ):
            return (), (
                _problem(
                    f"a person decides at most {_MOST_DECISIONS} things, with at most"
                    f" {_LONGEST_TEXT} characters for a question and for an option"
                ),
            )
        decisions.append(
            OpenDecision(
                number=number, question=without_numbers(items[start].words), options=options
            )
        )
    return tuple(decisions), ()


def _options(items: list[Block]) -> Iterator[Option]:
    """Yield the options before the next item of the outer list."""
    for item in items:
        if item.depth == 1:
            return
        written = _OPTION.fullmatch(without_numbers(item.words))
        yield Option(
            letter=written["letter"] if written else "?", text=written["text"] if written else ""
        )


def _problem(message: str) -> Problem:
    return Problem(place=_SECTION, message=message, fatal=False)
