"""The ways out that errors name for people at a terminal, as an MCP client can take them: the tool and its arguments."""

import re

_COMMAND = re.compile(
    r"`forge-bot (?P<quoted>run|list|status|resume|reject|abandon|retry)(?: \"[^\"`]*\")?`"
    r"|forge-bot (?P<plain>run|list|status|resume|reject|abandon|retry)(?: \"(?P<words>[^\"]*)\")?"
    r"|`forge-bot COMMAND --help`"
)
_TOOLS = {
    "run": 'pipeline_init(arguments="{words}")',
    "list": "run_list",
    "status": "state_resume_info",
    "resume": "pipeline_next_action",
    "reject": 'pipeline_next_action(user_response="reject: {words}")',
    "abandon": "run_control(operation=abandon)",
    "retry": "run_control(operation=retry)",
}


def client_hint(advice: str) -> str:
    """The advice with our own commands named as tools; those that no tool stands for are left, since a terminal takes them."""
    return _COMMAND.sub(_tool, advice)


def _tool(found: re.Match[str]) -> str:
    command = found["quoted"] or found["plain"]
    if command is None:
        return "the tool's input schema"
    # Options of a command have no counterpart, so the command stays as it is.
    if found.string[found.end() :].startswith(" --"):
        return found[0]
    return _TOOLS[command].format(words=found["words"] or "…")
