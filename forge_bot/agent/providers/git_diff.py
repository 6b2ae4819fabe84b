"""The changes since a commit, in the files as they are now."""

from pathlib import Path

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.paths import normalise
from forge_bot.agent.providers.git_read_only import RECORDS, git
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
from forge_bot.values import Frozen

# Inside a submodule git obeys the settings of that repository, which a command may have made there.
# The option wins over `ignore` in .gitmodules, which wins over settings.
_FORM = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--stat", "--patch")


class GitDiff(Frozen):
    """Show the difference between a commit and the files as they are now, without .specs."""

    base: str | None = Field(
        default=None, description="commit, branch or tag; where this work began if left out"
    )
    path: str | None = Field(default=None, description="only this file or folder")


def git_diff(root: Path, wanted: GitDiff, limit: int, start: str) -> ProviderResult:
    """Return a unified diff. `start` is the base when none is named."""
    path = normalise(wanted.path or "")
    scope = [f":(literal){path}"] if path else [":(top)", f":(top,exclude){RECORDS}"]
    commit = _commit(root, wanted.base or start)
    said = git(root, "diff", *_FORM, commit, "--", *scope)
    if said.code and not said.cut:
        raise Declined(ResultStatus.TOOL_ERROR, f"git cannot compare: {said.complaint[:300]}")
    new = git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *scope).text.rstrip(
        "\0"
    )
    named = "".join(f"Not tracked yet: {name}\n" for name in new.split("\0") if name)
    return (
        head(named + said.text, limit, f"since {commit[:12]}")
        if named or said.text
        else ProviderResult(content="No difference.")
    )


def _commit(root: Path, base: str) -> str:
    """Return the full id of a commit, so that no text of the model is in the command line."""
    if any(not char.isprintable() for char in base):
        raise Declined(ResultStatus.INVALID_PARAMS, "A commit's name has no control characters.")
    said = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if said.code or not said.text.strip():
        raise Declined(ResultStatus.INVALID_PARAMS, f"There is no commit {base}.")
    return said.text.strip()
