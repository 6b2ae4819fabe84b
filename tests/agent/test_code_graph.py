"""The graph of the code as a model may ask for it."""

import json
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.runs.base_graph import graph_reader
from tests.agent.repository_scene import Ask
from tests.project.graph_scene import repository, write

SHOP = {
    "shop/__init__.py": "",
    "shop/cli.py": "import json\n\nfrom shop import prices\nimport shop.nothing\n",
    "shop/prices.py": (
        "from shop.taxes import rate\n\n\nclass Price:\n    def net(self) -> int:\n"
        "        return rate(1)\n\n\ndef _inner(): ...\n"
    ),
    "shop/taxes.py": "def rate(country): ...\n",
    "shop/broken.py": "def (:\n",
    "notes.md": "# Notes\n",
    "tests/test_prices.py": "from shop.prices import Price\n",
}


@pytest.fixture
def ask_shop(tmp_path: Path) -> Ask:
    found = repository(tmp_path, SHOP)
    context = ProviderContext(tmp_path, graph=graph_reader(found, "HEAD", tmp_path))

    def ask(limits: WorkLimits | None = None, **params: object) -> CapabilityResult:
        text = json.dumps(params)
        wanted = CapabilityRequest(key="1.1-x", capability="code_graph", params=text)
        return context.fetch(wanted, limits or WorkLimits())

    return ask


def test_what_a_file_uses_and_what_uses_it_come_with_their_lines(ask_shop: Ask) -> None:
    assert ask_shop(show="import_graph", about="shop/prices.py").content.splitlines() == [
        "shop/cli.py:3 imports it",
        "tests/test_prices.py:1 imports it",
        "tests/test_prices.py tests it",
        "imports shop/taxes.py in line 1",
    ]
    assert ask_shop(show="import_graph", about="shop/cli.py").content.splitlines() == [
        "imports shop/prices.py in line 3",
        "imports json from outside in line 1",
        "imports shop.nothing in line 4, which is not there",
    ]
    assert ask_shop(show="import_graph", about="notes.md").content == "Nothing."


def test_files_are_read_as_they_lie_there(ask_shop: Ask, tmp_path: Path) -> None:
    assert (
        ask_shop(show="symbol_list", about="shop/taxes.py").content == "1: def rate(country): ..."
    )
    write(tmp_path, {"shop/taxes.py": "\ndef new(): ...\n", "shop/more.py": "import shop.taxes\n"})
    assert ask_shop(show="symbol_list", about="shop/taxes.py").content == "2: def new(): ..."
    found = ask_shop(show="import_graph", about="shop/taxes.py").content
    assert "shop/more.py:1 imports it" in found


def test_a_file_that_is_not_read_whole_says_so(ask_shop: Ask) -> None:
    assert "line 1" in ask_shop(show="symbol_list", about="shop/broken.py").note


@pytest.mark.parametrize(
    ("params", "status", "said"),
    [
        ({"show": "symbol_list"}, ResultStatus.INVALID_PARAMS, "`about` names no file"),
        ({"show": "callers"}, ResultStatus.INVALID_PARAMS, "symbol_list"),
        (
            {"show": "symbol_list", "about": "shop/price.py"},
            ResultStatus.TOOL_ERROR,
            "There is no file shop/price.py",
        ),
        ({"show": "symbol_list", "about": "price"}, ResultStatus.TOOL_ERROR, "shop/prices.py"),
        ({"show": "import_graph", "about": "../x.py"}, ResultStatus.DENIED, "leads out"),
        ({"show": "import_graph", "about": "/etc/passwd"}, ResultStatus.DENIED, "is not a path"),
        (
            {"show": "import_graph", "about": "command:test:x"},
            ResultStatus.TOOL_ERROR,
            "There is no file",
        ),
    ],
)
def test_what_is_no_file_is_told_with_a_way_out(
    ask_shop: Ask, params: dict[str, object], status: ResultStatus, said: str
) -> None:
    found = ask_shop(**params)
    assert found.status is status
    assert said in found.content


def test_where_no_import_is_resolved_there_is_no_graph_to_ask_for(tmp_path: Path) -> None:
    found = repository(tmp_path, {"README.md": "# Notes\n", "a.rb": "class A\nend\n"})
    assert graph_reader(found, "HEAD", tmp_path) is None
    assert "code_graph" not in [
        each.name for each in ProviderContext(tmp_path, graph=None).catalogue()
    ]
