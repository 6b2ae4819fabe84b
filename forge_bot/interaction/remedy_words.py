"""The way out of an error in the words of each face: the sentence every face shows, and the remedy
in the commands of this one.
"""

from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError, ReportRejected
from forge_bot.remedies import Remedy
from forge_bot.sentences import hint_of, say

if TYPE_CHECKING:
    from forge_bot.interaction.command_names import CommandNames

_AT_TERMINAL = {
    "resume": "Go on with `forge-bot resume`; nothing that was done is done again.",
    "start-run": 'Start a new run with forge-bot run "{task}".',
    "list-runs": "See `forge-bot list` for the runs of this repository.",
    "show-status": "`forge-bot status` shows where the run stands, with its documents and phases.",
    "read-help": "See `forge-bot COMMAND --help` for what an option takes.",
    "reject-with-notes": 'Say what should be different: forge-bot reject "…".',
    "approve-again": "Read the version that waits now and approve again.",
    "report-bug": "Please report this with the output of the same command under FORGE_BOT_DEBUG=1.",
    "set-key": "{key} `forge-bot demo` shows a whole run without a key.",
    "check-key": "{key} `forge-bot resume` then goes on with a run.",
}
_FOR_CLIENT = {
    "resume": "Then call pipeline_next_action; nothing that was done is done again.",
    "start-run": 'Start a new run with pipeline_init(arguments="{task}").',
    "list-runs": "See run_list for the runs of this repository.",
    "show-status": ("state_resume_info shows where the run stands, with its documents and phases."),
    "read-help": "See the tool's input schema for what an argument takes.",
    "reject-with-notes": (
        'Say what should be different: pipeline_next_action(user_response="reject: …").'
    ),
    "approve-again": "Show the version that waits now, and let the person approve again.",
    "report-bug": "Please report this with what the server printed.",
    "set-key": "{key}",
    "check-key": "{key}",
}
_IN_THREAD = {
    "resume": "remedies.resume",
    "start-run": "remedies.start_run",
    "list-runs": "remedies.list_runs",
    "show-status": "remedies.show_status",
    "read-help": "remedies.read_help",
    "reject-with-notes": "remedies.reject_with_notes",
    "approve-again": "remedies.approve_again",
    "report-bug": "remedies.report_bug",
}
"""The names of the sentences."""


def advice_at_terminal(error: ForgeError) -> str:
    """The way out for somebody at a terminal."""
    return _joined(_hint_for_people(error), _in_commands(remedy_for_people(error), _AT_TERMINAL))


def advice_for_client(error: ForgeError) -> str:
    """The way out for the model of an MCP client."""
    return _joined(hint_of(error), _in_commands(error.remedy, _FOR_CLIENT))


def advice_in_thread(error: ForgeError, commands: "CommandNames") -> str:
    """The way out for somebody in a thread, as Markdown."""
    # A server of MCP lists its tools without loading the prompts.
    from forge_bot.prompts import escape

    hint = escape.plain(_hint_for_people(error), 400)
    return _joined(hint, _in_thread(remedy_for_people(error), commands))


def remedy_for_people(error: ForgeError) -> Remedy | None:
    """Return the remedy for somebody who gives commands: to see where the run stands, where the
    hint is one for the model of a client.
    """
    return Remedy("show-status") if error.hint_name == ReportRejected.hint else error.remedy


def _hint_for_people(error: ForgeError) -> str:
    return "" if error.hint_name == ReportRejected.hint else hint_of(error)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _in_thread(remedy: Remedy | None, commands: "CommandNames") -> str:
    if remedy is None:
        return ""
    if remedy.kind not in _IN_THREAD:
        from forge_bot.prompts import escape

        return escape.plain(_in_commands(remedy, _FOR_CLIENT), 400)
    return say(
        _IN_THREAD[remedy.kind],
        again=commands.again,
        prefix=commands.prefix,
        status=commands.say("status"),
        help=commands.say("help"),
        reject=commands.form("reject"),
        approve=commands.say("approve"),
    )


def _in_commands(remedy: Remedy | None, words: dict[str, str]) -> str:
    if remedy is None:
        return ""
    return words[remedy.kind].format(task=remedy.about or "…", key=_about_key(remedy))


def _about_key(remedy: Remedy) -> str:
    """Return the words of a remedy outside of forge-bot, the same everywhere; empty for others."""
    match remedy:
        case Remedy("set-key", variable):
            key = (
                f"{variable} in the environment"
                if variable
                else "the provider's key in the environment, for example ANTHROPIC_API_KEY or"
                " OPENAI_API_KEY"
            )
            return f"Set {key}."
        case Remedy("check-key", variable):
            key = variable or "the key"
            model = "this model" if variable else "the model that is configured"
            return f"Check {key} in the environment, its account, and that it may use {model}."
        case _:
            return ""
