"""The project's graph over MCP: one tool, and resources that are read when they are asked for."""

import json
from typing import Any

import jsonschema_rs
import pytest
import yaml
from mcp import MCPError
from mcp.types import TextContent, TextResourceContents

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, hosting

MANIFEST = """\
nodes:
  shop/: {domain: SHOP}
  shop/prices.py: {criticality: high, proposed_dependencies: [shop/refunds.py]}
"""


@pytest.fixture
def shop(sample: Sample) -> Sample:
    for path, text in {
        ".forge/manifest.yaml": MANIFEST,
        "shop/__init__.py": "",
        "shop/__main__.py": "from shop import prices\n",
        "shop/prices.py": "import os\nfrom shop import taxes\n\ndef net(price): ...\n",
        "shop/taxes.py": "def rate(country): ...\n",
        "shop/broken.py": "def (:\n",
    }.items():
        file = sample.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return sample


async def read(host: Host, uri: str) -> str:
    first = (await host.client.read_resource(uri)).contents[0]
    assert isinstance(first, TextResourceContents)
    return first.text


async def read_json(host: Host, uri: str) -> Any:
    return json.loads(await read(host, uri))


async def test_questions_are_answered_in_at_most_300_tokens(shop: Sample) -> None:
    for number in range(200):
        (shop.path / "shop" / f"part_{number}.py").write_text("import shop.taxes\n")
    async with hosting(shop) as host:
        near = await host.call("forge_graph", operation="query", of="shop/prices.py")
        many = await host.call("forge_graph", operation="query", touches=["shop/taxes.py"])
        result = await host.client.call_tool(
            "forge_graph", {"operation": "query", "kind": "module"}
        )
        shown = await host.call("forge_graph", operation="query", domain="SHOP", tier="surface")
    assert shown["text"] == "1 node\nshop/__main__.py (entry surface SHOP)"
    assert near["text"].splitlines()[1:] == [
        "shop/__main__.py (entry surface SHOP) imports it",
        "shop/taxes.py (module worker SHOP) imported by it in line 2",
        "shop/prices.py::net:4 (symbol worker SHOP high) in it",
    ]
    assert many["count"] == 202
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert len(first.text) / 4 <= 300 * 1.1
    assert (result.meta or {})["resource_links"] == ["forge://project/rota/manifest"]


async def test_violations_and_findings_are_counted_and_lead_to_their_annotations(
    shop: Sample,
) -> None:
    async with hosting(shop) as host:
        result = await host.client.call_tool("forge_graph", {"operation": "verify"})
        scanned = await host.call("forge_graph", operation="scan")
        meta = result.meta or {}
        assert meta["annotations"] == {"findings": 1}
        (annotations,) = meta["resource_links"]
        listed = (await read_json(host, annotations))["annotations"]
    assert [(item["code"], item["node"], item["dependency_ids"]) for item in listed][:1] == [
        ("VERIFY-002", "shop/prices.py", ["shop/__main__.py"]),
    ]
    assert all(len(item["text"]) == 40 for item in listed)
    assert scanned["text"].splitlines() == [
        "2 found",
        "SCAN-001 shop/broken.py:1 is not read whole: line 1 cannot be parsed",
        "SCAN-004 shop/prices.py:1 is of high criticality, and no test imports it",
    ]


async def test_the_manifest_is_a_resource_and_keeps_its_own_schema(shop: Sample) -> None:
    async with hosting(shop) as host:
        result = await read_json(host, "forge://project/rota/manifest")
        schema = await read_json(host, "forge://schema/manifest/v1")
    node = next(item for item in result["nodes"] if item["id"] == "shop/prices.py")
    assert node == {
        "id": "shop/prices.py",
        "kind": "module",
        "tier": "worker",
        "criticality": "high",
        "domain": "SHOP",
        "imports": ["shop/taxes.py"],
    }
    jsonschema_rs.validate(schema, yaml.safe_load(MANIFEST))
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(schema, {"nodes": {"a": {"level": 3}}})


async def test_the_taxonomy_and_the_gloves_are_made_from_the_code(shop: Sample) -> None:
    async with hosting(shop) as host:
        tiers = (await read_json(host, "forge://schema/taxonomy"))["tiers"]
        glove = await read_json(host, "forge://glove/module/typescript")
        with pytest.raises(MCPError, match=r"REQUEST-008(.|\n)*Stacks: python, javascript"):
            await host.client.read_resource("forge://glove/module/cobol")
    assert {item["tier"]: item["subtype_of"] for item in tiers if item["subtype_of"]} == {
        "glove": "worker",
        "gate": "worker",
        "registry": "schema",
    }
    assert glove["resolves_imports"]
    assert ".tsx" in glove["endings"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"operation": "query", "tier": "top"}, "tier: Input should be 'surface', 'worker'"),
        ({"operation": "query", "of": "nowhere"}, "There is no node 'nowhere'."),
    ],
)
async def test_a_question_that_cannot_be_answered_says_why(
    shop: Sample, asked: dict[str, Any], sentence: str
) -> None:
    async with hosting(shop) as host:
        result = await host.client.call_tool("forge_graph", asked)
    first = result.content[0]
    assert result.is_error
    assert isinstance(first, TextContent)
    assert sentence in first.text


async def test_a_client_carries_a_pipeline_of_steps_without_any_agent(shop: Sample) -> None:
    shop.git("add", "-A")
    shop.git("commit", "-qm", "The shop")
    async with hosting(shop) as host:
        await host.begin("--pipeline=scaffold Add a price list\n\nname: price list")
        asked = await host.next()
        assert (asked["type"], asked["name"]) == ("checkpoint", "confirm")
        assert "price_list.py" in asked["present_to_user"]
        done = await host.next(user_response="approve", action_id=asked["action_id"])
    assert done["type"] == "done"
    assert "price_list.py" in shop.git("diff", "--name-only", "main", shop.offered)
