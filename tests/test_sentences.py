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
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from forge_bot.cli.app import app
from forge_bot.errors import ForgeError, registry
from forge_bot.resources import templates
from forge_bot.sentences import ENGLISH, languages, read_topic
from tests.fakes.own_code import PRODUCT, nodes, nodes_of_files
from tests.fakes.sample import Sample

ROOT = Path(__file__).parents[1]
Forms = list[str]
_SHOWN = """
import json
from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.cli.console import Console
from forge_bot.cli.terminal_question import show
from forge_bot.mcp_server.client_runs.render_question import presented
from tests.bot import scene

view = scene.design_waits()
console = Console()
with console.capture() as at_terminal:
    show(view.question, console)
over_mcp = presented(view.question, view.state.run, view.links.workspace).text
print(json.dumps([checkpoint(view), at_terminal.get(), over_mcp]))
"""
_WITHOUT_FILES = {
    *("agent", "artifacts", "engine", "mcp_server"),
    *("prompts", "sentences.py", "values.py", "verification"),
}
"""Rooms that read no file, speak to models or word their errors themselves, the errors of a template, and a language that there is
not; beside them code of workflows and what is imported there."""
_NO_TEXTS = {"say", "Field", "compile", "cast", "names"}
_SAYS_WHAT_THE_RECORD_SAYS = {"edit_tries", "newly_red", "requirement_check", "reruns"}
"""Modules whose notices repeat the record of a run, which is the same in every language."""
_SPEAK_TO_PEOPLE = {
    *("gate/*", "settings/*", "store/*", "sandbox/*"),
    *("runs/**/baseline_document", "runs/effort", "runs/**/risk_signs"),
    *("runs/workflow_file", "runs/**/publish_result"),
}
"""Rooms and modules that have no sentence anywhere in their code."""
_FOR_OTHERS = {
    "gate/messages",  # hidden marks
    "sandbox/seccomp",  # names and numbers
    "sandbox/walls_process",  # a process of its own, without our modules
    "sandbox/setup_network",  # the proxy's answers, which become output of commands
}
_NOT_FOR_PEOPLE = {
    # What can be said before anything is imported.
    (
        "gate/__main__: ::error title=forge-bot::ACTION-001: Python 3.11 or newer is needed on this"
        " runner, for example by setup-python"
    ),
    "gate/__main__: ::error title=forge-bot::ERR-001:",
    # Prompts have the rule too, and are the same in every language.
    "settings/instructions: that touch",
    "settings/instructions: whose title matches",
    "settings/instructions: , rule : tasks  wait for a person.",
    # What the kernel, git and bwrap print.
    "store/disk_space: No space left on device",
    "store/disk_space: Out of diskspace",
    "store/disk_space: Disk quota exceeded",
    "sandbox/bubblewrap: bwrap: execvp",
    # Lines of a command's output, which the record keeps and models read.
    "sandbox/backends: ended after  seconds",
    "sandbox/backends: ended for using more than  MiB of memory",
    "sandbox/backends: ended for running more than  processes at a time",
    "sandbox/backends: called off",
    "sandbox/watch_process: […  bytes left out …]",
    "sandbox/watch_process: : no such command in the sandbox.",
    "sandbox/watch_process: : cannot be executed ().",
    # Lines of a workflow.
    "runs/workflow_file: with: { extras: __EXTRAS__ }",
    "runs/workflow_file: with: { extras:  }",
    # Lines of a configuration.
    "runs/baseline_document: setup_credentials: []",
    "runs/baseline_document: command_seconds: 3600",
    "runs/baseline_document: services: {database: 5432}",
    # A hidden mark.
    "runs/publish_result: <!-- forge-bot:summary run= -->",
    # A mistake of ours.
    "sandbox/box: is not the name of something inside the work tree",
}
"""What the code of these rooms says to programs, or into the output of commands."""
_GIVEN_BY: dict[str, set[str]] = {"say": set(), "_what": {"repository"}}
"""The functions that say a sentence by its name, with the values that they give by themselves."""
_TEMPLATES = {"language", "replies"}
"""Files that are no sentences: replies are templates, each of which has an example elsewhere."""
_WORD = re.compile(r"[A-Za-z][a-z']+")
_MARKS = re.compile(r"\[/?[a-z ]*\]|`[^`]*`|forge-bot")
"""Marks of rich, code, and our own name."""
_PIRATE = {
    "language.toml": 'plural = "n == 1 ? 0 : n <= 3 ? 1 : 2"\n',
    "question.toml": """
go_on_with_this_version = "aye, sail on with this very one"
interfaces = "Planks"
files = ["{count} scroll", "{count} scrolls", "{count} scrolls, a chest of them"]
""",
    "hints.toml": '[git]\nnot_a_repository = "Board a ship first."\n',
    "runs.toml": """
[phase_names]
no_such_phase = "Arr, {wanted} be no phase o' this ship."
""",
    "words.toml": 'and = "{before} & {last}"\n',
    "commands.md": "| command | what it be |\n| --- | --- |\n| `/status` | Where the ship be. |\n",
    "help.toml": '[list]\nwhat = "Muster the voyages."\n',
    "cli.toml": '[show_runs]\nwaits_for_you = "awaits thee, cap\'n, at {phase}"\n',
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


def texts(node: ast.AST) -> Iterator[str]:
    """The texts of two words and more that stand in an expression, but for those that are said."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
        return
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.Subscript | ast.Compare):
        for each in ast.iter_child_nodes(node):
            yield from texts(each)


def is_sentence(text: str) -> bool:
    """Whether a text has several words, and is no command to type."""
    words = _WORD.findall(_MARKS.sub("", text))
    return len(words) > 1 and " " in text.strip() and not text.startswith("git ")


def name_of(callee: ast.expr) -> str:
    """The last part of the name that is called."""
    return callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")


def assigned(inside: Collection[ast.AST]) -> dict[str, list[ast.expr]]:
    """What a file assigns to each plain name."""
    found: dict[str, list[ast.expr]] = {}
    for node in inside:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def literals(
    path: Path, callees: Collection[str], keywords: Collection[str], first: int = 0
) -> list[str]:
    """The sentences in a file that are given to these callees without a name, from an argument on,
    as a text or by a variable that holds one; commands to type are none.
    """
    inside = nodes_of_files()[path]
    held = assigned(inside)
    return [
        text
        for node in inside
        if isinstance(node, ast.Call) and name_of(node.func) in callees
        for given in (
            *node.args[first:],
            *(each.value for each in node.keywords if each.arg in keywords),
        )
        for value in (held.get(given.id, []) if isinstance(given, ast.Name) else [given])
        for text in texts(value)
        if is_sentence(text)
    ]


def texts_of_file(path: Path) -> Iterator[str]:
    """The sentences of a file, but for docstrings, descriptions of fields, regular expressions,
    names of files, types and values of enumerations.
    """

    def of(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Call) and name_of(node.func) in _NO_TEXTS:
            return
        if isinstance(node, ast.ClassDef) and any(
            name_of(base) == "StrEnum" for base in node.bases
        ):
            return
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        else:
            types = {getattr(node, "annotation", None), getattr(node, "returns", None)}
            for each in ast.iter_child_nodes(node):
                if each not in types:
                    yield from of(each)

    module, *_ = nodes_of_files()[path]
    for text in of(module):
        if is_sentence(text):
            yield text


def errors_by_name() -> set[str]:
    """The names of all classes of errors that people read."""

    def below(cls: type) -> Iterator[str]:
        for child in cls.__subclasses__():
            yield child.__name__
            yield from below(child)

    return {"ForgeError", *below(ForgeError)}


def test_errors_say_sentences_of_the_catalogue() -> None:
    written = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in nodes_of_files()
        if path.relative_to(PRODUCT).parts[0] not in _WITHOUT_FILES
        and not path.stem.endswith("_workflow")
        and path.stem != "payloads"
        for text in literals(path, errors_by_name(), {"hint", "details"})
    }
    assert written == set()


def test_notices_of_a_run_are_sentences_of_the_catalogue() -> None:
    written = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in nodes_of_files()
        if path.stem not in _SAYS_WHAT_THE_RECORD_SAYS
        and path.relative_to(PRODUCT).parts[0] not in _WITHOUT_FILES
        for text in literals(path, {"Message", "warning"}, {"text"})
    }
    assert written == set()


def test_rooms_that_speak_to_people_have_no_sentence_in_their_code() -> None:
    written = {
        f"{place}: {text.strip()}"
        for pattern in _SPEAK_TO_PEOPLE
        for path in sorted(PRODUCT.glob(f"{pattern}.py"))
        if (place := f"{path.relative_to(PRODUCT).parts[0]}/{path.stem}") not in _FOR_OTHERS
        for text in texts_of_file(path)
    }
    assert sorted(written - _NOT_FOR_PEOPLE) == []
    assert sorted(_NOT_FOR_PEOPLE - written) == []


def test_commands_print_sentences_of_the_catalogue() -> None:
    written = {
        f"{path.name}: {text}"
        for path in sorted((PRODUCT / "cli").glob("*.py"))
        for text in literals(path, {"print", "echo"}, ())
    }
    assert written == set()


def helps(command: Any) -> Iterator[str]:
    """The help of a command, of its options, and of the commands below it."""
    yield " ".join((command.help or "").split())
    for each in command.params:
        yield " ".join((getattr(each, "help", None) or "").split())
    for each in getattr(command, "commands", {}).values():
        yield from helps(each)


def test_the_help_of_commands_is_in_the_catalogue() -> None:
    known = {" ".join(form.split()) for forms in catalogue(ENGLISH).values() for form in forms}
    shown = {*helps(typer.main.get_command(app))} - {"", "Show this message and exit."}
    assert len(shown) > 100
    assert sorted(each for each in shown if each not in known and "completion" not in each) == []


def test_checks_before_a_run_say_sentences_of_the_catalogue() -> None:
    written = {
        f"{path.name}: {text}"
        for path in sorted((PRODUCT / "runs" / "checks").glob("*.py"))
        for text in literals(path, {"refuse", "warn", "note"}, {"sentence", "way_out"}, 1)
        if not text.startswith("GITHUB_TOKEN=")
    }
    assert written == set()


def test_the_way_out_of_an_error_is_a_sentence_of_the_catalogue() -> None:
    hints = {kind.hint for kind in registry().values()} - {""}
    assert len(hints) > 90
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
        assert "Planks" in said, face
        assert "Interfaces" not in said, face
        assert "Interfaces" in in_english, face
    thread, terminal, _ = pirate
    assert "4 scrolls, a chest of them" in terminal
    assert "4 scrolls, a chest of them" in thread
    assert "`design.md` & `review-design.md`" in thread
    # What it lacks is said in English.
    assert "the model answers; nothing changes" in terminal


def test_a_question_of_a_run_is_asked_in_the_language_that_is_set(
    second_language: Path, asked_sample: Sample
) -> None:
    words = ("-m", "forge_bot", "resume", "--repo", str(asked_sample.path))
    assert "aye, sail on with this very one" in in_copy(second_language, "pirate", *words).stdout


def test_help_and_lists_are_said_in_the_language_that_is_set(
    second_language: Path, asked_sample: Sample
) -> None:
    assert (
        "Muster the voyages."
        in in_copy(second_language, "pirate", "-m", "forge_bot", "--help").stdout
    )
    repo = ("--repo", str(asked_sample.path))
    said = in_copy(second_language, "pirate", "-m", "forge_bot", "list", *repo).stdout
    assert "awaits thee, cap'n, at checkpoint-a" in said


def test_the_list_of_commands_is_said_in_the_language_that_is_set(second_language: Path) -> None:
    shown = "from forge_bot.gate.help import command_table\nprint(command_table())"
    said = in_copy(second_language, "pirate", "-c", shown).stdout
    assert "| `/status` | Where the ship be. |" in said
    assert "| `/help` | Show this list. |" in said


def test_an_error_is_said_in_the_language_that_is_set(
    second_language: Path, asked_sample: Sample
) -> None:
    words = ("-m", "forge_bot", "resume", "--until", "nowhere", "--repo", str(asked_sample.path))
    assert "Arr, nowhere be no phase" in in_copy(second_language, "pirate", *words).stderr


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
