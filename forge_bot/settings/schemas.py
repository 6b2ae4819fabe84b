"""JSON Schemas of the configuration and of pipelines, for editors."""

import json

from pydantic import TypeAdapter

from forge_bot.engine.pipeline import Descriptor
from forge_bot.settings.config import Config

_SHAPES: dict[str, TypeAdapter[object]] = {
    "config": TypeAdapter(Config),
    "pipeline": TypeAdapter(Descriptor),
}


def schema_text(name: str) -> str:
    """Return the schema as it ships."""
    schema = _SHAPES[name].json_schema(mode="validation")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **schema}, indent=1, ensure_ascii=False) + "\n"
