"""The commands that were found do what they should: they are run in copies of the fixture
repositories.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.knowledge.repository_scene import copied, profile_at, run, said


def environment_with_this_pytest(env: Path) -> Path:
    """What setup would make of {env}, without asking a registry: an environment that sees the
    packages of this one.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    packages = next(env.glob("lib/python*/site-packages"))
    (packages / "here.pth").write_text(here + "\n", "utf-8")
    return env


def test_a_unittest_project_is_tested_with_nothing_installed(tmp_path: Path) -> None:
    root = copied("python-unittest", tmp_path)
    commands = profile_at(root).commands
    assert commands.setup == ()
    results = run(commands.test, root, tmp_path / "env")
    assert [result.returncode for result in results] == [0]
    assert "test_what_was_put_can_be_taken" in said(results)
    assert "Ran 2 tests" in said(results)


def test_a_red_unittest_is_red_and_its_output_names_it(tmp_path: Path) -> None:
    root = copied("python-unittest", tmp_path)
    module = root / "stock" / "__init__.py"
    module.write_text(module.read_text("utf-8").replace("-= 1", "-= 2"), "utf-8")
    results = run(profile_at(root).commands.test, root, tmp_path / "env")
    assert results[0].returncode == 1
    assert "FAIL: test_what_was_put_can_be_taken (tests.test_shelf.TakingTest" in said(results)


def test_tests_that_were_emptied_are_still_run_and_said_to_be_none(tmp_path: Path) -> None:
    root = copied("python-unittest", tmp_path)
    (root / "tests" / "test_shelf.py").write_text("import unittest\n", "utf-8")
    assert "Ran 0 tests" in said(run(profile_at(root).commands.test, root, tmp_path / "env"))


def test_pytest_without_a_single_test_does_not_pass(tmp_path: Path) -> None:
    root = copied("make-python", tmp_path)
    (root / "tests" / "test_page.py").unlink()
    env = environment_with_this_pytest(tmp_path / "env")
    results = run(profile_at(root).commands.test, root, env)
    assert [result.returncode for result in results] == [5]


def test_a_red_pytest_names_its_failures_one_on_a_line(tmp_path: Path) -> None:
    root = copied("make-python", tmp_path)
    (root / "page.py").write_text("def page(title: str) -> str:\n    return title\n", "utf-8")
    env = environment_with_this_pytest(tmp_path / "env")
    results = run(profile_at(root).commands.test, root, env)
    assert results[0].returncode == 1
    assert any(
        line.startswith("FAILED tests/test_page.py::test_a_title_is_escaped")
        for line in said(results).splitlines()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["python-pytest", "make-python"])
def test_a_pytest_project_is_installed_and_tested_as_found(name: str, tmp_path: Path) -> None:
    root = copied(name, tmp_path)
    commands = profile_at(root).commands
    results = run(
        (*commands.setup, *commands.build, *commands.test, *commands.lint), root, tmp_path / "env"
    )
    assert [result.returncode for result in results] == [0] * len(results), said(results)
    assert "passed" in said(results)
