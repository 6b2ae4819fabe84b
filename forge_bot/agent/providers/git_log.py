"""The last commits, of the whole repository or of one path."""

from pathlib import Path

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.paths import normalise
from forge_bot.agent.providers.git_read_only import git
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
from forge_bot.values import Frozen

_COMMITS = 20


class GitLog(Frozen):
    """Show the latest commits, newest first: hash, date, author, subject."""

    path: str | None = Field(
        default=None, description="only commits that touch this file or folder"
    )
    count: int | None = Field(
        default=None, ge=1, le=200, description=f"how many commits, {_COMMITS} if left out"
    )


def git_log(root: Path, wanted: GitLog, limit: int) -> ProviderResult:
    """Return one line for each commit."""
    scope = [f":(literal){path}"] if (path := normalise(wanted.path or "")) else []
    shown = "--format=%h %ad %an: %s"
    said = git(
        root, "log", f"--max-count={wanted.count or _COMMITS}", "--date=short", shown, "--", *scope
    )
    if said.code:
        raise Declined(ResultStatus.TOOL_ERROR, f"git has no log to show: {said.complaint[:300]}")
    return head(said.text, limit) if said.text else ProviderResult(content="No commits.")
