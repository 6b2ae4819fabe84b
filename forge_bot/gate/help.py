"""The commands as a person reads them, made from the grammar."""

from forge_bot.gate.grammar import FORMS
from forge_bot.gate.messages import reply_mark
from forge_bot.gate.parse_comment import PREFIX
from forge_bot.gate.task_flags import SWITCHES, VALUES
from forge_bot.sentences import say

BAR = r"\|"
"""A bar inside of a cell, also inside of code there."""


def command_table(prefix: str = PREFIX, *, bare: bool = True) -> str:
    """All commands as a table of Markdown."""
    rows = [_row(form.usage(prefix, bare=bare), say(form.meaning)) for form in FORMS]
    return "\n".join([say("gate.help.commands"), "| --- | --- |", *rows])


def _row(written: str, meaning: str) -> str:
    return f"| `{written.replace('|', BAR)}` | {meaning} |"


_EXAMPLES = {"effort": "S|M|L", "budget": "5", "pipeline": "NAME", "in": "FOLDER"}


def flag_table() -> str:
    """The flags of the command that starts a run, as a table of Markdown."""
    values = [_row(f"--{name} {_EXAMPLES[name]}", say(meaning)) for name, meaning in VALUES.items()]
    switches = [_row(f"--{name}", say(meaning)) for name, meaning in SWITCHES.items()]
    return "\n".join([say("gate.help.flags"), "| --- | --- |", *values, *switches])


def help_text(prefix: str, *, bare: bool) -> str:
    """The answer to `/help`."""
    how = say("gate.help.how")
    if bare:
        how = f"{how} {say('gate.help.both', prefix=prefix)}"
    return "\n\n".join(
        [
            command_table(prefix, bare=bare),
            say("gate.help.flags_of", prefix=prefix),
            flag_table(),
            how,
        ]
    )


def help_reply(prefix: str, comment: int, *, bare: bool) -> str:
    """Return the answer to a comment that asks for help and nothing else."""
    return f"{help_text(prefix, bare=bare)}\n\n{reply_mark(comment)}"
