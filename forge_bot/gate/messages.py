"""Texts of the gate: comments, the list of commands, and the log of its step."""

from unicodedata import category

from forge_bot.forge import page_address
from forge_bot.forge.types import Role
from forge_bot.gate.flags import SWITCHES, VALUES
from forge_bot.gate.grammar import FORMS, LONGEST_SHOWN, Mistyped
from forge_bot.gate.parse_comment import PREFIX
from forge_bot.gate.people import Denied, DenyReason
from forge_bot.sentences import say

_SEEN = "LNPS"
"""Unicode's categories of letters, numbers, punctuation and symbols, emoji among them."""
_AS_PICTURE = "\ufe0f"
"""Stands behind an emoji and only says that it is drawn in colour."""
OWN_MARK = "<!-- forge-bot:"


def tracking_mark(issue: int) -> str:
    """The last line of the comment that shows the progress of an issue's run."""
    return f"{OWN_MARK}tracking issue={issue} -->"


def reply_mark(comment: int) -> str:
    """The last line of an answer to one comment."""
    return f"{OWN_MARK}reply to={comment} -->"


REFUSAL_MARK = f"{OWN_MARK}refusal -->"
"""The last line of the one answer in a thread to people who may not give commands there."""


BEGUN = "👀 forge-bot has begun."
"""The first words of the tracking comment until a worker writes it again, in every language."""


def beginning(run_url: str) -> str:
    """The first line of the tracking comment."""
    return f"{BEGUN} {say('gate.what_it_is_doing_now', run_url=run_url)}"


def stranded_mark(run_url: str) -> str:
    """Return the last line of the comment on a failed installation for a run of the workflow."""
    return f"{OWN_MARK}stranded run={run_url.rpartition('/runs/')[2]} -->"


def stranded(run_url: str, prefix: str) -> str:
    """Nothing could be installed. What people wrote stays unseen, so that the next job that can
    work carries it out.
    """
    return say("gate.stranded", run_url=run_url, prefix=prefix)


def refusal_mark(refused: Denied, comment: int | None) -> str:
    """Return the last line of the answer to somebody who was refused: one in a thread for people
    who may not give commands, one for each comment while GitHub does not say who may.
    """
    if refused.ground is DenyReason.UNVERIFIED:
        return f"{OWN_MARK}unverified to={comment or 'label'} -->"
    return REFUSAL_MARK


def refusal(refused: Denied, floor: Role, prefix: str, *, run_url: str) -> str:
    """Return one kind sentence for somebody who was refused, by a comment or a label."""
    match refused.ground:
        case DenyReason.ROLE:
            text = say("gate.refused_for_role", role=floor.word, prefix=prefix)
        case DenyReason.UNVERIFIED:
            text = say("gate.not_verified", run_url=run_url, prefix=prefix)
        case _:
            text = say("gate.nothing_was_done", reason=refused.sentence, prefix=prefix)
    return f"@{refused.who}, {text}" if refused.who else text


def correction(mistyped: Mistyped, prefix: str) -> str:
    """Return the correction of a line that was meant as a command."""
    sentence = say("gate.not_understood", prefix=prefix)
    return f"{sentence}\n\n- {shown(mistyped.written)}: {mistyped.hint}"


def shown(text: str) -> str:
    """Somebody's words as code: on one line, without anything that is unseen, and not for long."""
    seen = (letter if _is_seen(letter) else "�" for letter in text.replace(_AS_PICTURE, ""))
    return f"`{''.join(seen)[:LONGEST_SHOWN]}`"


def _is_seen(letter: str) -> bool:
    return letter == " " or (letter != "`" and category(letter)[0] in _SEEN)


def plain(text: str) -> str:
    """Somebody's words for a log: on one line, without control characters, and not for long."""
    return " ".join(
        "".join(character if character.isprintable() else "�" for character in text).split()
    )[:200]


# -- the list of commands
# --------------------------------------------------------------------------------------------------

BAR = r"\|"
"""A bar inside of a cell, also inside of code there."""


def command_table(prefix: str = PREFIX, *, bare: bool = True) -> str:
    """All commands as a table of Markdown."""
    rows = [_row(form.usage(prefix, bare=bare), form.meaning) for form in FORMS]
    return "\n".join([say("gate.help.commands"), "| --- | --- |", *rows])


def _row(written: str, meaning: str) -> str:
    return f"| `{written.replace('|', BAR)}` | {meaning} |"


def help_text(prefix: str, *, bare: bool) -> str:
    """Return the answer to `/help`."""
    how = say("gate.help.how")
    if bare:
        how = f"{how} {say('gate.help.both', prefix=prefix)}"
    takes = [f"`--{name} {example}`" for name, example in VALUES.items()]
    names = " ".join([*takes, *(f"`--{name}`" for name in SWITCHES)])
    flags = say("gate.help.flags", prefix=prefix, names=names, page=page_address("thread"))
    return "\n\n".join([command_table(prefix, bare=bare), flags, how])
