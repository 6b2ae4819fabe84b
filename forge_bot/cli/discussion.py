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
            f"--answer was given {len(answers)} times, but there are {most} questions.",
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
    console.print("\n[bold]Three questions first[/] (Enter leaves one out)")
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
    console.print("[bold]Three questions first:[/]")
    for line in _numbered():
        console.print(f"  {line}")
    console.print(
        "Nobody is at a terminal here, so nothing has begun. Answer in this order, beside your "
        'other options; "" leaves one out:'
    )
    words = task.strip()
    named = shlex.quote(words) if len(words) <= _SHORT and "\n" not in words else '"TASK"'
    shown = f"forge-bot run {named} " + " ".join('--answer "…"' for _ in discussion_questions())
    console.print(f"  {escape(shown)}")
