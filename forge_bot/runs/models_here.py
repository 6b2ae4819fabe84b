"""The models that this machine could ask: keys that are set, a local Ollama, installed coding
agents.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException

from forge_bot.agent.models.provider_keys import KEYS
from forge_bot.values import Frozen

_OLLAMA = ("127.0.0.1", 11434)
_SECONDS = 0.2
_MOST_BYTES = 1_000_000
_CODING_AGENTS = ("claude", "codex")


class ModelHere(Frozen):
    """A model that could be asked, and the way to name it."""

    because: str
    model: str
    setting: str = ""


def models_here(environ: Mapping[str, str]) -> Iterator[ModelHere]:
    """Yield the models that were found. Only this machine is examined, and nothing is spent."""
    named: set[str] = set()
    for provider, variable in KEYS.items():
        if environ.get(variable) and variable not in named:
            named.add(variable)
            yield ModelHere(because=f"{variable} is set", model=f"{provider}:NAME")
    if (name := _ollama()) is not None:
        yield ModelHere(
            because=f"Ollama answers at {_OLLAMA[0]}:{_OLLAMA[1]}",
            model=f"ollama:{name or 'NAME'}",
            setting=f"OLLAMA_BASE_URL=http://{_OLLAMA[0]}:{_OLLAMA[1]}/v1",
        )
    for program in _CODING_AGENTS:
        if shutil.which(program, path=environ.get("PATH")) is not None:
            yield ModelHere(because=f"{program} is installed", model=f"cli:{program}")


def _ollama() -> str | None:
    """Return the first model of a local Ollama, "" if it has none; None if nothing answers."""
    connection = HTTPConnection(*_OLLAMA, timeout=_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        found = json.loads(connection.getresponse().read(_MOST_BYTES))["models"]
        return str(found[0]["name"]) if found else ""
    except (TimeoutError, OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()
