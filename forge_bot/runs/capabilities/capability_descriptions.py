"""The menu of a prompt: each capability in a sentence, with an example of a request."""

import json

from forge_bot.agent.capabilities import CapabilityType, Effect
from forge_bot.agent.providers.provider_catalogue import CapabilitySpec
from forge_bot.prompts.material import Capability
from forge_bot.prompts.untrusted import clean
from forge_bot.text_format import cut

_NEEDED = 1_200
"""Characters about the needed parameters of a capability."""

_EXAMPLES: dict[str, dict[str, object]] = {
    "code_graph": {"show": "import_graph", "about": "src/app.py"},
    "git_diff": {"path": "src/app.py", "base": "v1.2"},
    "git_log": {"path": "src/app.py", "count": 5},
    "lint_check": {"paths": ["src/app.py"]},
    "list_files": {"path": "tests", "glob": "test_*.py"},
    "past_runs": {"query": "retry after a timeout"},
    "read_file": {"path": "src/app.py", "start": 1, "end": 80},
    "run_snippet": {"code": "from app import parse\nprint(parse('a->b'))"},
    "run_tests": {"paths": ["tests/test_app.py"]},
    "search_code": {"pattern": "def main", "path": "src/**/*.py"},
}
"""One valid request for each capability. A wrong parameter gets the full list back."""


def describe_capability(entry: CapabilitySpec) -> Capability:
    sample = _EXAMPLES.get(entry.name, {})
    unseen = [parameter for parameter in entry.parameters if parameter.name not in sample]
    free = [
        f"`{parameter.name}`"
        for parameter in entry.parameters
        if not parameter.required and parameter in unseen
    ]
    needed = "; ".join(
        f"`{parameter.name}` ({parameter.kind}): {parameter.description}"
        for parameter in unseen
        if parameter.required
    )
    sentences = [f"Needs {cut(needed, _NEEDED)}."] if needed else []
    sentences += [f"Takes {', '.join(free)} too."] if free else []
    return Capability(
        name=entry.name,
        description=" ".join(
            (_clean(entry), *(_show_parameters(entry, sentence) for sentence in sentences))
        ),
        parameters=_show_parameters(entry, json.dumps(sample, ensure_ascii=False)),
        kind=entry.kind.value,
    )


def _show_parameters(entry: CapabilitySpec, text: str) -> str:
    """Return what is told of parameters; for capabilities from outside without hidden text."""
    return text if entry.kind is CapabilityType.PROVIDER else clean(text).text


def _clean(entry: CapabilitySpec) -> str:
    """Return the description, and for capabilities from outside whether they change something."""
    if entry.kind is CapabilityType.PROVIDER:
        return entry.description
    sentences = {
        Effect.READS: "",
        Effect.RUNS: "",
        Effect.ACTS: " It may change something: it is done after your turn, and you begin anew.",
    }
    return f"{_show_parameters(entry, entry.description)}{sentences[entry.effect]}"
