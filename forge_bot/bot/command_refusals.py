"""The answers to people whose commands a run did not take."""

from forge_bot.bot.command_reports import Telling
from forge_bot.bot.comments import CommandNames, CommentReply, RunView, command_replies
from forge_bot.errors import (
    AnswerNotOffered,
    ForgeError,
    NoGateOpen,
    NotesRequired,
    RunEnded,
    StaleApproval,
)
from forge_bot.gate import grammar as said
from forge_bot.runs.typed_answer import ANSWER_OF


def refusal(
    error: ForgeError, command: Telling, view: RunView, commands: CommandNames
) -> CommentReply:
    """Return the reply to somebody whose command was refused."""
    answer = ANSWER_OF[type(command)].value if type(command) in ANSWER_OF else "change"
    gate, decisions = view.state.gate, view.state.decisions
    match error:
        case StaleApproval() if gate is not None:
            return command_replies.stale_approval(
                view, gate, given=command.digest or "" if isinstance(command, said.Approve) else ""
            )
        case AnswerNotOffered() if gate is not None:
            return command_replies.not_offered(view, gate, answer=answer)
        case NotesRequired():
            return command_replies.notes_missing(commands)
        case RunEnded():
            return command_replies.ended_already(view)
        case NoGateOpen() if decisions and isinstance(command, said.Approve | said.Reject):
            return command_replies.already_answered(view, decisions[-1])
        case NoGateOpen():
            return command_replies.nothing_to_answer(view, answer=answer)
        case _:
            return command_replies.cannot(commands, error)
