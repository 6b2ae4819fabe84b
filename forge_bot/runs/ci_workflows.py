"""The names of a repository's own checks: workflows that run for a branch or its pull request, as
GitHub calls them.
"""

from typing import Any, cast

import yaml

from forge_bot.git import Repository

FOLDER = ".github/workflows"


def check_workflows(repository: Repository, own: str) -> tuple[str, ...]:
    """The names by which `workflow_run` knows the workflows that check pull requests, in the order
    of their files, without the file `own`.

    A workflow without a name is called by its path. Files that are no workflows are passed over.
    """
    folder = repository.root / FOLDER
    names = list[str]()
    for path in sorted(folder.glob("*.y*ml")):
        workflow, place = read_workflow(path.read_bytes()), f"{FOLDER}/{path.name}"
        if place != own and _checks_branches(workflow.get("on")):
            names.append(str(workflow.get("name") or place).strip())
    return tuple(dict.fromkeys(names))


def read_workflow(text: str | bytes) -> dict[str, Any]:
    """Return what a workflow says, as text, lists and mappings; nothing of a file that is none."""
    try:
        # The loader that knows nothing but text, lists and mappings: for any other, `on` is a truth
        # value.
        return mapping_of(yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError):
        return {}


def _checks_branches(on: object) -> bool:
    """Return whether a workflow runs for a branch that nobody named (workflow syntax, `on`)."""
    events = mapping_of(on)
    if not events:
        named = cast("list[object]", on) if isinstance(on, list) else [on]
        events = dict.fromkeys(map(str, named))
    push = mapping_of(events.get("push")).keys() & {"branches", "tags"}
    return "pull_request" in events or ("push" in events and not push)


def mapping_of(value: object) -> dict[str, Any]:
    """Return a mapping; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
