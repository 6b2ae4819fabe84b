"""A run's folder under .specs: names, atomic writes, one writer, the request, the reports and their
state.
"""

from forge_bot.store.files import (
    full,
    held,
    inside,
    is_full,
    told_when_full,
    without_room,
    write_whole,
)
from forge_bot.store.run_folder import (
    SPECS,
    Request,
    UnreadComment,
    Workspace,
    branch_name,
    read_request,
    render_request,
    slug,
    workspace_name,
)

__all__ = [
    "SPECS",
    "Request",
    "UnreadComment",
    "Workspace",
    "branch_name",
    "full",
    "held",
    "inside",
    "is_full",
    "read_request",
    "render_request",
    "slug",
    "told_when_full",
    "without_room",
    "workspace_name",
    "write_whole",
]
