"""Describes in a prompt what a model may ask for: its parameters in words, and one request that
could be sent as it stands.
"""

import json

from forge_bot.agent.providers.catalogue import CapabilitySpec, Parameter
from forge_bot.prompts.material import Capability

_EXAMPLES: dict[str, dict[str, object]] = {
    "git_diff": {"path": "src/app.py"},
    "git_log": {"path": "src/app.py", "count": 5},
    "lint_check": {"paths": ["src/app.py"]},
    "list_files": {"path": "tests", "glob": "test_*.py"},
    "past_runs": {"query": "retry after a timeout"},
    "read_file": {"path": "src/app.py"},
    "run_tests": {"paths": ["tests/test_app.py"]},
    "search_code": {"pattern": "def main"},
}
"""One request for each capability that could be sent as it stands."""


def describe_capability(entry: CapabilitySpec) -> Capability:
    """The entry for the menu of a prompt."""
    words = "; ".join(_told(parameter) for parameter in entry.parameters)
    sample = _EXAMPLES.get(entry.name, {})
    return Capability(
        name=entry.name,
        description=f"{entry.description} Parameters: {words}. For example",
        parameters=json.dumps(sample, ensure_ascii=False),
    )


def _told(parameter: Parameter) -> str:
    optional = "" if parameter.required else ", optional"
    return f"`{parameter.name}` ({parameter.kind}{optional}): {parameter.description}"
