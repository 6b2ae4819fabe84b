"""The JSON Schemas that ship are those of the code, and fit what forge-bot reads."""

import json
import os
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from forge_bot.engine.pipeline import Descriptor
from forge_bot.forge import schema_address
from forge_bot.resources import templates
from forge_bot.settings.config import Config
from tests.test_how_to import CONFIGURATIONS

SHAPES: dict[str, TypeAdapter[object]] = {
    "config": TypeAdapter(Config),
    "pipeline": TypeAdapter(Descriptor),
}


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out pydantic's titles: they say the keys again, such as `Pull Request`."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def schema_text(name: str) -> str:
    schema = SHAPES[name].json_schema(mode="validation", schema_generator=_WithoutTitles)
    for shape in (schema, *schema["$defs"].values()):
        shape.pop("title", None)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **schema}, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", ["config", "pipeline"])
def test_the_schema_that_ships_is_that_of_the_code(name: str) -> None:
    path = templates() / "schemas" / f"{name}.json"
    if os.environ.get("FORGE_GOLDEN") == "renew":
        path.write_text(schema_text(name), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == schema_text(name)
    assert schema_address(name).endswith(f"/{path.relative_to(templates().parent)}")


def problems(name: str, text: str) -> list[str]:
    schema = yaml.safe_load(schema_text(name))
    validator = jsonschema_rs.validator_for(schema)
    return [each.message for each in validator.iter_errors(yaml.safe_load(text))]


@pytest.mark.parametrize(
    "path", [*(templates() / "pipelines").glob("*.yaml")], ids=lambda path: path.stem
)
def test_a_pipeline_that_ships_fits_the_schema(path: Path) -> None:
    assert problems("pipeline", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", [*CONFIGURATIONS, "commands: {test: npm test, lint: [eslint ., [ruff, check]]}\n"]
)
def test_a_configuration_fits_the_schema(text: str) -> None:
    assert problems("config", text) == []
