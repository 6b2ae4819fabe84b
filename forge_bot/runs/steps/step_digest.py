"""The line of a question with the digest of what an acting step would do."""

import hashlib
import json
from collections.abc import Sequence

from forge_bot.engine.step_contracts import FileToWrite, IssueToOpen
from forge_bot.engine.steps import Step

_APPROVED = "- `{step}` {acts} exactly this: sha256 {digest}"


def approval_line(step: Step, what: Sequence[FileToWrite] | Sequence[IssueToOpen]) -> str:
    """Return the line of a question by which an acting step finds its approval."""
    named = [list(each.model_dump(mode="json").values()) for each in what]
    digest = hashlib.sha256(json.dumps(named, ensure_ascii=False).encode()).hexdigest()
    acts = "writes" if step.kind == "fs_write" else "opens"
    return _APPROVED.format(step=step.step, acts=acts, digest=digest)


def approves(
    question: str, step: Step, what: Sequence[FileToWrite] | Sequence[IssueToOpen]
) -> bool:
    """Return whether a question has that line."""
    return approval_line(step, what) in question.splitlines()
