"""baseline.md: the commands without a usable result before the change, and what they printed."""

import json
from collections.abc import Iterator, Sequence

from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.runs.notifications import Message, Notify
from forge_bot.sentences import say
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import code_block, several
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.unusable_commands import Cause, UnusableCommand

BASELINE = "baseline.md"
_LINES_SHOWN = 25
_MOST_SHOWN = 8
_IGNORED_SHOWN = 5
_LONGEST_LINE = 400


def tell_of_red(results: Sequence[CommandResult], left_behind: Sequence[str], tell: Notify) -> None:
    """Tell how many failures there were before any change, if there were some, and which ignored
    files the tests did not find.
    """
    if red := sum(len(result.failures) for result in results if result.exit_code != 0):
        was = "was" if red == 1 else "were"
        text = f"{several(red, 'failure')} {was} there before the change; only new ones count"
        tell(Message(text=text))
    if left_behind:
        setting = f"`{_carry(left_behind)}` in {CONFIG}"
        tell(Message(text=f"{_left_behind(left_behind)} {setting}"))


def _left_behind(names: Sequence[str]) -> str:
    return (
        "The tests ran in a tree of their own, without the files that git ignores in your "
        f"checkout, such as {', '.join(names[:_IGNORED_SHOWN])}. If they need some, name these:"
    )


def _carry(names: Sequence[str]) -> str:
    return f"carry: {json.dumps(names[:_IGNORED_SHOWN], ensure_ascii=False)}"


def baseline_document(
    results: Sequence[CommandResult],
    unusable: Sequence[UnusableCommand],
    commands: ProjectCommands,
    left_behind: Sequence[str] = (),
) -> str:
    """Return the text about the unusable commands; the same results give the same text. It names
    ignored files that the tests did not find.
    """
    known = {(result.name, result.argv): result for result in results}
    shown = unusable[:_MOST_SHOWN]
    title = "The baseline tells nothing"
    what = (
        "These commands ran at the base commit, before any change. What they say is nothing "
        "that a change\ncould be compared with."
    )
    again = (
        f"`reject` with a note runs setup and baseline once more, for example after {CONFIG} "
        "was mended."
    )
    without = "`approve` goes on and judges without these commands. The pull request says so."
    parts = [f"# {title}\n\n{what}\n", f"- {again}\n- {without}\n"]
    parts += [_part(command, known[command.name, command.argv], commands) for command in shown]
    if len(unusable) > _MOST_SHOWN:
        parts.append(f"{say('runs.baseline_document.more', count=len(unusable) - _MOST_SHOWN)}\n")
    if left_behind:
        parts.append(f"{_left_behind(left_behind)}\n\n{_settings(_carry(left_behind))}")
    return "\n".join(parts)


def _part(command: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> str:
    code = "" if result.timed_out else f" ({say('words.exit_code', code=result.exit_code)})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()[-_LINES_SHOWN:]]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice, configuration = _way_out(command, commands)
    return "\n".join(
        (
            f"## {command.name.value}: `{' '.join(command.argv)}`",
            "",
            f"{say(_CAUSES[command.cause])}{code}. The end of its output:",
            "",
            output,
            "",
            advice,
            "",
            _settings(*configuration),
        )
    )


def _settings(*lines: str) -> str:
    return "\n".join(("```yaml", f"# {CONFIG}", *lines, "```", ""))


_CAUSES = {
    Cause.SETUP_FAILED: "runs.baseline_document.setup_failed",
    Cause.MISSING_TOOL: "runs.baseline_document.missing_tool",
    Cause.TIMED_OUT: "runs.baseline_document.timed_out",
    Cause.USAGE_ERROR: "runs.baseline_document.usage_error",
    Cause.NOT_COLLECTED: "runs.baseline_document.not_collected",
    Cause.NO_TESTS: "runs.baseline_document.no_tests",
    Cause.ALL_RED: "runs.baseline_document.all_red",
    Cause.UNREADABLE: "runs.baseline_document.unreadable",
}


def _way_out(command: UnusableCommand, commands: ProjectCommands) -> tuple[str, Iterator[str]]:
    """Return a sentence on what may help, and the lines of a configuration."""
    every = [known.argv for known in commands.of(command.name)]
    match command.cause:
        case Cause.TIMED_OUT:
            return "Give it more time, or run less:", iter(["command_seconds: 3600"])
        case Cause.SETUP_FAILED:
            advice = (
                "Write down what installs it; where another version of an interpreter is asked for,"
                " call that one by its name. Credentials of a registry are named by"
                " `setup_credentials`, and their values given as FORGE_SETUP_NAME:"
            )
            other = ("path/to/install",)
            return advice, _lists(
                command.name, [other if argv == command.argv else argv for argv in every]
            )
        case _:
            others = [argv for argv in every if argv != command.argv]
            return "Write the command as this project calls it, or leave it out:", _lists(
                command.name, others
            )


def _lists(name: CommandName, commands: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "commands:"
    if not commands:
        yield f"  {name.value}: []"
        return
    yield f"  {name.value}:"
    for argv in commands:
        yield f"    - {json.dumps(list(argv), ensure_ascii=False)}"
