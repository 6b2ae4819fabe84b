"""Every sentence that the gate says, in comments and in the log of its step."""

import re

from forge_bot.gate.authorise import Denied, DenyReason
from forge_bot.gate.gate_result import Result
from forge_bot.gate.roles import Role
from forge_bot.gate.written_command import LONGEST_SHOWN, Mistyped

_INVISIBLE = re.compile(r"[^\w!-~ ]|`")
OWN_MARK = "<!-- forge-bot:"


def tracking_mark(issue: int) -> str:
    """The last line of the one comment that tells how the run of an issue is doing."""
    return f"{OWN_MARK}tracking issue={issue} -->"


def reply_mark(comment: int) -> str:
    """The last line of an answer to one comment."""
    return f"{OWN_MARK}reply to={comment} -->"


REFUSAL_MARK = f"{OWN_MARK}refusal -->"
"""The last line of the one answer in a thread to people who may not give commands there."""


BEGUN = "👀 forge-bot has begun."
"""How the tracking comment begins until somebody who works writes it anew."""

NOT_BEGUN = "No run was begun; the comment below says why, and what to do."
"""The tracking comment of a run that could not begin."""


def beginning(run_url: str, issue: int) -> str:
    """The first line of the tracking comment."""
    return f"{BEGUN} [What it is doing now]({run_url})\n\n{tracking_mark(issue)}"


def stranded_mark(run_url: str) -> str:
    """The last line of what is said when forge-bot could not be installed for a run of the
    workflow.
    """
    return f"{OWN_MARK}stranded run={run_url.rpartition('/runs/')[2]} -->"


def stranded(run_url: str, prefix: str) -> str:
    """Nothing could be installed. What people wrote stays unseen, so that the next job that can
    work carries it out.
    """
    return (
        "**forge-bot could not be set up on this machine, so nothing was done.** [The"
        f" log]({run_url}) of the step that installs says why. Nothing is lost: when that is"
        f" mended, run the job again, or write `{prefix}`."
    )


def no_server(message: str, hint: str, run_url: str, prefix: str, code: str) -> str:
    """The Temporal server that leads the runs did not take the event."""
    return (
        f"**{message} So nothing was done yet.** {hint} Nothing is lost, and nothing counts twice:"
        f" when that is mended, [run the job again]({run_url}), or write `{prefix}`; what people"
        f" wrote here meanwhile counts then. <sub>`{code}`</sub>"
    )


def worker_kept_out(message: str, run_url: str, prefix: str) -> str:
    """The worker of a Temporal server cannot reach the repository with its token."""
    return (
        f"**The worker that does the work here cannot reach this repository: {message}** Whoever"
        " runs `forge-bot worker` can give it another `GITHUB_TOKEN`, or install its App again."
        f" Nothing is lost: the worker looks again by itself, and `{prefix}` has it look at once."
        f" ([the job that noticed]({run_url}))"
    )


def worker_waits(message: str, way_out: str, run_url: str, prefix: str) -> str:
    """The worker of a Temporal server can write nothing here for now, or cannot do the work."""
    return (
        f"**The worker that does the work here does not go on for now: {message}** {way_out}Nothing"
        f" is lost: it looks again by itself, and `{prefix}` has it look at once."
        f" ([the job that noticed]({run_url}))"
    )


def refusal(refused: Denied, floor: Role, prefix: str) -> str:
    """One kind sentence for somebody who was refused."""
    who = f"@{refused.who}, " if refused.who else ""
    if refused.ground is DenyReason.ROLE:
        may = (
            f"Here forge-bot works for people with the role {floor.word} or higher, so nothing was"
            " done."
        )
        text = f"{who}thank you! {may} Somebody who has it can say the same."
    elif refused.ground is DenyReason.UNVERIFIED:
        text = (
            f"{who}GitHub did not say just now whether you may do that, so nothing was done. Please"
            " write it again in a few minutes."
        )
    else:
        text = (
            f"{who}{'nothing' if who else 'Nothing'} was done: {refused.sentence}. `{prefix} help`"
            " shows what can be said."
        )
    return f"{text}\n\n{REFUSAL_MARK}"


def summary(result: Result, reason: str, floor: Role) -> str:
    """Return the gate's part of the job summary, with the next step where there is one."""
    moves = {
        Result.REFUSED: (
            f"Nothing was done. Somebody with the role {floor.word} or higher can say it in a new"
            " comment."
        ),
        Result.UNVERIFIED: "Nothing was done. Run this job again, or write the command again.",
        Result.MISTYPED: (
            "Nothing was done. The answer in the thread says how it is written; write it in a new"
            " comment."
        ),
    }
    return f"forge-bot, at the gate: **{result.value}**, {reason}. {moves.get(result, '')}".rstrip()


def correction(mistyped: tuple[Mistyped, ...], prefix: str, comment: int, *, others: bool) -> str:
    """Return the correction of lines that were meant as commands. `others`: the comment had good
    ones too.
    """
    lines = [f"- Line {line.line}, {shown(line.written)}: {line.hint}" for line in mistyped]
    nothing = "so nothing in this comment was done" if others else "so nothing was done"
    said = (
        f"I did not understand that, {nothing}. Please write it in a new comment; edits are not"
        f" read. `{prefix} help` lists the commands."
    )
    return "\n".join([said, "", *lines, "", reply_mark(comment)])


def shown(text: str) -> str:
    """Somebody's words as code: on one line, without anything that is not seen, and not for
    long.
    """
    return f"`{_INVISIBLE.sub('�', text)[:LONGEST_SHOWN]}`"


def plain(text: str) -> str:
    """Somebody's words for a log: on one line, without control characters, and not for long."""
    return " ".join(
        "".join(character if character.isprintable() else "�" for character in text).split()
    )[:200]
