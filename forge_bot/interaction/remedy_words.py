"""The way out of an error in the words of each face: the sentence every face shows, and the remedy
in the commands of this one.
"""

import shlex
from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError
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

if TYPE_CHECKING:
    from forge_bot.interaction.command_names import CommandNames

_DONE_ONCE = "nothing that was done is done again"


def advice_at_terminal(error: ForgeError) -> str:
    """The way out for somebody at a terminal."""
    return _joined(error.advice, remedy_at_terminal(error.remedy))


def advice_for_client(error: ForgeError) -> str:
    """The way out for the model of an MCP client."""
    return _joined(error.advice, remedy_for_client(error.remedy))


def advice_in_thread(error: ForgeError, commands: "CommandNames") -> str:
    """The way out for somebody in a thread, as Markdown."""
    # A server of MCP lists its tools without loading the prompts.
    from forge_bot.prompts import escape

    return _joined(escape.line(error.advice, 400), remedy_in_thread(error.remedy, commands))


def _joined(*sentences: str) -> str:
    return " ".join(each for each in sentences if each)


def remedy_at_terminal(remedy: Remedy | None) -> str:
    """A remedy in commands of the terminal."""
    match remedy:
        case None:
            return ""
        case Resume():
            return f"Go on with `forge-bot resume`; {_DONE_ONCE}."
        case StartRun():
            return f'Start a new run with forge-bot run "{remedy.task}".'
        case ListRuns():
            return "See `forge-bot list` for the runs of this repository."
        case ShowStatus():
            return "`forge-bot status` shows where the run stands, with its documents and phases."
        case ReadHelp():
            return "See `forge-bot COMMAND --help` for what an option takes."
        case RejectWithNotes():
            return 'Say what should be different: forge-bot reject "…".'
        case ApproveAgain():
            return "Read the version that waits now and approve again."
        case SetKey() | CheckKey() | GiveBranchBack():
            return _on_the_machine(remedy)
        case ReportBug():
            return "Please report this with the output of the same command under FORGE_BOT_DEBUG=1."


def remedy_for_client(remedy: Remedy | None) -> str:
    """A remedy in calls of tools."""
    match remedy:
        case None:
            return ""
        case Resume():
            return f"Then call pipeline_next_action; {_DONE_ONCE}."
        case StartRun():
            return f'Start a new run with pipeline_init(arguments="{remedy.task}").'
        case ListRuns():
            return "See run_list for the runs of this repository."
        case ShowStatus():
            return "state_resume_info shows where the run stands, with its documents and phases."
        case ReadHelp():
            return "See the tool's input schema for what an argument takes."
        case RejectWithNotes():
            return 'Say what should be different: pipeline_next_action(user_response="reject: …").'
        case ApproveAgain():
            return "Show the version that waits now, and let the person approve again."
        case SetKey() | CheckKey() | GiveBranchBack():
            return _on_the_machine(remedy)
        case ReportBug():
            return "Please report this with what the server printed."


def remedy_in_thread(remedy: Remedy | None, commands: "CommandNames") -> str:
    """A remedy in commands of the thread, as Markdown."""
    match remedy:
        case None:
            return ""
        case Resume():
            return f"Say `{commands.again}`; {_DONE_ONCE}."
        case StartRun():
            return f"`{commands.prefix}` starts a new run."
        case ListRuns():
            return f"`{commands.say('status')}` shows the run of this issue."
        case ShowStatus():
            return f"`{commands.say('status')}` says where the run stands."
        case ReadHelp():
            return f"`{commands.say('help')}` says what you can tell me."
        case RejectWithNotes():
            return f"Say what should be different: `{commands.form('reject')}`."
        case ApproveAgain():
            return f"Read the version that waits now and say `{commands.say('approve')}` again."
        case SetKey() | CheckKey() | GiveBranchBack():
            from forge_bot.prompts import escape

            return escape.line(_on_the_machine(remedy), 400)
        case ReportBug():
            return "Please report it with the log."


def _on_the_machine(remedy: SetKey | CheckKey | GiveBranchBack) -> str:
    """Return the words of a remedy outside of forge-bot, the same everywhere."""
    match remedy:
        case SetKey():
            named = remedy.variable or "the provider's key"
            example = "" if remedy.variable else ", for example ANTHROPIC_API_KEY or OPENAI_API_KEY"
            return f"Set {named} in the environment{example}."
        case CheckKey():
            allowed = "this model" if remedy.variable else "the model that is configured"
            return (
                f"Check {remedy.variable or 'the key'} in the environment, its account, and that it"
                f" may use {allowed}."
            )
        case GiveBranchBack():
            return (
                f"Give the branch its old name back: git branch -m {shlex.quote(remedy.renamed)}"
                f" {shlex.quote(remedy.branch)}"
            )
