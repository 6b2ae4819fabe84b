"""A run's folder under .specs: names, whole writes, one writer, the request, the truth and its fold."""

from forge_bot.workspace.files import append_line, inside, write_whole
from forge_bot.workspace.layout import SPECS, branch_name, slug, workspace_name
from forge_bot.workspace.lock import held
from forge_bot.workspace.request import Request, read_request, render_request
from forge_bot.workspace.store import Loaded, Workspace

__all__ = [
    "SPECS",
    "Loaded",
    "Request",
    "Workspace",
    "append_line",
    "branch_name",
    "held",
    "inside",
    "read_request",
    "render_request",
    "slug",
    "workspace_name",
    "write_whole",
]
