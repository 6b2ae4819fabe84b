"""How a prompt shows what a model may ask for: its parameters in words, and one request that could be sent as it stands."""

import json

from forge_bot.agent.context.catalogue import CapabilitySpec, Parameter
from forge_bot.prompts.material import Capability

_EXAMPLES: dict[str, object] = {
    "path": "src/app.py",
    "pattern": "def main",
    "query": "retry after a timeout",
    "paths": ["tests/test_app.py"],
}
"""A value for each parameter worth showing; the others are left out of the example, as they may be left out of a request."""


def shown(entry: CapabilitySpec) -> Capability:
    """The entry for the menu of a prompt."""
    words = "; ".join(_told(parameter) for parameter in entry.parameters)
    sample = {item.name: _EXAMPLES[item.name] for item in entry.parameters if item.name in _EXAMPLES}
    return Capability(
        name=entry.name,
        description=f"{entry.description} Parameters: {words}. For example",
        parameters=json.dumps(sample, ensure_ascii=False),
    )


def _told(parameter: Parameter) -> str:
    optional = "" if parameter.required else ", optional"
    return f"`{parameter.name}` ({parameter.kind}{optional}): {parameter.description}"
