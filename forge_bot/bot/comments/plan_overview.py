"""The plan at the top of a question: the files, the tests, and the decisions left to a person."""

from forge_bot.interaction.fit_comment import Flexible, as_many
from forge_bot.interaction.number_format import listed, several
from forge_bot.prompts import escape
from forge_bot.runs.question_overview import Overview

_LONGEST_APPROACH = 400
_LONGEST_CHANGE = 110
_MOST_FILES = 8
_MOST_TESTS = 3


def plan(overview: Overview) -> Flexible:
    """The design in a few lines; nothing where no design is shown."""
    outline = overview.outline
    files = outline.files
    counted = several(len(files), "file")
    tests = sum(file.is_test for file in files)
    of_tests = f", {tests:,} of them tests" if tests else ""
    approach = escape.line(outline.approach, _LONGEST_APPROACH)
    before = "\n\n".join(
        [
            *([approach] if approach else []),
            *([f"**What will change** ({counted}{of_tests})\n\n"] if files else []),
        ]
    )
    if not files:
        return lambda _room: before
    more = len(files) - _MOST_FILES
    rest = [f"- … and {several(more, 'more file')} in the design"] if more > 0 else []
    rest += _tests(outline.tests)
    rest += [f"- **Needs you**: {escape.line(each, 300)}" for each in outline.to_decide]
    after = "".join(f"\n{line}" for line in rest)
    return as_many(
        files[:_MOST_FILES],
        lambda file: (
            f"- {escape.code(file.path)}"
            + (f": {escape.line(file.change, _LONGEST_CHANGE)}" if file.change else "")
        ),
        lambda count: f"_{several(count, 'more file')} stand in the design._",
        before=before,
        after=after,
    )


def _tests(names: tuple[str, ...]) -> list[str]:
    if not names:
        return []
    shown = [escape.code(name) for name in names[:_MOST_TESTS]]
    more = len(names) - len(shown)
    if more > 0:
        shown.append(f"{more:,} more")
    return [f"- Tests: {listed(shown)}"]
