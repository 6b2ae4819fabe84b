"""The files by which directories find forge-bot fit the directories' own schemas, and name this
version. The schemas in tests/fixtures/schemas are those of SchemaStore and of the MCP registry,
without their descriptions.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from forge_bot import __version__
from tests.actions.runner import ROOT

SCHEMAS = ROOT / "tests" / "fixtures" / "schemas"
PLUGIN = ROOT / "templates" / "plugin" / ".claude-plugin" / "plugin.json"
LISTINGS = {
    ".claude-plugin/marketplace.json": "claude-code-marketplace.json",
    "server.json": "mcp-server.json",
}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("listing", "schema"), LISTINGS.items())
def test_a_listing_fits_the_schema_of_its_directory(listing: str, schema: str) -> None:
    validator = jsonschema_rs.validator_for(read(SCHEMAS / schema))
    assert [error.message for error in validator.iter_errors(read(ROOT / listing))] == []


def test_the_listings_name_this_version() -> None:
    plugin = read(ROOT / ".claude-plugin/marketplace.json")["plugins"][0]
    server = read(ROOT / "server.json")
    versions = {
        plugin["version"],
        server["version"],
        server["packages"][0]["version"],
        read(PLUGIN)["version"],
    }
    assert versions == {__version__}
    assert (ROOT / plugin["source"]).resolve() == PLUGIN.parent.parent
    assert plugin["name"] == read(PLUGIN)["name"]


def test_the_package_index_can_tell_that_the_server_is_this_package() -> None:
    marker = f"mcp-name: {read(ROOT / 'server.json')['name']}"
    assert marker in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_action_has_the_fields_that_the_marketplace_asks_for() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "branding"} <= action.keys()
    assert {"icon", "color"} <= action["branding"].keys()
    assert len(action["description"]) <= 125
