"""`--discuss`: three questions before a run begins, asked at the terminal or answered with
--answer.
"""

import shlex
from collections.abc import Sequence

from rich.markup import escape

from forge_bot.cli.coding_agents import at_terminal
from forge_bot.cli.console import Console
from forge_bot.errors import BadOption
from forge_bot.runs.create_run import discussion_questions
from forge_bot.sentences import say

_SHORT = 120
"""Characters of a task that is repeated whole in the command to be typed."""


def discussed(task: str, answers: Sequence[str], *, wanted: bool) -> str | None:
    """Return the answers as Markdown for the request; None if they were requested and nobody is
    here to give them.

    `answers` belong to the questions in their order; an empty or missing one leaves its question
    out.
    """
    if len(answers) > (most := len(discussion_questions())):
        raise BadOption(
            say("cli.discussion.too_many_answers", count=len(answers), questions=most),
            details=_numbered(),
        )
    if answers:
        return _written(answers)
    if not wanted:
        return ""
    if not at_terminal():
        _say_how(task)
        return None
    console = Console()
    console.print(f"\n{say('cli.discussion.three_questions_asked_here')}")
    return _written([console.ask(f"  {question}") for question in discussion_questions()])


def _written(answers: Sequence[str]) -> str:
    pairs = zip(discussion_questions(), answers, strict=False)
    return "\n\n".join(
        f"**{question}**\n{answer.strip()}" for question, answer in pairs if answer.strip()
    )


def _numbered() -> tuple[str, ...]:
    return tuple(
        f"{number}. {question}" for number, question in enumerate(discussion_questions(), 1)
    )


def _say_how(task: str) -> None:
    console = Console()
    console.print(say("cli.discussion.three_questions"))
    for line in _numbered():
        console.print(f"  {line}")
    console.print(say("cli.discussion.answer_by_options"))
    words = task.strip()
    named = shlex.quote(words) if len(words) <= _SHORT and "\n" not in words else '"TASK"'
    shown = f"forge-bot run {named} " + " ".join('--answer "…"' for _ in discussion_questions())
    console.print(f"  {escape(shown)}")
