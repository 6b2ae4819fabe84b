"""The workflows of a repository on GitHub: those that check its changes, and ours, with the pin and
the key that it needs; and where forge-bot itself is hosted.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from forge_bot import __version__
from forge_bot.forge.github.names import HOST, WORKFLOWS
from forge_bot.resources import templates

WORKFLOW = f"{WORKFLOWS}/forge-bot.yml"
WAKE_WORKFLOW = f"{WORKFLOWS}/forge-bot-wake.yml"
ACTION = "forge-bot/forge-bot"
_HOME = f"https://{HOST}/{ACTION}"
_LISTENS = re.compile(r"^ *#[^\n]*\n[^\n]*__CI__[^\n]*\n", re.MULTILINE)
"""The event by which GitHub tells of its own checks, with the remark above it."""

_USED = re.compile(rf"(uses: ){re.escape(ACTION)}@\S+(?: # v\S+)?")
_NAMED = re.compile(r"(workflow_run: \{ workflows: )\[[^\]\n]*\]")


def schema_address(name: str) -> str:
    """Return the URL of this version's JSON Schema: `config` or `pipeline`."""
    files = f"https://raw.githubusercontent.com/{ACTION}/v{__version__}"
    return f"{files}/templates/schemas/{name}.json"


def page_address(name: str) -> str:
    """Return the URL of a page of this version's documentation."""
    return f"{_HOME}/blob/v{__version__}/docs/{name}.md"


def pinned(commit_of_tag: Callable[[str, str], str | None]) -> tuple[str, bool]:
    """The action of this release as a workflow names it, and whether it is held fast by its commit,
    which `commit_of_tag` asks its repository for; a tag can be moved.
    """
    tag = f"v{__version__}"
    commit = commit_of_tag(_HOME, tag)
    return (f"{ACTION}@{commit} # {tag}", True) if commit else (f"{ACTION}@{tag}", False)


def renew_workflow(text: str, action: str, checks: Sequence[str] = ()) -> str:
    """Return a workflow with another version of the action and other names of checks. Everything
    else stays as a person has it. Without `checks` the names stay too.
    """
    text = _USED.sub(rf"\g<1>{action}", text)
    names = json.dumps(list(checks), ensure_ascii=False)
    return _NAMED.sub(lambda listed: listed[1] + names, text) if checks else text


def wake_workflow_text(action: str) -> str:
    """Return the workflow by which runs that wait are looked after."""
    text = (templates() / "github" / Path(WAKE_WORKFLOW).name).read_text(encoding="utf-8")
    return text.replace("__ACTION__", action)


def workflow_text(action: str, key: str, checks: Sequence[str] = (), extra: str = "") -> str:
    """The file. `checks` are the names of workflows whose failure wakes the bot; where there are
    none, it does not listen to any. `extra` is the package of the model's provider.
    """
    text = (templates() / "github" / Path(WORKFLOW).name).read_text(encoding="utf-8")
    text = text.replace("__ACTION__", action).replace("__KEY__", key)
    given = f"with: {{ extras: {extra or 'bedrock'} }}"
    text = text.replace(f"{'' if not extra else '# '}with: {{ extras: __EXTRAS__ }}", given)
    if checks:
        # A list in JSON is one in YAML.
        return text.replace("__CI__", json.dumps(list(checks), ensure_ascii=False))
    return _LISTENS.sub("", text)


def check_workflows(root: Path, own: str) -> tuple[str, ...]:
    """The names by which `workflow_run` knows the workflows that check pull requests, in the order
    of their files, without the file `own`.

    A workflow without a name is called by its path. Files that are no workflows are passed over.
    """
    folder = root / WORKFLOWS
    names = list[str]()
    for path in sorted(folder.glob("*.y*ml")):
        workflow, place = read_workflow(path.read_bytes()), f"{WORKFLOWS}/{path.name}"
        if place != own and _checks_branches(workflow.get("on")):
            names.append(str(workflow.get("name") or place).strip())
    return tuple(dict.fromkeys(names))


def read_workflow(text: str | bytes) -> dict[str, Any]:
    """Return what a workflow says, as text, lists and mappings; nothing of a file that is none."""
    import yaml

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
