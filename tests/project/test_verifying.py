"""Violations: the manifest against the code, proposals, the rules on tiers."""

from pathlib import Path

import pytest

from forge_bot.errors import BadManifest
from forge_bot.git import Repository
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import newly_broken, verify
from tests.fakes.rows import rows
from tests.project.graph_scene import graph, repository, write

ROWS = rows(__file__)

CODE = {
    "shop/__main__.py": "from shop import prices\n",
    "shop/prices.py": "import requests\nfrom shop.store import rows\n",
    "shop/store/__init__.py": "",
    "shop/store/rows.py": "",
}


def found(folder: Path, manifest: str, **more: str) -> list[tuple[str, str, str, int]]:
    files = {**CODE, **{name.replace("__", "/"): text for name, text in more.items()}}
    made = verify(graph(folder, {**files, ".forge/manifest.yaml": manifest}))
    return [(each.code, each.node, each.path, each.line) for each in made]


def test_a_project_without_a_manifest_holds_the_rules_on_tiers(tmp_path: Path) -> None:
    assert found(tmp_path, "") == []


def test_a_worker_that_imports_a_surface_is_a_violation_with_what_uses_it(tmp_path: Path) -> None:
    made = verify(
        graph(
            tmp_path,
            {
                **CODE,
                "shop/store/rows.py": "\nimport shop.__main__\n",
                "tests/test_main.py": "import shop.__main__\n",
            },
        )
    )
    (broken,) = made
    assert broken.words == (
        "VERIFY-004 shop/store/rows.py:2"
        " shop/store/rows.py (worker) imports shop/__main__.py (surface); a worker may not."
    )
    assert (broken.node, broken.dependency_ids) == ("shop/store/rows.py", ("shop/prices.py",))


def test_the_rules_on_tiers_can_be_turned_off(tmp_path: Path) -> None:
    code = {"shop/store/rows.py": "import shop.__main__\n"}
    write(tmp_path, code)
    assert found(tmp_path, "default_rules: false\n") == []


PARITY = """\
nodes:
  shop/gone.py: {domain: SHOP}
  shop/prices.py:
    dependencies: [shop/store/rows.py, shop/__main__.py, "outside:requests"]
    contracts: ["shop/models.py::Order"]
"""


def test_what_the_manifest_names_and_the_code_lacks_is_a_violation_at_its_line(
    tmp_path: Path,
) -> None:
    assert found(tmp_path, PARITY) == [
        ("VERIFY-001", "shop/gone.py", ".forge/manifest.yaml", 2),
        ("VERIFY-001", "shop/prices.py", ".forge/manifest.yaml", 4),
        ("VERIFY-001", "shop/prices.py", ".forge/manifest.yaml", 5),
    ]


def test_proposals_are_violations_until_they_are_written(tmp_path: Path) -> None:
    manifest = (
        "nodes:\n  shop/prices.py:\n    proposed_dependencies: [shop/taxes.py]\n"
        "    proposed_contracts: ['shop/models.py::Order']\n"
    )
    assert found(tmp_path, manifest) == [
        ("VERIFY-002", "shop/prices.py", ".forge/manifest.yaml", 3),
        ("VERIFY-003", "shop/prices.py", ".forge/manifest.yaml", 4),
    ]
    write(tmp_path, {"shop/taxes.py": "", "shop/models.py": "class Order: ...\n"})
    assert verify(GraphReader(Repository.find(tmp_path)).here()) == ()


BAD = ROWS["bad"]


@pytest.mark.parametrize("text", BAD)
def test_a_manifest_that_cannot_be_read_is_an_error_with_its_line(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(BadManifest) as raised:
        verify(graph(tmp_path, {".forge/manifest.yaml": text, "a": ""}))
    assert raised.value.details == (BAD[text],)


def test_against_a_base_only_what_is_newly_broken_counts(tmp_path: Path) -> None:
    made = repository(tmp_path, {**CODE, "shop/store/rows.py": "import shop.__main__\n"})
    reader = GraphReader(made)
    assert newly_broken(reader.here(), reader.at("HEAD")) == ()
    write(tmp_path, {"shop/store/cells.py": "import shop.__main__\n"})
    new = newly_broken(reader.here(), reader.at("HEAD"))
    assert [each.node for each in new] == ["shop/store/cells.py"]
