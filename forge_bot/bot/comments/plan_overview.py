"""The plan at the top of a question: the files, the tests, what others depend on, and the decisions
left to a person.
"""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from forge_bot.interaction.fit_comment import LinesPart
from forge_bot.prompts import escape
from forge_bot.runs.question_overview import (
    LONGEST_APPROACH,
    LONGEST_CHANGE,
    LONGEST_LINE,
    MOST_FILES,
    MOST_INTERFACES,
    Overview,
)
from forge_bot.sentences import listed, say
from forge_bot.text_format import gist


def plan(overview: Overview) -> str | LinesPart:
    """The design in a few lines; nothing where no design is shown."""
    outline = overview.outline
    files = outline.files
    approach = escape.line(gist(outline.approach, LONGEST_APPROACH))
    before = "\n\n".join(
        [
            *([approach] if approach else []),
            *(
                [f"{say('checkpoint.what_will_change', files=overview.counted)}\n\n"]
                if files
                else []
            ),
        ]
    )
    if not files:
        return before
    return LinesPart(
        [
            f"- {escape.code(file.path)}"
            + (
                f": {escape.plain(shorten(file.change, LONGEST_CHANGE, placeholder=' …'))}"
                if file.change
                else ""
            )
            for file in files[:MOST_FILES]
        ],
        "checkpoint.more_files",
        before=before,
        after="".join(f"\n- {line}" for line in _rest(overview)),
    )


def _rest(overview: Overview) -> Iterator[str]:
    """Yield the lines below the files."""
    outline = overview.outline
    if (more := len(outline.files) - MOST_FILES) > 0:
        yield say("question.more_files", count=more)
    if outline.tests:
        yield f"{say('question.tests')}: {_first(outline.tests, 1)}"
    interfaces = _first(outline.interfaces, MOST_INTERFACES) or say("question.none_named")
    yield f"{say('question.interfaces')}: {interfaces}"
    dependencies = _first(overview.dependencies, MOST_FILES) or say("question.none_changed")
    yield f"{say('question.dependencies')}: {dependencies}"
    if overview.reach:
        yield escape.plain(overview.reach, LONGEST_LINE)
    for each in outline.to_decide:
        yield f"**{say('question.needs_you')}**: {escape.line(each, 300)}"


def _first(names: Sequence[str], most: int) -> str:
    """Return the first names as code, and how many more there are."""
    return listed([escape.code(name, 80) for name in names], most=most)
