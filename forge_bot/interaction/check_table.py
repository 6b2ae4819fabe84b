"""The commands that checked a run: what came of each, the reasons of the verdict, and the ends of
their output.
"""

from collections.abc import Sequence

from forge_bot.interaction.fit_comment import LIMIT, Paper, Papers, Rows, alert
from forge_bot.interaction.markdown_templates import render
from forge_bot.interaction.number_format import duration
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.text_format import command_line, named_once
from forge_bot.values import CommandResult
from forge_bot.verification.judgement import judge


def commands(results: tuple[CommandResult, ...], baseline: tuple[CommandResult, ...]) -> Rows:
    """Return a list of the commands that ran, with their results before the change.

    It is no table, since names of tests do not break, and a telephone shows 40 characters a line.
    """
    before = {(result.name, result.argv): result for result in baseline}

    def line(result: CommandResult) -> str:
        earlier = before.get((result.name, result.argv))
        as_before = _is_as_before(result, earlier)
        failing = [name for name in result.failures if name and name not in result.flaky]
        only_flaky = bool(result.flaky) and {*result.failures} <= {*result.flaky}
        return render(
            "parts.command",
            result=result,
            green=result.exit_code == 0 and not result.timed_out,
            as_before=as_before,
            flaky=bool(result.flaky) and (as_before or only_flaky) and not result.timed_out,
            command=command_line(result.argv),
            # A note of the verification names what failed before and still does.
            failing=[] if as_before or result.exit_code == 0 else failing,
            took=duration(result.duration_ms),
            compared=bool(baseline),
            earlier=earlier,
        )

    # Asterisks, so that a list of hyphens below is a list of its own.
    return Rows([line(result) for result in results], "checks.more_commands", room=4_000)


def newly_red(
    results: Sequence[CommandResult], baseline: Sequence[CommandResult]
) -> tuple[CommandResult, ...]:
    """Return the results without those that are as before the change."""
    before = {(result.name, result.argv): result for result in baseline}
    return tuple(
        result
        for result in results
        if not _is_as_before(result, before.get((result.name, result.argv)))
    )


def _is_as_before(result: CommandResult, earlier: CommandResult | None) -> bool:
    return earlier is not None and not judge((earlier,), (result,)).red


def reasons(sentences: Sequence[str]) -> Rows:
    """Return the reasons why it is red, in whole sentences."""
    lines = [f"- {escape.line(named_once(sentence))}" for sentence in sentences]
    return Rows(lines, "checks.more_reasons", room=2_000)


def warnings(sentences: Sequence[str], headline: str = "checks.look_at_this_first") -> Rows:
    """Return a box with warnings, below the sentence that `headline` names. Nothing in their
    sentences is active Markdown.
    """
    before = alert("warning", f"**{say(headline)}**") + "\n>\n"
    lines = [f"> - {sentence}" for sentence in sentences]
    return Rows(lines, "checks.more_warnings", before=before, room=3_000)


def outputs(results: tuple[CommandResult, ...], most: int = 4) -> list[Papers]:
    """The ends of what the first failed commands printed, folded."""
    failed = [result for result in results if result.exit_code != 0 and result.tail.strip()]
    shown = [
        Paper(
            name=command_line(result.argv),
            about=say("checks.end_of_output"),
            text=result.tail,
            language="text",
        )
        for result in failed[:most]
    ]
    return [Papers(shown, LIMIT // 6)] if shown else []
