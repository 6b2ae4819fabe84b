"""The sentences in `templates/sentences` are those that the code says, and another language is data
alone.
"""

import ast
import json
import os
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from forge_bot.errors import registry
from forge_bot.gate.grammar import FORMS
from forge_bot.resources import templates
from forge_bot.sentences import ENGLISH, languages, read_topic
from tests.fakes.own_code import nodes
from tests.fakes.sample import Sample

ROOT = Path(__file__).parents[1]
Forms = list[str]
_SHOWN = """
import json
from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.cli.console import Console
from forge_bot.cli.terminal_session import show_question
from forge_bot.mcp_server.client_runs.person_answers import render_question
from tests.bot import scene

view = scene.design_waits()
console = Console()
with console.capture() as at_terminal:
    show_question(view.question, console)
over_mcp, _ = render_question(view.question, view.state.run, view.links.workspace)
print(json.dumps([checkpoint(view), at_terminal.get(), over_mcp]))
"""
_GIVEN_BY: dict[str, set[str]] = {"say": set()}
"""The functions that say a sentence by its name, with the values that they give by themselves."""
_TEMPLATES = {"language", "parts", "replies"}
"""Files that are no sentences: replies and parts are templates, which have examples elsewhere."""
_PIRATE = {
    "language.toml": 'plural = "n == 1 ? 0 : n <= 3 ? 1 : 2"\n',
    "question.toml": """
go_on_with_this_version = "aye, sail on with this very one"
files = ["{count} scroll", "{count} scrolls", "{count} scrolls, a chest of them"]
""",
    "hints.toml": 'not_a_repository = "Board a ship first."\n',
    "words.toml": 'and = "{before} & {last}"\n',
    "commands.md": "| command | what it be |\n| --- | --- |\n| `/status` | Where the ship be. |\n",
}


def catalogue(language: str) -> dict[str, Forms]:
    """Every sentence of a language with its forms, by its whole name."""
    return {
        f"{file.stem}.{name}": [found] if isinstance(found, str) else found
        for file in sorted((templates() / "sentences" / language).glob("*.*"))
        for name, found in read_topic(language, file.stem).items()
        if file.stem not in _TEMPLATES
    }


def placeholders(forms: Forms) -> set[str]:
    return {
        field for form in forms for _, field, _, _ in string.Formatter().parse(form) if field
    } | {"count" for form in forms[1:] if form}


SENTENCES = catalogue(ENGLISH)
_NAME = re.compile(
    rf"(?:{'|'.join(sorted({re.escape(name.rpartition('.')[0]) for name in SENTENCES}))})\.[a-z]\w*"
)


def names_in(node: ast.AST) -> set[str]:
    """The names of sentences that are written out in a piece of code."""
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and _NAME.fullmatch(each.value)
    }


@cache
def says() -> tuple[ast.Call, ...]:
    return tuple(
        node
        for node in nodes()
        if isinstance(node, ast.Call) and node.args and name_of(node.func) in _GIVEN_BY
        if name_of(node.func) != "say" or isinstance(node.func, ast.Name)
    )


def calls() -> Iterator[tuple[set[str], set[str]]]:
    """Each call: the names it may say, none where a table has them, and the values it gives."""
    for node in says():
        given = {str(each.arg) for each in node.keywords}
        yield names_in(node.args[0]), given | _GIVEN_BY[name_of(node.func)]


def test_every_name_in_the_code_is_a_sentence_and_every_sentence_is_said() -> None:
    written = {
        name for node in nodes() if isinstance(node, ast.Constant) for name in names_in(node)
    }
    written |= {str(at.value) for node in says() if isinstance(at := node.args[0], ast.Constant)}
    written |= {kind.hint for kind in registry().values()} - {""}
    written |= {f"commands.{form.name or 'forge'}" for form in FORMS}
    assert sorted(written - set(SENTENCES)) == []
    assert sorted(set(SENTENCES) - written) == []


def test_every_call_gives_the_values_that_its_sentence_has_places_for() -> None:
    wrong = {
        name: (given, placeholders(SENTENCES[name]))
        for names, given in calls()
        for name in names
        if placeholders(SENTENCES[name]) != given
    }
    assert wrong == {}


def test_sentences_of_tables_have_places_for_what_their_calls_give() -> None:
    called = {name for names, _ in calls() for name in names}
    given = [values for names, values in calls() if not names]
    assert {
        name
        for name in SENTENCES
        if name not in called and not any(placeholders(SENTENCES[name]) <= each for each in given)
    } == set()


def name_of(callee: ast.expr) -> str:
    """The last part of the name that is called."""
    return callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")


def test_the_way_out_of_an_error_is_a_sentence_of_the_catalogue() -> None:
    hints = {kind.hint for kind in registry().values()} - {""}
    assert len(hints) > 80
    assert sorted(hints - set(SENTENCES)) == []


def problems(found: dict[str, Forms], forms: int) -> list[str]:
    """What is wrong with the sentences of a language, compared with the English ones."""
    unknown = [f"{name}: not said anywhere" for name in found if name not in SENTENCES]
    known = {name: each for name, each in found.items() if name in SENTENCES}
    return [
        *unknown,
        *(
            f"{name}: other places than in English"
            for name, each in known.items()
            if placeholders(each) != placeholders(SENTENCES[name])
        ),
        *(
            f"{name}: {len(each)} forms"
            for name, each in known.items()
            if len(each) != (forms if len(SENTENCES[name]) > 1 else 1)
        ),
        *(
            f"{name}: {field} is no plain name"
            for name, each in known.items()
            for field in placeholders(each)
            if not field.isidentifier()
        ),
    ]


def forms_of(language: str) -> int:
    """How many forms a language's rule tells apart."""
    from gettext import c2py

    rule = c2py(str(read_topic(language, "language")["plural"]))
    return 1 + max(rule(number) for number in range(1000))


@pytest.mark.parametrize("language", languages())
def test_every_language_has_sentences_that_fit_the_code(language: str) -> None:
    assert problems(catalogue(language), forms_of(language)) == []


def test_a_mistake_in_a_translation_is_noticed() -> None:
    wrong = {
        "question.files": ["{count} scrolls"],
        "question.done_when": ["When {what.real}"],
        "question.budget_is_used_up": ["No more {gold}"],
        "question.of_the_sea": ["Ahoy"],
    }
    assert problems(wrong, 3) == [
        "question.of_the_sea: not said anywhere",
        "question.done_when: other places than in English",
        "question.budget_is_used_up: other places than in English",
        "question.files: 1 forms",
        "question.done_when: what.real is no plain name",
    ]


@pytest.fixture
def second_language(tmp_path: Path) -> Path:
    """A copy of forge-bot whose templates have a second language; nothing else is another."""
    (tmp_path / "forge_bot").symlink_to(ROOT / "forge_bot")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    sentences = tmp_path / "templates" / "sentences"
    sentences.mkdir(parents=True)
    for each in templates().iterdir():
        if each.name != "sentences":
            (tmp_path / "templates" / each.name).symlink_to(each)
    (sentences / ENGLISH).symlink_to(templates() / "sentences" / ENGLISH)
    (sentences / "pirate").mkdir()
    for name, text in _PIRATE.items():
        (sentences / "pirate" / name).write_text(text, encoding="utf-8")
    return tmp_path


def in_copy(copy: Path, language: str, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(copy), "FORGE_BOT_LANGUAGE": language}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, *words], cwd=copy, env=environ, capture_output=True, text=True, check=False
    )


def test_a_second_language_is_data_alone_on_every_face(second_language: Path) -> None:
    pirate, english = (
        json.loads(in_copy(second_language, language, "-c", _SHOWN).stdout)
        for language in ("pirate", ENGLISH)
    )
    for face, said, in_english in zip(("thread", "terminal", "MCP"), pirate, english, strict=True):
        assert "4 scrolls, a chest of them" in said, face
        assert "4 files" not in said, face
        assert "4 files" in in_english, face
    thread, *_ = pirate
    assert "`design.md` & `review-design.md`" in thread


def test_the_list_of_commands_is_said_in_the_language_that_is_set(second_language: Path) -> None:
    shown = "from forge_bot.gate.messages import command_table\nprint(command_table())"
    said = in_copy(second_language, "pirate", "-c", shown).stdout
    assert "| `/status` | Where the ship be. |" in said
    assert "| `/help` | Show this list. |" in said


def test_the_way_out_of_an_error_is_said_in_the_language_that_is_set(
    second_language: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nowhere = str(tmp_path_factory.mktemp("no repository"))
    words = ("-m", "forge_bot", "list", "--repo", nowhere)
    assert "Board a ship first." in in_copy(second_language, "pirate", *words).stderr


def test_a_language_that_there_is_not_is_refused_with_those_that_there_are(
    second_language: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = in_copy(second_language, "elvish", "-m", "forge_bot", "list")
    assert said.returncode == 5
    assert "CONFIG-011" in said.stderr
    assert "'elvish'" in said.stderr
    assert "en, pirate" in said.stderr
    monkeypatch.setenv("FORGE_BOT_LANGUAGE", "en")
    assert sample.forge("list").code == 0
