"""How many files a usual change touches: a command, a setting of models. (A phase is two files of a
repository: `tests/cli/test_added_phase.py`.)
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from forge_bot.gate import grammar
from forge_bot.settings.config import Config
from tests.fakes.own_code import PRODUCT, nodes_of_files

pytestmark = pytest.mark.xdist_group("own code")
GRAMMAR = PRODUCT / "gate" / "grammar.py"
CONFIG = PRODUCT / "settings" / "config.py"
DOCUMENTED = 1
_WITH_A_PART_OF_THEIR_OWN = {
    *get_args(grammar.AnswerCommand),
    grammar.Start,  # begins a run
    grammar.Ask,  # needs a model, and so a worker
    grammar.Retry,  # repeats checks of a pull request as well
    grammar.Help,  # is answered by the gate too
}


def _files(*but: Path) -> Iterator[tuple[ast.AST, ...]]:
    return (nodes for path, nodes in nodes_of_files().items() if path not in but)


def _names(nodes: tuple[ast.AST, ...]) -> set[str]:
    """What a file takes from the grammar, by name or through the module."""
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    modules = {
        each.asname or each.name
        for node in imports
        if node.module == "forge_bot.gate"
        for each in node.names
        if each.name == "grammar"
    }
    return {
        each.name
        for node in imports
        if node.module == "forge_bot.gate.grammar"
        for each in node.names
    } | {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    }


def test_a_command_is_the_grammar_one_file_that_does_it_and_the_documentation() -> None:
    taken = [_names(nodes) for nodes in _files(GRAMMAR)]
    commands = set(get_args(grammar.Command)) - _WITH_A_PART_OF_THEIR_OWN
    counts = {each.__name__: sum(each.__name__ in names for names in taken) for each in commands}
    assert len(counts) >= 6
    assert {name: count for name, count in counts.items() if 1 + count + DOCUMENTED > 3} == {}
    documented = (PRODUCT.parent / "docs" / "commands.md").read_text(encoding="utf-8")
    assert all(f"`/{name}" in documented for name in grammar.NAMED)


def test_a_setting_of_models_is_the_configuration_and_the_file_that_reads_it() -> None:
    settings = [name for name in Config.model_fields if name.startswith("model_")]
    assert len(settings) >= 3
    reads = [
        {node.attr for node in nodes if isinstance(node, ast.Attribute)} for nodes in _files(CONFIG)
    ]
    assert {name: sum(name in read for read in reads) for name in settings} == dict.fromkeys(
        settings, 1
    )
