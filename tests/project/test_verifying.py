"""Violations: the manifest against the code, proposals, the rules on tiers and those declared."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from forge_bot.errors import BadManifest
from forge_bot.git import Repository
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import Violation, newly_broken, verify
from tests.fakes.rows import rows
from tests.project.graph_scene import clone, graph, repository, write

ROWS = rows(__file__)

HERE = Path(__file__).parents[2]
CODE = {
    "shop/__main__.py": "from shop import prices\n",
    "shop/prices.py": "import requests\nfrom shop.store import rows\n",
    "shop/store/__init__.py": "",
    "shop/store/rows.py": "",
}


def found(folder: Path, manifest: str, **more: str) -> list[tuple[str, str, str, int]]:
    files = {**CODE, **{name.replace("__", "/"): text for name, text in more.items()}}
    made = verify(graph(folder, {**files, ".forge/manifest.yaml": manifest}))
    return [(each.code, each.node_id, each.path, each.line) for each in made]


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
    assert made == (
        Violation(
            "VERIFY-004",
            "shop/store/rows.py",
            ("shop/prices.py",),
            "shop/store/rows.py (worker) imports shop/__main__.py (surface); a worker may not.",
            "shop/store/rows.py",
            2,
            "tiers: worker",
            "shop/__main__.py",
        ),
    )


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
rules:
  - name: nothing
    from: [shop/nowhere/]
    may_not_import: ["outside:numpy"]
"""


def test_what_the_manifest_names_and_the_code_lacks_is_a_violation_at_its_line(
    tmp_path: Path,
) -> None:
    assert found(tmp_path, PARITY) == [
        ("VERIFY-001", "shop/gone.py", ".forge/manifest.yaml", 2),
        ("VERIFY-001", "shop/prices.py", ".forge/manifest.yaml", 4),
        ("VERIFY-001", "shop/prices.py", ".forge/manifest.yaml", 5),
        ("VERIFY-001", "shop/nowhere/", ".forge/manifest.yaml", 7),
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


RULES = ROWS["rules"]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_the_manifest_is_broken_by_the_imports_it_forbids(
    tmp_path: Path, name: str
) -> None:
    rule, expected = RULES[name]
    text = f"rules:\n  - {{name: ours, {rule[1:]}\n"
    made = verify(graph(tmp_path, {**CODE, ".forge/manifest.yaml": text}))
    assert sorted((each.node_id, each.target) for each in made) == [*expected]
    assert {each.rule for each in made} == {"ours"}


def test_a_circle_among_the_children_of_a_folder_is_a_violation(tmp_path: Path) -> None:
    made = verify(
        graph(
            tmp_path,
            {
                **CODE,
                "shop/store/rows.py": "def later():\n    from shop.prices import net\n",
                ".forge/manifest.yaml": "rules: [{name: no circles, without_circles: shop/}]\n",
            },
        )
    )
    assert [(each.code, each.message) for each in made] == [
        ("VERIFY-004", "These import each other in a circle: shop/prices, shop/store.")
    ]


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
    assert [each.node_id for each in new] == ["shop/store/cells.py"]
    write(
        tmp_path,
        {
            ".forge/manifest.yaml": "rules: [{name: r, from: [shop/store/], may_not_import: [shop/prices.py]}]\n"
        },
    )
    assert [each.node_id for each in newly_broken(reader.here(), reader.at("HEAD"))] == [
        "shop/store/cells.py"
    ]


# -- our own floors
# --------------------------------------------------------------------------------------------------


def floors(folder: Path) -> str:
    """Our contracts for import-linter as a manifest."""
    contracts = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]

    def place(module: str) -> str:
        path = module.replace(".", "/")
        return f"{path}/" if (folder / path).is_dir() else f"{path}.py"

    def named(module: str) -> str:
        inside = module.startswith("forge_bot.")
        return place(module) if inside else f"outside:{module}"

    rules: list[dict[str, object]] = []
    for contract in contracts:
        rule: dict[str, object] = {"name": contract["name"]}
        if contract["type"] == "layers":
            # Those of one floor that may import each other stand in the order in which they do.
            rows = [
                [place(f"forge_bot.{name}").removeprefix("forge_bot/") for name in row.split(" | ")]
                for floor in contract["layers"]
                for row in floor.split(" : ")
            ]
            rule |= {"layers": rows, "within": "forge_bot/"}
        elif contract["type"] == "forbidden":
            rule |= {
                "from": [place(name) for name in contract["source_modules"]],
                "may_not_import": [named(name) for name in contract["forbidden_modules"]],
                "through_others": True,
            }
        else:
            rule |= {"without_circles": "forge_bot/"}
        rules.append(rule)
    return yaml.safe_dump({"rules": rules}, sort_keys=False)


PLANTED = {
    "a floor": ("forge_bot/values.py", "from forge_bot.runs import run\n"),
    "a package that the engine may not use": (
        "forge_bot/verification/__init__.py",
        "import socket\n",
    ),
    "what the gate may not use, through another": ("forge_bot/remedies.py", "import pydantic\n"),
    "a circle": ("forge_bot/errors/error_base.py", "from forge_bot.gate import grammar\n"),
}


def linted(folder: Path) -> set[str]:
    """Return the names of the contracts that import-linter finds broken."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "COLUMNS": "200"},
    )
    lines = done.stdout.splitlines()
    return {line.removesuffix(" BROKEN") for line in lines if line.endswith(" BROKEN")}


def broken(folder: Path) -> set[str]:
    write(folder, {".forge/manifest.yaml": floors(folder)})
    return {each.rule for each in verify(GraphReader(Repository.find(folder)).here())}


@pytest.mark.slow
def test_our_own_floors_hold_here_as_import_linter_says(tmp_path: Path) -> None:
    clone(HERE, tmp_path / "copy")
    assert broken(tmp_path / "copy") == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_import_breaks_the_same_contracts_as_in_import_linter(
    tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "copy"
    clone(HERE, copy)
    path, line = PLANTED[name]
    file = copy / path
    file.write_text(file.read_text() + "\n\n" + line)
    said = linted(copy)
    assert said
    assert broken(copy) == said
