"""The way out of an error in the words of each face: the sentence every face shows, and the remedy
in the commands of this one.
"""

import shlex
from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError, ReportRejected
from forge_bot.remedies import (
    ApproveAgain,
    CheckKey,
    GiveBranchBack,
    ListRuns,
    ReadHelp,
    RejectWithNotes,
    Remedy,
    ReportBug,
    Resume,
    SetKey,
    ShowStatus,
    StartRun,
)
from forge_bot.sentences import hint_of, say

if TYPE_CHECKING:
    from forge_bot.interaction.command_names import CommandNames


def advice_at_terminal(error: ForgeError) -> str:
    """The way out for somebody at a terminal."""
    return _joined(_hint_for_people(error), remedy_at_terminal(remedy_for_people(error)))


def advice_for_client(error: ForgeError) -> str:
    """The way out for the model of an MCP client."""
    return _joined(hint_of(error), remedy_for_client(error.remedy))


def advice_in_thread(error: ForgeError, commands: "CommandNames") -> str:
    """The way out for somebody in a thread, as Markdown."""
    # A server of MCP lists its tools without loading the prompts.
    from forge_bot.prompts import escape

    hint = escape.plain(_hint_for_people(error), 400)
    return _joined(hint, remedy_in_thread(remedy_for_people(error), commands))


def remedy_for_people(error: ForgeError) -> Remedy | None:
    """Return the remedy for somebody who gives commands: to see where the run stands, where the
    hint is one for the model of a client.
    """
    return ShowStatus() if error.hint_name == ReportRejected.hint else error.remedy


def _hint_for_people(error: ForgeError) -> str:
    return "" if error.hint_name == ReportRejected.hint else hint_of(error)


def _joined(*sentences: str) -> str:
    return " ".join(each for each in sentences if each)


def remedy_at_terminal(remedy: Remedy | None) -> str:
    """A remedy in commands of the terminal."""
    match remedy:
        case None:
            return ""
        case Resume():
            return say("remedies.at_terminal.resume")
        case StartRun():
            return say("remedies.at_terminal.start_run", task=remedy.task)
        case ListRuns():
            return say("remedies.at_terminal.list_runs")
        case ShowStatus():
            return say("remedies.at_terminal.show_status")
        case ReadHelp():
            return say("remedies.at_terminal.read_help")
        case RejectWithNotes():
            return say("remedies.at_terminal.reject_with_notes")
        case ApproveAgain():
            return say("remedies.at_terminal.approve_again")
        case SetKey() | CheckKey():
            is_missing = isinstance(remedy, SetKey)
            after = say("remedies.or_see_the_demo" if is_missing else "remedies.then_resume")
            return _joined(_on_the_machine(remedy), after)
        case GiveBranchBack():
            return _on_the_machine(remedy)
        case ReportBug():
            return say("remedies.at_terminal.report_bug")


def remedy_for_client(remedy: Remedy | None) -> str:
    """A remedy in calls of tools."""
    match remedy:
        case None:
            return ""
        case Resume():
            return say("remedies.for_client.resume")
        case StartRun():
            return say("remedies.for_client.start_run", task=remedy.task)
        case ListRuns():
            return say("remedies.for_client.list_runs")
        case ShowStatus():
            return say("remedies.for_client.show_status")
        case ReadHelp():
            return say("remedies.for_client.read_help")
        case RejectWithNotes():
            return say("remedies.for_client.reject_with_notes")
        case ApproveAgain():
            return say("remedies.for_client.approve_again")
        case SetKey() | CheckKey() | GiveBranchBack():
            return _on_the_machine(remedy)
        case ReportBug():
            return say("remedies.for_client.report_bug")


def remedy_in_thread(remedy: Remedy | None, commands: "CommandNames") -> str:
    """A remedy in commands of the thread, as Markdown."""
    match remedy:
        case None:
            return ""
        case Resume():
            return say("remedies.in_thread.resume", again=commands.again)
        case StartRun():
            return say("remedies.in_thread.start_run", prefix=commands.prefix)
        case ListRuns():
            return say("remedies.in_thread.list_runs", status=commands.say("status"))
        case ShowStatus():
            return say("remedies.in_thread.show_status", status=commands.say("status"))
        case ReadHelp():
            return say("remedies.in_thread.read_help", help=commands.say("help"))
        case RejectWithNotes():
            return say("remedies.in_thread.reject_with_notes", reject=commands.form("reject"))
        case ApproveAgain():
            return say("remedies.in_thread.approve_again", approve=commands.say("approve"))
        case SetKey() | CheckKey() | GiveBranchBack():
            from forge_bot.prompts import escape

            return escape.plain(_on_the_machine(remedy), 400)
        case ReportBug():
            return say("remedies.in_thread.report_bug")


def _on_the_machine(remedy: SetKey | CheckKey | GiveBranchBack) -> str:
    """Return the words of a remedy outside of forge-bot, the same everywhere."""
    match remedy:
        case SetKey():
            return (
                say("remedies.set_key", variable=remedy.variable)
                if remedy.variable
                else say("remedies.set_the_providers_key")
            )
        case CheckKey():
            return (
                say("remedies.check_key", variable=remedy.variable)
                if remedy.variable
                else say("remedies.check_the_key")
            )
        case GiveBranchBack():
            return say(
                "remedies.give_branch_back",
                renamed=shlex.quote(remedy.renamed),
                branch=shlex.quote(remedy.branch),
            )
