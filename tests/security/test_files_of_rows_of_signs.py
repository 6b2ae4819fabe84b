"""Files of a repository and requests that were made to keep us busy outside of the sandbox: when a
run begins, they are read before anything else.
"""

import time
from pathlib import Path

import pytest

from forge_bot.artifacts.plans import change_name
from forge_bot.knowledge.mentions import mentions, request_names
from forge_bot.runs.project_commands.commit_profile import read_profile
from tests.fakes.sampled import sampled
from tests.project.graph_scene import graph

LENGTH = 100_000
"""One that takes a time with the square of it takes 20 seconds and more."""
FILES = {
    "Makefile": ("", "test: ", "include ", "a"),
    "go.mod": ("module ",),
    "go.work": ("",),
    "package.json": ('{"scripts": {"test": "',),
    "pnpm-workspace.yaml": ("packages:\n- ",),
    "pyproject.toml": ("[project]\ndependencies = ['",),
    "requirements.txt": ("", "-r "),
    "setup.cfg": ("[options]\ninstall_requires =\n ",),
    "tests/test_a.py": ("", "import "),
    "Rakefile": ("",),
    ".github/workflows/ci.yml": ("jobs: {test: {steps: [{run: ",),
}
SIGNS = ("\n", " ", "a", "-", "=", "[", "(", "/", '"\\', "$(", "a ", "use (\n", "include a*\n")


@pytest.mark.parametrize("name", sampled(FILES, 2))
def test_a_file_of_one_sign_is_read_in_a_moment(name: str) -> None:
    before = time.process_time()
    for begins in FILES[name]:
        for sign in SIGNS:
            text = f"{begins}{sign * (LENGTH // len(sign))}!"
            read_profile([name, "src/a.py"], {name: text}.get)
    assert time.process_time() - before < 10


def test_a_makefile_that_includes_itself_many_times_is_read_once() -> None:
    before = time.process_time()
    text = "include Makefile [Mm]akefile\n" * 200 + "test:\n\t./t\n"
    commands = read_profile(["Makefile"], {"Makefile": text}.get).commands
    assert [command.argv for command in commands.test] == [("make", "test")]
    assert time.process_time() - before < 3


@pytest.mark.parametrize(
    "sign", sampled(["_", "a", "a.", "-", "@", "\n", " ", "`a` ", "(", "$ "], 2)
)
def test_a_request_of_one_sign_is_read_in_a_moment(sign: str) -> None:
    before = time.process_time()
    text = sign * (LENGTH // len(sign)) + "!"
    request_names("A title", text)
    mentions(text)
    change_name(text, title=text)
    assert time.process_time() - before < 10


def test_names_behind_the_beginning_of_a_long_line_are_found() -> None:
    text = "It is broken. " * 2_000 + "See `lib/rota.py` and `on_call`."
    found = mentions(text)
    assert (found.paths, found.names) == (("lib/rota.py",), ("on_call",))


def test_files_of_one_sign_are_taken_into_the_graph_in_a_moment(tmp_path: Path) -> None:
    row = "a" * LENGTH
    files = {
        ".github/workflows/a.yml": f"jobs: {{test: {{steps: [{{run: {row}}}]}}}}",
        "a.sh": row,
        "a.vue": "<script>" * (LENGTH // 8),
        "b.vue": "<script></script>" * (LENGTH // 17),
        "b.ts": "import a from '@/a'\n",
        "tsconfig.json": '"\\' * (LENGTH // 2),
    }
    before = time.process_time()
    found = graph(tmp_path, files)
    assert {*found.files} == {*files}
    assert time.process_time() - before < 10
