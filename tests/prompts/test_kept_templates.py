"""Shipped templates are compiled once for all processes, and again when anything about them changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.resources import templates

_RENDERED = """
import sys
from forge_bot.prompts.environment import Environment
from forge_bot.values import Frozen

compiled = []
sys.addaudithook(lambda event, words: compiled.append(words[1]) if event == "compile" else None)


class Facts(Frozen):
    body: str = "words"


own = {"_own.md.j2": "{% include '_again.md.j2' %}", "_again.md.j2": "own {{ body }}\\n"}
print(Environment().render("_probe.md.j2", Facts()), end="")
print(Environment(own).render("_own.md.j2", Facts()), end="")
print([each for each in compiled if str(each).endswith(".j2")])
"""
_OWN = ["own words"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of forge-bot whose shipped templates can be changed."""
    (tmp_path / "forge_bot").symlink_to(Path(__file__).parents[2] / "forge_bot")
    prompts = tmp_path / "templates" / "prompts"
    shutil.copytree(templates() / "prompts", prompts, ignore=shutil.ignore_patterns("__pycache__"))
    (prompts / "_probe.md.j2").write_text("one {{ body }}\n", encoding="utf-8")
    return tmp_path


def rendered(copy: Path, *words: str) -> list[str]:
    """The lines of one process, and at last the templates that it compiled."""
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *words, "-c", _RENDERED],
        cwd=copy,
        env={**environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_shipped_template_is_compiled_by_the_first_process_and_an_own_one_by_each(
    copy: Path,
) -> None:
    own = "'.forge/prompts/_own.md.j2', '.forge/prompts/_again.md.j2'"
    assert rendered(copy) == ["one words", *_OWN, f"['prompts/_probe.md.j2', {own}]"]
    assert rendered(copy) == ["one words", *_OWN, f"[{own}]"]


def test_a_changed_template_is_rendered_at_once_and_a_broken_compiled_one_never(
    copy: Path,
) -> None:
    rendered(copy)
    prompts = copy / "templates" / "prompts"
    (compiled,) = (prompts / "__pycache__").glob("*")
    whole = compiled.read_bytes()
    first, _, code = whole.partition(b"\n")
    for broken in (b"", whole[:-40], first, first + b"\nno code", b"[]\n" + code, b"\xff"):
        compiled.write_bytes(broken)
        assert rendered(copy)[0] == "one words", broken
        assert compiled.read_bytes() == whole
    (prompts / "_probe.md.j2").write_text("two {{ body }}\n", encoding="utf-8")
    assert rendered(copy)[0] == "two words"


def test_where_python_keeps_no_bytecode_no_template_is_kept(copy: Path) -> None:
    assert rendered(copy, "-B")[0] == "one words"
    assert not (copy / "templates" / "prompts" / "__pycache__").exists()
