"""What a command built from edits that are gone again is believed by no later judgement: it would
call red code green.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.runs.project_commands.project import Project
from forge_bot.values import CommandName
from tests.fakes.sampled import sampled
from tests.security.project_scene import checked, committed, project_in
from tests.security.scene import git

CONFIG = """sandbox: %s
setup_without_namespace: true
commands:
%s
  test: [[python3, test.py]]
"""
SETUP = "  setup: [[python3, -c, \"open('lib/tool.built', 'w').write('installed')\"]]"
TEST = """import os, sys
sys.path.insert(0, "lib")
import code_of_project
print(code_of_project.VALUE, sorted(os.listdir("lib")))
sys.exit(code_of_project.VALUE != "green")
"""
# Python runs bytecode of this sort without a look at the source (PEP 552).
POISON = """import pathlib, py_compile, sys
source = pathlib.Path("lib/poison.built")
source.write_text("VALUE = 'green'")
py_compile.compile(
    str(source),
    cfile=f"lib/__pycache__/code_of_project.{sys.implementation.cache_tag}.pyc",
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
)
print("planted")
"""

Made = Callable[[str], Project]


@pytest.fixture
def made(wall: str, tmp_path: Path) -> Made:
    """Make a project whose test is red, with this line for its setup."""

    def make(setup: str) -> Project:
        files = {
            ".forge/config.yml": CONFIG % (wall, setup),
            ".gitignore": "__pycache__/\n*.built\n",
            "lib/code_of_project.py": "VALUE = 'red'\n",
            "test.py": TEST,
        }
        return project_in(committed(tmp_path / "demo", files))

    return make


def edited(project: Project) -> str:
    """A commit whose tests plant bytecode; the branch stands before it again."""
    folder = project.tree.path
    (folder / "test.py").write_text(POISON, encoding="utf-8")
    git(folder, "commit", "-qam", "an edit")
    commit = git(folder, "rev-parse", "HEAD")
    git(folder, "reset", "-q", "--hard", "HEAD^")
    return commit


@pytest.mark.parametrize("setup", [SETUP, ""])
def test_bytecode_that_tests_of_an_earlier_commit_left_makes_no_red_test_green(
    made: Made, setup: str
) -> None:
    project = made(setup)
    project.set_up()
    git(project.tree.path, "reset", "-q", "--hard", edited(project))
    assert "planted" in project.run_tests([])
    git(project.tree.path, "reset", "-q", "--hard", "HEAD^")
    [result] = checked(project)
    assert result.exit_code == 1
    assert result.tail.startswith("red")


def test_what_the_try_of_an_edit_left_is_gone_before_the_judgement_and_what_setup_left_stays(
    made: Made,
) -> None:
    project = made(SETUP)
    project.set_up()
    with project.trial(edited(project)) as place:
        tried = project.run_in(place, CommandName.TEST, ("python3", "test.py"), 60).result
    assert tried.tail == "planted"
    [result] = checked(project)
    assert result.exit_code == 1
    assert result.tail == "red ['__pycache__', 'code_of_project.py', 'tool.built']"


LEAVES = """import pathlib, subprocess
pathlib.Path("lib/code_of_project.py").write_text("VALUE = 'green'")
pathlib.Path("lib/new.py").write_text("import this")
pathlib.Path("lib/page.md").unlink()
pathlib.Path("lib/.gitignore").write_text("new.py")
subprocess.run(["git", "init", "-q", "lib/docs"], check=True)
print("left")
"""


@pytest.mark.parametrize("anew", [False, True])
def test_nothing_that_a_command_changed_made_or_removed_is_there_at_the_next_judgement(
    made: Made, *, anew: bool
) -> None:
    folder = made(SETUP).tree.path
    for name in ("lib/page.md", "lib/docs/page.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("read\n", encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "pages")
    project = project_in(folder)
    project.set_up()
    words = ("python3", "-c", LEAVES)
    with project.trial(project.tree.commit_id()) as place:
        assert project.run_in(place, CommandName.TEST, words, 60).result.tail == "left"
        assert (place.path / "lib" / "new.py").exists()
    # A process that begins anew knows nothing of what the one before it has run.
    project = project_in(folder) if anew else project
    with project.trial(project.tree.commit_id()) as place:
        assert place.status() == ()
        assert not (place.path / "lib" / "new.py").exists()
        assert not (place.path / "lib" / "docs" / ".git").exists()


# As many bytes as before, and the time of the last change put back.
TAMPERS = """import os
name = "lib/code_of_project.py"
before = os.stat(name)
with open(name, "r+") as file:
    file.write("VALUE='green'\\n")
os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
print("tampered", os.stat(name).st_size == before.st_size)
"""


@pytest.mark.parametrize(
    ("setup", "setting"),
    [
        (SETUP, "core.trustctime=false"),
        (SETUP, "core.checkStat=minimal"),
        (SETUP, "core.ignoreStat=true"),
    ],
)
def test_a_file_that_a_command_changed_without_a_trace_is_as_it_was_at_the_next_judgement(
    made: Made, setup: str, setting: str
) -> None:
    project = made(setup)
    git(project.repository.root, "config", *setting.split("="))
    project.set_up()
    (project.tree.path / "test.py").write_text(TAMPERS, encoding="utf-8")
    git(project.tree.path, "commit", "-qam", "an edit")
    assert "tampered True" in project.run_tests([])
    git(project.tree.path, "reset", "-q", "--soft", "HEAD^")
    git(project.tree.path, "restore", "--staged", "--worktree", "test.py")
    [result] = checked(project)
    assert (result.exit_code, result.tail[:3]) == (1, "red")


IN_CACHE = """import os, pathlib
cache = pathlib.Path(os.environ["GOCACHE"], "kept")
found = cache.read_text() if cache.exists() else "nothing"
"""


def test_ignored_files_that_edits_left_are_not_run_where_what_go_compiles_is_kept(
    made: Made,
) -> None:
    folder = made(SETUP).tree.path
    (folder / "main.go").write_text("package main\n", encoding="utf-8")
    # Go compiles each file of a folder, also one that git ignores.
    base = f"{IN_CACHE}for each in pathlib.Path('lib').glob('*.built'):\n"
    base += "    'poison' in each.name and cache.write_text('poisoned')\nprint(found)\n"
    (folder / "test.py").write_text(base, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "with Go")
    project = project_in(folder)
    project.set_up()
    start = project.tree.commit_id()
    with project.trial(edited(project)) as place:
        project.run_in(place, CommandName.TEST, ("python3", "test.py"), 60)
    told: list[str] = []
    for _ in range(2):
        with project.trial(start) as place:
            tried = project.run_in(place, CommandName.TEST, ("python3", "test.py"), 60).result
        told.append(tried.tail)
    assert told == ["nothing"] * 2


REMEMBERS = """import pathlib
for name in ("lib/seen.built", "lib/out/seen.built"):
    file = pathlib.Path(name)
    if file.parent.is_dir():
        print(name, "again" if file.exists() else "first")
        file.write_text("seen")
"""
BUILD = (
    "  build: [[python3, -c, \"import os; os.mkdir('lib/out'); open('lib/out/a', 'w').close()\"]]"
)


def reruns(folder: Path) -> list[str]:
    """What a test prints in its first run and in two more, at the run's commit and at the base."""
    (folder / ".gitignore").write_text("__pycache__/\n*.built\n/lib/out/\n", encoding="utf-8")
    (folder / "test.py").write_text(REMEMBERS, encoding="utf-8")
    git(folder, "commit", "-qam", "remembers")
    project = project_in(folder)
    project.set_up()
    base, words = project.tree.commit_id(), ("python3", "test.py")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a change")
    head = project.tree.commit_id()
    first = next(each for each in checked(project) if each.name is CommandName.TEST)
    again = [project.rerun(commit, words) for commit in (head, head, base, base)]
    return [each.tail for each in (first, *again)]


@pytest.mark.parametrize("setup", sampled([SETUP, "  setup: []"], 2))
def test_tests_that_run_again_do_not_see_what_their_run_before_left(made: Made, setup: str) -> None:
    assert reruns(made(setup).tree.path) == ["lib/seen.built first"] * 5


def test_what_they_left_beside_what_was_built_stays_and_nothing_is_built_for_that(
    made: Made,
) -> None:
    told = reruns(made(f"{SETUP}\n{BUILD}").tree.path)
    assert {each.split("\n")[0] for each in told} == {"lib/seen.built first"}
    assert [each.endswith("again") for each in told] == [False, True, True, False, True]
