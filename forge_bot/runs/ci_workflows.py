"""The names of a repository's own checks: workflows that run for a branch or its pull request, as
GitHub calls them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from forge_bot.git import Repository

FOLDER = ".github/workflows"
_LARGEST = 500_000


def check_workflows(repository: Repository, own: str) -> tuple[str, ...]:
    """The names by which `workflow_run` knows the workflows that check pull requests, in the order
    of their files, without the file `own`.

    A workflow without a name is called by its path. Files that are no workflows are passed over.
    """
    folder = repository.root / FOLDER
    files = sorted(
        path
        for path in folder.glob("*.y*ml")
        if path.suffix in {".yml", ".yaml"} and path.is_file()
    )
    names = (_name(path) for path in files if f"{FOLDER}/{path.name}" != own)
    return tuple(dict.fromkeys(name for name in names if name))


def read_workflow(text: str | bytes) -> dict[str, Any]:
    """Return what a workflow says, as text, lists and mappings; nothing of a file that is none."""
    try:
        # The loader that knows nothing but text, lists and mappings: for any other, `on` is a truth
        # value.
        return mapping_of(yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError):
        return {}


def _name(path: Path) -> str:
    if path.stat().st_size > _LARGEST:
        return ""
    workflow = read_workflow(path.read_bytes())
    if not any(_checks_branches(event, about) for event, about in _events(workflow.get("on"))):
        return ""
    name = workflow.get("name")
    return (name.strip() if isinstance(name, str) else "") or f"{FOLDER}/{path.name}"


def _events(on: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The forms of `on`: one name, several, or a mapping (workflow syntax, `on`)."""
    if isinstance(on, dict):
        yield from (
            (str(event), mapping_of(about))
            for event, about in cast("dict[object, object]", on).items()
        )
    else:
        names = cast("list[object]", on) if isinstance(on, list) else [on]
        yield from ((str(name), {}) for name in names)


def _checks_branches(event: str, about: Mapping[str, Any]) -> bool:
    """Return whether it runs for a branch that nobody named: a push that is limited to named
    branches or to tags does not.
    """
    if event != "push":
        return event == "pull_request"
    branches = about.get("branches")
    named = cast("list[object]", branches) if isinstance(branches, list) else [branches]
    return (
        any("*" in str(branch) for branch in named) if branches is not None else "tags" not in about
    )


def mapping_of(value: object) -> dict[str, Any]:
    """Return a mapping; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
