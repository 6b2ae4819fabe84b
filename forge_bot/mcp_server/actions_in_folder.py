"""Name the folder in an action of another served folder than the default one."""

from pathlib import Path

from forge_bot.mcp_server.client_actions import ClientAction
from forge_bot.mcp_server.tool_schemas import (
    CheckpointAction,
    ExecAction,
    HumanGateAction,
    SpawnAgentAction,
    WireAction,
    WriteFileAction,
)

_THERE = (
    "The repository is in {root}. All paths below count from that folder, and commands run in"
    " it.\n\n{prompt}"
)
_IN_FOLDER = 'cd "$0" && exec "$@"'


def placed(found: ClientAction, root: Path) -> ClientAction:
    """Return the action with the folder's name."""
    return found._replace(action=_placed(found.action, root))


def _placed(action: WireAction, root: Path) -> WireAction:
    match action:
        case SpawnAgentAction():
            return action.replace(prompt=_THERE.format(root=root, prompt=action.prompt))
        case WriteFileAction():
            return action.replace(path=f"{root}/{action.path}")
        case ExecAction(commands=("git", *words)):
            return action.replace(commands=("git", "-C", str(root), *words))
        case ExecAction():
            # As arguments of the shell and not in its script: nothing in them can end a word.
            return action.replace(commands=("sh", "-c", _IN_FOLDER, str(root), *action.commands))
        case CheckpointAction() | HumanGateAction():
            return action.replace(
                present_to_user=f"In the repository `{root}`:\n\n{action.present_to_user}"
            )
        case _:
            return action
