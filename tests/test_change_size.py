"""How many files a usual change touches: a command, a setting of models. (A phase is two files of a
repository: `tests/cli/test_added_phase.py`.)
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from forge_bot.gate import grammar
from forge_bot.sentences import say
from forge_bot.settings.config import Config
from tests.fakes.own_code import PRODUCT, nodes_of_files

pytestmark = pytest.mark.xdist_group("own code")
GRAMMAR = PRODUCT / "gate" / "grammar.py"
CONFIG = PRODUCT / "settings" / "config.py"
ROOT = PRODUCT.parent
_READ = {".md", ".toml", ".yaml", ".yml", ".json", ".j2"}
LIST = ROOT / "templates" / "sentences" / "en" / "commands.md"
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


def _texts() -> Iterator[tuple[Path, str]]:
    """Every file that people read or that tests compare with what people read."""
    folders = ("docs", "templates", "tests/bot", "tests/gate", "tests/fixtures")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.*"))
    for path in (*ROOT.glob("*.md"), *found):
        if path.suffix in _READ and path.parent.name != "__pycache__":
            yield path, path.read_text(encoding="utf-8")


def test_a_command_is_the_grammar_one_file_that_does_it_and_its_row_in_the_list() -> None:
    """All files count that have its class or what it does. Besides them its word belongs into the
    list of the words that outside programs rely on, as every new one does.
    """
    taken = {path: _names(nodes) for path, nodes in nodes_of_files().items() if path != GRAMMAR}
    written = [*_texts()]
    files = {
        form.name: {
            GRAMMAR,
            *(path for path, names in taken.items() if command.__name__ in names),
            *(path for path, text in written if say(form.meaning) in text),
        }
        for form, command in zip(grammar.FORMS, get_args(grammar.Command), strict=True)
        if command not in _WITH_A_PART_OF_THEIR_OWN
    }
    assert len(files) >= 6
    assert {name: found for name, found in files.items() if len(found) > 3} == {}
    assert all(LIST in found for found in files.values())


def test_a_setting_of_models_is_the_configuration_and_the_file_that_reads_it() -> None:
    settings = [name for name in Config.model_fields if name.startswith("model_")]
    assert len(settings) >= 3
    reads = [
        {node.attr for node in nodes if isinstance(node, ast.Attribute)} for nodes in _files(CONFIG)
    ]
    assert {name: sum(name in read for read in reads) for name in settings} == dict.fromkeys(
        settings, 1
    )
