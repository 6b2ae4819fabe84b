"""What belongs to GitHub stands in one folder, and the rest of forge-bot has it from one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "forge_bot"
FOLDER, CHOICE = ROOT / "forge" / "github", ROOT / "forge" / "__init__.py"
_OURS = re.compile(
    r"import (github|forge_bot\.forge\.github)\b.*"
    r"|(GITHUB|GH|ACTIONS|RUNNER)_\w*|gh"  # variables and the program
    r"|\S*(github\.com|githubusercontent|\.github\b)\S*"  # hosts and paths
    r"|\S*/(pull|issues|blob|tree|compare)/\S*"  # pages
    r"|html_url|head_branch|performed_via_github_app|issue_comment|workflow_run|labeled"  # payloads
)


def names(module: ast.Module) -> Iterator[str]:
    """The modules that are imported, and the texts of the code, without docstrings."""
    for node in ast.walk(module):
        match node:
            case ast.Import():
                yield from (f"import {alias.name}" for alias in node.names)
            case ast.ImportFrom(module=str(source)):
                yield f"import {source}"
            case ast.Expr(value=ast.Constant() as docstring):
                docstring.value = ""
            case ast.Constant(value=str(text)):
                yield text
            case _:
                pass


def test_nothing_outside_the_folder_knows_modules_variables_hosts_or_fields_of_github() -> None:
    modules = {*ROOT.rglob("*.py")} - {*FOLDER.rglob("*.py"), CHOICE}
    assert len(modules) > 250
    known = {
        (str(path.relative_to(ROOT)), name)
        for path in modules
        for name in names(ast.parse(path.read_text(encoding="utf-8")))
        if _OURS.fullmatch(name)
    }
    assert known == set()
    choice = ast.parse(CHOICE.read_text(encoding="utf-8"))
    assert [type(line) for line in choice.body] == [ast.Expr, ast.ImportFrom]
