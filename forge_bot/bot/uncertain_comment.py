"""Read a comment if the gate could not decide whether it has a command.

The gate wrote nothing. Here the comment is read as Markdown. If it has a command, the gate's part
follows now: the reaction, a correction, help, a refusal, the first line of the tracking comment.
Without a command nothing is written.
"""

from dataclasses import dataclass

from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.job_context import JobContext
from forge_bot.bot.thread import Thread
from forge_bot.gate import messages
from forge_bot.gate.authorise import Denied, RequestedOperation
from forge_bot.gate.environment_variables import Inputs
from forge_bot.gate.gate_result import Result
from forge_bot.gate.grammar import Command, Help
from forge_bot.gate.help import help_reply
from forge_bot.gate.intents import deed_of
from forge_bot.gate.written_command import Mistyped
from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.types import Comment
from forge_bot.interaction.command_names import CommandNames


@dataclass(frozen=True)
class ReadComment:
    """The continuation of the job: `around` with the values that the gate would have passed on, or
    None if the job ends here with `result`.
    """

    result: Result
    around: JobContext | None = None


def read_uncertain(github: GitHub, around: JobContext, inputs: Inputs) -> ReadComment:
    """Read the comment as Markdown, and write the first reply that belongs to it."""
    wake = around.wake
    thread = Thread(github, wake.issue, inputs)
    place = wake.thread or wake.issue
    comment = next((each for each in thread.comments(place) if each.id == wake.comment), None)
    said = thread.said(comment) if comment is not None else ()
    if comment is None or not said:
        return ReadComment(Result.NOTHING)
    writer = CommentWriter(
        github,
        thread,
        CommandNames(prefix=inputs.prefix, short=inputs.bare),
        around.url,
        around.run_url,
        clock=lambda: 0.0,
        pause=0.0,
        tip=lambda _branch: "",
    )
    verdict = thread.verdict(comment)
    if isinstance(verdict, Denied):
        _refuse(writer, comment, place, verdict)
        return ReadComment(Result.REFUSED)
    return _admit(writer, comment, place, said, around)


def _admit(
    writer: CommentWriter,
    comment: Comment,
    place: int,
    said: tuple[Command | Mistyped, ...],
    around: JobContext,
) -> ReadComment:
    prefix = writer.commands.prefix
    mistyped = tuple(part for part in said if isinstance(part, Mistyped))
    writer.react(comment, "eyes")
    if mistyped:
        others = len(said) > len(mistyped)
        text = messages.correction(mistyped, prefix, comment.id, others=others)
        writer.answer(comment, place, "confused", text)
        return ReadComment(Result.MISTYPED)
    if all(isinstance(part, Help) for part in said):
        text = help_reply(prefix, comment.id, bare=writer.commands.short)
        writer.answer(comment, place, "+1", text)
        return ReadComment(Result.HELPED)
    deed = deed_of(said)
    known: dict[str, object] = {"certain": True, "deed": deed.value}
    if deed is RequestedOperation.START:
        known["tracking_comment"] = writer.begin()
    wake = around.wake.model_copy(update=known)
    return ReadComment(Result.PROCEED, around.replace(wake=wake))


def _refuse(writer: CommentWriter, comment: Comment, place: int, refused: Denied) -> None:
    """Tell somebody in a thread, once, that they may not give commands; the comment or the role
    changed after the gate had asked.
    """
    if not refused.told:
        return
    writer.react(comment, "confused")
    own = (each.body.rstrip() for each in writer.thread.comments(place) if writer.thread.own(each))
    mark = messages.refusal_mark(refused, comment.id)
    if not any(body.endswith(mark) for body in own):
        inputs = writer.thread.inputs
        text = messages.refusal(
            refused,
            inputs.policy.floor,
            inputs.prefix,
            run_url=writer.job,
            comment=comment.id,
        )
        writer.write(place, text)
