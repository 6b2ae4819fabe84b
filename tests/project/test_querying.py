"""Questions to the graph, and its map."""

from pathlib import Path

import pytest

from forge_bot.errors import BadOption
from forge_bot.project.graph.graph_answers import GraphQuestion, ask_graph, repo_map
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.verify_graph import declared
from forge_bot.sentences import hint_of
from tests.fakes.rows import rows
from tests.project.graph_scene import graph

ROWS = rows(__file__)

SHOP = ROWS["shop"]


@pytest.fixture
def shop(tmp_path: Path) -> ProjectGraph:
    return declared(graph(tmp_path, SHOP))[0]


def ids(shop: ProjectGraph, **asked: object) -> list[str]:
    answer = ask_graph(shop, GraphQuestion.model_validate(asked))
    return [node.id for node in answer.nodes]


def test_a_tier_includes_its_subtypes_and_what_the_manifest_declares(shop: ProjectGraph) -> None:
    assert ids(shop, tier="schema") == ["shop/taxes.py", "shop/models.py"]
    assert ids(shop, tier="registry") == ["shop/taxes.py"]
    assert ids(shop, tier="surface", kind="entry") == ["shop/cli.py"]


def test_the_worst_criticality_comes_first(shop: ProjectGraph) -> None:
    assert ids(shop, name="shop/*.py")[0] == "shop/taxes.py"
    assert ids(shop, name="shop/*.py")[-1] == "shop/cli.py"
    assert ids(shop, criticality="high") == ["shop/taxes.py"]


def test_the_more_exact_declaration_counts(shop: ProjectGraph) -> None:
    assert ids(shop, domain="LAW") == ["shop/taxes.py"]
    assert "shop/prices.py" in ids(shop, domain="SHOP")


def test_names_find_files_and_definitions(shop: ProjectGraph) -> None:
    assert ids(shop, name="price") == ["shop/prices.py", "tests/test_prices.py"]
    assert ids(shop, name="::net") == ["shop/prices.py::net"]


def test_neighbours_say_how_they_stand_to_the_node(shop: ProjectGraph) -> None:
    answer = ask_graph(shop, GraphQuestion(of="prices.py"))
    assert {node.id: node.how for node in answer.nodes} == {
        "shop/cli.py": "imports it",
        "tests/test_prices.py": "imports it, tests it",
        "shop/taxes.py": "imported by it in line 1",
        "shop/prices.py::net": "in it",
        "shop/prices.py::_inner": "in it",
    }


def test_a_change_reaches_what_imports_it_also_through_others(shop: ProjectGraph) -> None:
    answer = ask_graph(shop, GraphQuestion(touches=("shop/taxes.py",)))
    assert answer.text == (
        "3 nodes reached by a change: 2 files of code, 1 of them with no test of their own,"
        " 1 test\n"
        "shop/prices.py (module worker SHOP) directly\n"
        "shop/cli.py (entry surface SHOP low) 2 imports away\n"
        "tests/test_prices.py (test worker) 2 imports away"
    )


def test_a_node_that_there_is_not_is_an_error_with_those_that_are_like_it(
    shop: ProjectGraph,
) -> None:
    with pytest.raises(BadOption) as raised:
        ask_graph(shop, GraphQuestion(of="price"))
    assert raised.value.message == "There is no node 'price'."
    assert hint_of(raised.value) == "There are: shop/prices.py, tests/test_prices.py."
    with pytest.raises(BadOption):
        ask_graph(shop, GraphQuestion(of="shop/cli.py", touches=("shop/cli.py",)))


def test_the_map_names_what_is_imported_most_first_and_fits_its_budget(shop: ProjectGraph) -> None:
    assert repo_map(shop, 1_000) == (
        "shop/prices.py\n  def net(price): ...\n"
        "shop/taxes.py\n  def rate(country): ...\n"
        "shop/__init__.py\n"
        "shop/cli.py\n  def main(): ...\n"
        "shop/models.py\n  class Order: ...\n"
    )
    small = repo_map(shop, 12)
    assert small == "shop/prices.py\n  def net(price): ...\n… 4 more files of code\n"
    assert repo_map(shop, 0) == "… 5 more files of code\n"
