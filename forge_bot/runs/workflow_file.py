"""The workflow by which a repository on GitHub uses forge-bot: its text, the pin in it, the labels
and the key that it needs.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from forge_bot import __version__
from forge_bot.agent.models.known_providers import EXTRAS
from forge_bot.git import Repository
from forge_bot.resources import templates
from forge_bot.values import Frozen

WORKFLOWS = ".github/workflows"
WORKFLOW = f"{WORKFLOWS}/forge-bot.yml"
WAKE_WORKFLOW = f"{WORKFLOWS}/forge-bot-wake.yml"
ACTION = "forge-bot/forge-bot"
_HOME = f"https://github.com/{ACTION}"
_LISTENS = re.compile(r"^ *#[^\n]*\n[^\n]*__CI__[^\n]*\n", re.MULTILINE)
"""The event by which GitHub tells of its own checks, with the remark above it."""

_USED = re.compile(rf"(uses: ){re.escape(ACTION)}@\S+(?: # v\S+)?")
_NAMED = re.compile(r"(workflow_run: \{ workflows: )\[[^\]\n]*\]")


UNANSWERED = "unanswered"
"""The second part of the label of an issue whose question waits for long."""


class Label(Frozen):
    """A label that forge-bot listens to."""

    name: str
    color: str
    meaning: str
    """The name of the sentence that GitHub shows beside it."""


LABELS = (
    Label(name="forge", color="5319e7", meaning="runs.workflow_file.label_starts_a_run"),
    Label(name="forge:S", color="c5def5", meaning="runs.workflow_file.label_short_way"),
    Label(name="forge:L", color="c5def5", meaning="runs.workflow_file.label_long_way"),
    Label(name="forge:auto", color="c5def5", meaning="runs.workflow_file.label_auto"),
    Label(
        name=f"forge:{UNANSWERED}", color="fbca04", meaning="runs.workflow_file.label_unanswered"
    ),
)


def key_name(model: str) -> str:
    """The variable that a provider's key is in, as providers name it: `openai-chat:x` has
    OPENAI_API_KEY.
    """
    provider = model.partition(":")[0].partition("-")[0]
    return f"{provider.upper() or 'ANTHROPIC'}_API_KEY"


def schema_address(name: str) -> str:
    """Return the URL of this version's JSON Schema: `config` or `pipeline`."""
    files = f"https://raw.githubusercontent.com/{ACTION}/v{__version__}"
    return f"{files}/templates/schemas/{name}.json"


def page_address(name: str) -> str:
    """Return the URL of a page of this version's documentation."""
    return f"{_HOME}/blob/v{__version__}/docs/{name}.md"


def pinned(repository: Repository) -> tuple[str, bool]:
    """The action of this release as a workflow names it, and whether it is held fast by its commit;
    a tag can be moved.
    """
    tag = f"v{__version__}"
    commit = repository.tag_elsewhere(_HOME, tag)
    return (f"{ACTION}@{commit} # {tag}", True) if commit else (f"{ACTION}@{tag}", False)


def extra_of(model: str) -> str:
    """The input `extras` that a model's provider needs; empty where its package is included."""
    provider = model.partition(":")[0].partition("-")[0]
    return provider if provider in EXTRAS else ""


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
