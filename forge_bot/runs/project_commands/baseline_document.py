"""baseline.md: the commands without a usable result before the change, and what they printed."""

import json
from collections.abc import Sequence

from forge_bot.runs.notifications import Message, Notify
from forge_bot.sentences import say
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import code_block, several
from forge_bot.values import CommandResult
from forge_bot.verification.judgement import Cause, UnusableCommand, said_before

BASELINE = "baseline.md"
_MOST_SHOWN = 8
_IGNORED_SHOWN = 5
_LONGEST_LINE = 400

_HEAD = f"""\
# The baseline tells nothing

These commands ran at the base commit, before any change. What they say is nothing that a change
could be compared with.

- `reject` with a note runs setup and baseline once more, for example after {CONFIG} was mended.
- `approve` goes on and judges without these commands. The pull request says so.
"""
_WRITE_DOWN = (
    f"Write the command in {CONFIG} as this project calls it, under `commands:`, or leave it out "
    "there (`[]`)."
)
_ADVICE = {
    Cause.TIMED_OUT: f"Give it more time with `command_seconds` in {CONFIG}, or run less.",
    Cause.SETUP_FAILED: (
        f"Write down what installs it under `commands:` in {CONFIG}; where another version of an "
        "interpreter is asked for, call that one by its name. Credentials of a registry are named "
        "by `setup_credentials`, and their values given as FORGE_SETUP_NAME."
    ),
}


def tell_of_red(results: Sequence[CommandResult], left_behind: Sequence[str], tell: Notify) -> None:
    """Tell how many failures there were before any change, if there were some, and which ignored
    files the tests did not find.
    """
    if red := sum(len(result.failures) for result in results if result.exit_code != 0):
        was = "was" if red == 1 else "were"
        text = f"{several(red, 'failure')} {was} there before the change; only new ones count"
        tell(Message(text=text))
    if left_behind:
        tell(Message(text=_left_behind(left_behind)))


def _left_behind(names: Sequence[str]) -> str:
    carry = json.dumps(names[:_IGNORED_SHOWN], ensure_ascii=False)
    return (
        "The tests ran in a tree of their own, without the files that git ignores in your "
        f"checkout. If they need some, name these in {CONFIG}: `carry: {carry}`"
    )


def baseline_document(
    results: Sequence[CommandResult],
    unusable: Sequence[UnusableCommand],
    left_behind: Sequence[str] = (),
) -> str:
    """Return the text about the unusable commands; the same results give the same text. It names
    ignored files that the tests did not find.
    """
    known = {(result.name, result.argv): result for result in results}
    shown = unusable[:_MOST_SHOWN]
    parts = [_HEAD, *(_part(command, known[command.name, command.argv]) for command in shown)]
    if len(unusable) > _MOST_SHOWN:
        parts.append(f"{say('runs.baseline_document.more', count=len(unusable) - _MOST_SHOWN)}\n")
    if left_behind:
        parts.append(f"{_left_behind(left_behind)}\n")
    return "\n".join(parts)


def _part(command: UnusableCommand, result: CommandResult) -> str:
    code = "" if result.timed_out else f" ({say('words.exit_code', code=result.exit_code)})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice = _ADVICE.get(command.cause, _WRITE_DOWN)
    what = f"{said_before(command)}{code}. The end of its output:"
    head = f"## {command.name.value}: `{' '.join(command.argv)}`"
    return "\n\n".join((head, what, output, f"{advice}\n"))
