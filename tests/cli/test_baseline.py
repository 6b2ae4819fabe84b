"""A baseline that tells nothing is a question before the first model call, at every door."""

import json
from typing import Any

import pytest

from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"


def configured(sample: Sample, text: str) -> None:
    folder = sample.path / ".forge"
    folder.mkdir(exist_ok=True)
    (folder / "config.yml").write_text(text)


def status(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


@pytest.mark.slow
def test_a_missing_tool_is_asked_about_before_a_model_and_named_in_the_pull_request(
    sample: Sample,
) -> None:
    configured(sample, "commands:\n  lint: [[env, no-such-linter, --strict]]\n")
    model = sample.model()
    asked = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert asked.code == 3
    assert "lint (env no-such-linter --strict) could not be started" in asked.out
    state = status(sample)
    assert state["gate"]["reason"] == "baseline"
    assert state["usage"]["calls"] == 0
    document = (sample.workspace / "baseline.md").read_text()
    assert "or leave it out there (`[]`)" in document
    assert sample.git("status", "--porcelain", "--", ".specs") == ""
    assert "baseline.md" in sample.git("ls-tree", "-r", "--name-only", sample.branch)

    assert sample.forge("approve", "--model", model).code == 3
    assert status(sample)["gate"]["name"] == "checkpoint-a"
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["verification"]["red"] is False
    text = (sample.workspace / "pull-request.md").read_text()
    assert "could not be started before the change; a person agreed that it is not judged" in text
    assert "12 tests" in text, "the other commands still count"


def test_a_detected_linter_that_the_setup_does_not_install_asks_nobody(sample: Sample) -> None:
    (sample.path / ".flake8").write_text("[flake8]\nmax-line-length = 100\n")
    configured(sample, "commands: {setup: [], test: python3 -S -m unittest discover -s tests}\n")
    sample.git("add", "-A")
    sample.git("commit", "-qm", "Lines are short")
    asked = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert status(sample)["gate"]["name"] == "checkpoint-a", asked.out
    assert "is not judged: the setup does not install it" in asked.out, asked.out
    assert sample.forge("approve", "--model", sample.model()).code == 0
    text = (sample.workspace / "pull-request.md").read_text()
    assert "is not judged: the setup does not install it" in text
    assert "**lint**" not in text


NEEDS_A_FILE = """\
import pathlib

text = pathlib.Path("conf/test.env").read_text()
assert not text, text
"""


@pytest.mark.slow
def test_an_ignored_file_that_tests_need_is_named_and_can_be_brought_along(sample: Sample) -> None:
    setup = "test ! -e conf/test.env"
    commands = f"commands: {{test: python3 -m unittest -v tests.test_settings, setup: '{setup}'}}\n"
    configured(sample, commands)
    (sample.path / ".gitignore").write_text("*.env\n")
    (sample.path / "tests/test_settings.py").write_text(NEEDS_A_FILE)
    sample.git("add", "-A")
    sample.git("commit", "-qm", "settings")
    (sample.path / "conf").mkdir()
    (sample.path / "conf/test.env").write_text("KIND=local\nexport API_TOKEN='tr0ub4dor&3'\n")
    (sample.path / "link.env").symlink_to("conf/test.env")

    asked = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert asked.code == 3
    document = (sample.workspace / "baseline.md").read_text()
    assert "without the files that git ignores in your checkout" in document
    assert '`carry: ["conf/test.env", "link.env"]`' in document

    # Another setup, so that it runs once more.
    commands = commands.replace("! -e", "! -f")
    configured(sample, f"{commands}carry: [conf/test.env, link.env, README.md, gone.env]\n")
    again = sample.forge("reject", "tried again", "--model", sample.model())
    for name in ("link.env", "README.md", "gone.env"):
        assert f"{name} is not taken along" in again.out
    assert "conf/test.env is not taken along" not in again.out
    document = (sample.workspace / "baseline.md").read_text()
    assert "KIND=local" in document, "the test found it, and fails by its contents"
    assert "[API_TOKEN]" in document
    assert "tr0ub4dor" not in document
    assert "conf/test.env" not in sample.git("ls-tree", "-r", "--name-only", sample.branch)
    places = sample.path.parent
    assert not [*places.rglob("**/tree/conf"), *places.rglob("judged/conf/*")]


def test_a_program_that_setup_installs_comes_before_others_of_its_name(sample: Sample) -> None:
    install = "mkdir -p {env}/bin; cp /bin/true {env}/bin/false"
    setup = json.dumps([["sh", "-c", install]])
    configured(sample, f"commands:\n  setup: {setup}\n  lint: [['false'], [env, 'false']]\n")
    asked = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert "Human Reviews Design" in asked.out, asked.out
    lint = [each for each in status(sample)["baseline"] if each["name"] == "lint"]
    assert [each["exitCode"] for each in lint] == [0, 0]


def test_what_a_person_says_of_commands_is_told_to_no_agent(sample: Sample) -> None:
    configured(sample, "commands:\n  test: [[python3, -m, unittest, --no-such-flag]]\n")
    model = sample.model()
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    configured(sample, "")
    asked = sample.forge("reject", "with the usual command", "--model", model)
    assert "Human Reviews Design" in asked.out, asked.out
    journal = next(sample.path.parent.rglob("journal.jsonl")).read_text()
    assert "names somebody for days before" in journal
    assert "with the usual command" not in journal


def test_auto_waits_for_a_person_at_a_baseline_that_tells_nothing(sample: Sample) -> None:
    configured(sample, "commands:\n  test: [[python3, -m, unittest, --no-such-flag]]\n")
    model = sample.model()
    asked = sample.forge("run", TASK, "--effort", "S", "--auto", "--model", model)
    assert asked.code == 3
    assert "without naming what fails" in asked.out
    assert status(sample)["usage"]["calls"] == 0
