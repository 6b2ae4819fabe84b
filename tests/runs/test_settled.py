"""What a killed process or a person left is brought into agreement when a run is opened: same
commit, same files, same text.
"""

import getpass
from pathlib import Path

import pytest

from tests.fakes.sample import Sample

TASK = "Nobody is on call before the rota starts"


@pytest.fixture(
    params=[pytest.param(False, id=""), pytest.param(True, id="ignored", marks=pytest.mark.slow)]
)
def waiting(request: pytest.FixtureRequest) -> Sample:
    """A run that waits at its design gate; its record is an ignored folder in one of two
    repositories.
    """
    if not request.param:
        return request.getfixturevalue("asked_sample")
    sample: Sample = request.getfixturevalue("sample")
    (sample.path / ".gitignore").write_text(".specs/\n")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "ignore the record")
    assert sample.forge("run", TASK, "--effort", "S", "--model", sample.model()).code == 3
    return sample


def tree(sample: Sample) -> Path:
    return sample.workspace.parents[1]


def test_a_branch_that_was_taken_back_is_gone_on_with_from_there(waiting: Sample) -> None:
    waiting.git("-C", str(tree(waiting)), "reset", "-q", "--soft", "HEAD~2")
    there = waiting.workspace / "reports.jsonl"
    before = there.read_bytes()
    again = waiting.forge("resume", "--model", waiting.model())
    assert again.code == 3, again.err
    assert "the committed reports are back" in again.out
    assert there.read_bytes() != before
    record = f"{waiting.branch}:.specs/{waiting.workspace.name}/reports.jsonl"
    assert there.read_text() == waiting.git("show", record) + "\n"
    assert waiting.git("-C", str(tree(waiting)), "status", "--porcelain") == ""


@pytest.mark.slow
def test_reports_and_artifacts_that_are_gone_come_back_from_the_last_commit(
    waiting: Sample,
) -> None:
    for file in waiting.workspace.iterdir():
        file.unlink()
    listed = waiting.forge("list").out
    assert waiting.branch in listed
    again = waiting.forge("resume", "--model", waiting.model())
    assert again.code == 3, again.err
    assert "the committed reports are back" in again.out
    assert (waiting.workspace / "design.md").is_file()
    assert waiting.forge("approve", "--model", waiting.model()).code == 0


def test_the_frozen_request_is_frozen_while_a_question_is_open_too(waiting: Sample) -> None:
    file = waiting.workspace / "request.md"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"on call", b"at work"))
    again = waiting.forge("resume", "--model", waiting.model())
    assert again.code == 3, again.err
    assert "request.md was changed" in again.out
    assert file.read_bytes() == whole


def test_an_edit_by_hand_is_shown_with_its_author_and_first_of_all_the_plan(
    waiting: Sample,
) -> None:
    design = waiting.workspace / "design.md"
    design.write_text(design.read_text() + "\nOne more line.\n")
    asked = waiting.forge("resume", "--model", waiting.model()).out
    first = "\n".join(asked[asked.index("Human Reviews Design") :].splitlines()[:40])
    assert f"design.md was changed by hand by {getpass.getuser()}" in first
    assert "none at this effort; you are the first to look at it" in first
    assert "Answers, at a terminal" in first
    assert "forge-bot approve" in first
    name = ("-c", "user.name=Ann Editor", "-c", "user.email=a@b.c")
    design.write_text(design.read_text() + "\nAnd another.\n")
    waiting.git("-C", str(tree(waiting)), "add", "-f", ".specs")
    waiting.git("-C", str(tree(waiting)), *name, "commit", "-qm", "And another")
    assert (
        "changed by hand by Ann Editor" in waiting.forge("resume", "--model", waiting.model()).out
    )
