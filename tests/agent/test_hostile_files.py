"""Files as they should not be: huge, binary, linked, oddly named, of another repository. Read and
edited within bounds.
"""

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.edits import EditPlan, Folder, plan_edits
from forge_bot.agent.model_answers import AnswerKind, Document, Edit, parse_answer
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.text_files import expand_braces
from tests.agent.repository_scene import git
from tests.agent.scene import document

HUGE = 100_000_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with everything in it that makes reading and editing hard."""
    root = tmp_path_factory.mktemp("repository")
    (root / "src").mkdir()
    git(root, "init", "-q")
    (root / "src" / "app.py").write_text("a = 1\n")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\0\0" + bytes(range(256)))
    (root / os.fsdecode(b"caf\xe9.txt")).write_text("x\n")
    (root / "line\nend.txt").write_text("x\n")
    (root / "-n").write_text("x\n")
    git(root, "add", "-A")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'12345' * 8},library")
    (root / "library").mkdir()
    (root / "nested").mkdir()
    git(root / "nested", "init", "-q")
    git(root, "commit", "-q", "-m", "start")
    with (root / "huge.txt").open("wb") as file:
        file.write(b"needle in a line\n" * 10)
        file.truncate(HUGE)
    (root / "long.txt").write_bytes(b"needle " * (HUGE // 70))
    return root


def ask(root: Path, capability: str, **params: object) -> CapabilityResult:
    wanted = CapabilityRequest(key="1.1-x", capability=capability, params=json.dumps(params))
    return ProviderContext(root).fetch(wanted, WorkLimits())


def write(path: str, new: str = "new\n") -> Edit:
    return Edit(path=path, operation="write", old="", new=new)


def replace(path: str, old: str, new: str) -> Edit:
    return Edit(path=path, operation="replace", old=old, new=new)


def plan(root: Path, *edits: Edit) -> EditPlan:
    return plan_edits(Folder(root).read, edits)


def within(megabytes: int, work: Callable[[], object]) -> None:
    """Run it, and see that it never held more memory than that."""
    tracemalloc.start()
    try:
        work()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < megabytes * 1_000_000


# -- huge


@pytest.mark.parametrize(
    ("capability", "params", "status"),
    [
        ("read_file", {"path": "huge.txt"}, ResultStatus.TOOL_ERROR),
        ("search_code", {"pattern": "needle", "path": "long.txt"}, ResultStatus.OK),
        ("search_code", {"pattern": "needle"}, ResultStatus.OK),
        ("list_files", {}, ResultStatus.OK),
    ],
)
def test_a_huge_file_is_looked_at_within_bounds(
    root: Path, capability: str, params: dict[str, object], status: ResultStatus
) -> None:
    found: list[CapabilityResult] = []
    within(30, lambda: found.append(ask(root, capability, **params)))
    assert found[0].status is status
    assert len(found[0].content) <= 40_000


@pytest.mark.parametrize(
    "edit",
    [
        write("huge.txt"),
        replace("huge.txt", "needle", "x"),
        replace("long.txt", "never there", "x"),
    ],
)
def test_a_huge_file_is_left_to_a_person_within_bounds(root: Path, edit: Edit) -> None:
    found: list[EditPlan] = []
    within(30, lambda: found.append(plan(root, edit)))
    assert "more than 2,500,000 bytes" in found[0].problems[0]


# -- no text


@pytest.mark.parametrize(
    "edit", [write("new.txt", "a\0b"), replace("src/app.py", "a = 1", "a = '\0'")]
)
def test_nul_is_written_into_no_file(root: Path, edit: Edit) -> None:
    assert "NUL" in plan(root, edit).problems[0]


# -- links and other repositories


@pytest.mark.parametrize("path", ["library/new.py", "library/deep/new.py", "nested/new.py"])
def test_what_belongs_to_another_repository_is_not_edited(root: Path, path: str) -> None:
    assert "is a repository of its own" in plan(root, write(path)).problems[0]


# -- names


@pytest.mark.parametrize(
    "path",
    [
        "x" * 256,
        "é" * 128,
        "/".join(["deep"] * 1_000),
        "src/App.py/..",
        "line\nend.py",
        "tab\t.py",
        "../x",
        ".git/config",
        "-n/../../x",
    ],
)
def test_a_new_file_has_a_name_that_this_system_takes(root: Path, path: str) -> None:
    problems = plan(root, write(path)).problems
    assert len(problems) == 1
    assert "\n" not in problems[0]
    assert len(problems[0]) < 500


@pytest.mark.parametrize(
    "path",
    [
        "x" * 300,
        "x/" * 5_000,
        "a\0b",
        "line\nend.txt",
        "-n",
        "",
        "~root",
        "C:\\x",
        ".git/config",
        "{a,b}" * 40,
    ],
)
@pytest.mark.parametrize("capability", ["read_file", "search_code", "list_files"])
def test_whatever_path_a_model_names_it_gets_an_answer(
    root: Path, capability: str, path: str
) -> None:
    more = {"pattern": "x"} if capability == "search_code" else {}
    seen = ask(root, capability, path=path, **more)
    assert str(root) not in seen.content
    assert len(seen.content) <= 40_000


def test_names_that_are_no_utf_8_are_listed_and_do_no_harm(root: Path) -> None:
    listed = ask(root, "list_files").content
    assert "caf\ufffd.txt" in listed
    listed.encode()


def test_braces_are_several_globs() -> None:
    assert [*expand_braces("*.{py,toml}")] == ["*.py", "*.toml"]
    assert [*expand_braces("{a,b}/{c,d}")] == ["a/c", "a/d", "b/c", "b/d"]


# -- documents


def test_a_document_comes_without_what_a_terminal_would_obey() -> None:
    odd = "# T\n\n\x1b[31mred\x1b[0m\x1b]0;title\x07 bell\x07 nul\0 back\x08 \x9b2J tab\t\r\nend\n"
    answer = parse_answer(document(odd), AnswerKind.DOCUMENT)
    assert isinstance(answer, Document)
    assert answer.artifact_markdown == "# T\n\nred bell nul back 2J tab\t\r\nend\n"
