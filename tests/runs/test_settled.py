"""What a killed process or a person left is brought into agreement when a run is opened: same
commit, same files, same text.
"""

from pathlib import Path

import pytest

from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"


@pytest.fixture(params=[False, True], ids=["", "ignored"])
def waiting(sample: Sample, request: pytest.FixtureRequest) -> Sample:
    """A run that waits at its design gate; its record is an ignored folder in one of two
    repositories.
    """
    if request.param:
        (sample.path / ".gitignore").write_text(".specs/\n")
        sample.git("add", "-A")
        sample.git(
            "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "ignore the record"
        )
    assert sample.forge("run", TASK, "--effort", "S", "--model", sample.model()).code == 3
    return sample


def tree(sample: Sample) -> Path:
    return sample.workspace.parents[1]


def message(sample: Sample) -> str:
    """Everything of the newest commit but its id: tree, dates, author, message."""
    return sample.git("log", "-1", "--format=%T%n%ad%n%cd%n%an%n%B", sample.branch)


def test_a_commit_that_was_not_come_to_is_made_as_it_would_have_been(waiting: Sample) -> None:
    before = message(waiting)
    waiting.git("-C", str(tree(waiting)), "reset", "-q", "--soft", "HEAD~1")
    assert message(waiting) != before
    gates = (waiting.workspace / "reports.jsonl").read_text().splitlines()[-1]
    (waiting.workspace / "reports.jsonl").write_text(
        (waiting.workspace / "reports.jsonl").read_text().replace(gates + "\n", "")
    )
    assert waiting.forge("resume", "--model", waiting.model()).code == 3
    assert message(waiting) == before


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
    file.write_bytes(whole.replace(b"rota who", b"rota whom"))
    again = waiting.forge("resume", "--model", waiting.model())
    assert again.code == 3, again.err
    assert "request.md was changed" in again.out
    assert file.read_bytes() == whole
