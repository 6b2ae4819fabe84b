"""Comments of which the gate cannot tell whether they hold a command: forge-bot is installed, reads
them as Markdown, and does no more than they say.
"""

from pathlib import Path

import pytest

from tests.bot.kept import Kept
from tests.bot.parted import Parted
from tests.bot.stage import Job, Stage, heard
from tests.fakes.github import FakeGitHub

FENCED = "It says\n\n```\n/approve\n```\n"
FOLDED = "<details>\n<summary>log</summary>\n\n/forge abandon\n\n</details>"


def writes(stage: Stage, since: int) -> list[str]:
    """Every request that changes something on GitHub."""
    return [asked for asked in stage.hub.asked(since=since) if not asked.startswith("GET ")]


def said(stage: Stage, body: str, by: str = "maint") -> tuple[Job, list[str], set[str]]:
    """Somebody writes a comment: the job, what was written, and the reactions it got."""
    comment = stage.comment(body, by)
    before = len(stage.hub.exchanges)
    job = stage.delivered(comment, by)
    reactions = {each.content for each in comment.reactions}
    return job, writes(stage, before), reactions


@pytest.mark.parametrize("body", [FENCED, FOLDED, "<!--\n/approve\n-->", "[a]: /x\n/approve"])
def test_a_command_that_nobody_sees_carries_nothing_on_and_is_not_answered(
    waiting: Stage, body: str
) -> None:
    waiting.comment("/approve 0000000", by="maint")
    before = waiting.state
    job, written, reactions = said(waiting, body)
    assert (job.result, job.code, job.outcome) == ("proceed", 0, "nothing"), job.log
    assert (written, reactions) == ([], set())
    assert waiting.state == before


def test_a_hidden_command_where_no_run_is_begins_none_and_says_nothing(stage: Stage) -> None:
    job, written, reactions = said(stage, FENCED.replace("/approve", "/forge"))
    assert (job.code, job.outcome) == (0, "nothing"), job.log
    assert (written, reactions, stage.branches()) == ([], set(), ["main"])


def test_a_command_below_code_is_seen_and_carried_out(waiting: Stage) -> None:
    job, _, reactions = said(waiting, f"{FENCED}\n/abandon")
    assert (job.code, job.outcome) == (0, "abandoned"), job.log
    assert reactions == {"eyes", "rocket"}
    assert waiting.state["currentPhaseStatus"] == "abandoned"


def test_a_start_below_code_writes_the_tracking_comment_first(stage: Stage) -> None:
    job, written, reactions = said(stage, "```\nTraceback\n```\n\n/forge look at the first day")
    assert job.code == 0, job.log
    assert "eyes" in reactions
    kinds = [asked.split("/")[-1] for asked in written]
    assert kinds[:2] == ["reactions", "comments"]
    assert len(stage.said("tracking")) == 1
    assert "look at the first day" in stage.document("request.md")


def test_a_slip_below_code_is_corrected_once_and_nothing_is_done(waiting: Stage) -> None:
    before = waiting.state
    slip = waiting.comment(f"{FENCED}\n/aprove")
    for _ in range(2):
        job = waiting.delivered(slip)
        assert (job.code, job.outcome) == (0, "mistyped"), job.log
    assert {each.content for each in slip.reactions} == {"eyes", "confused"}
    [answer] = waiting.said(f"reply to={slip.id}")
    assert "did you mean `/approve`?" in answer
    assert "Line 7" in answer
    assert waiting.state == before


def test_help_below_code_lists_the_commands_where_no_run_is_too(stage: Stage) -> None:
    job, _, reactions = said(stage, f"{FENCED}\n/help")
    assert (job.code, job.outcome, reactions) == (0, "helped", {"eyes", "+1"}), job.log
    assert "`/approve [digest]`" in stage.said("reply")[0]


def test_a_command_beside_help_is_not_lost(waiting: Stage) -> None:
    job, _, _ = said(waiting, "/help\n/abandon")
    assert job.outcome == "abandoned", job.log
    assert len(waiting.said("reply")) == 1


def test_a_stranger_causes_no_installation_and_no_word(stage: Stage) -> None:
    job, written, reactions = said(stage, f"{FENCED}\n/forge", by="stranger")
    assert (job.result, job.code, job.log) == ("refused", 0, "")
    assert (written, reactions) == ([], set())


def test_a_comment_that_was_edited_after_the_gate_is_refused_with_a_sentence(
    waiting: Stage,
) -> None:
    comment = waiting.comment(f"{FENCED}\n/approve")

    def edit() -> None:
        comment.updated = waiting.hub.clock.tick()

    job = waiting.delivered(comment, then=edit)
    assert (job.code, job.outcome) == (0, "refused"), job.log
    assert "edited" in waiting.said("refusal")[0]
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"


@pytest.mark.xdist_group("over")
def test_on_the_pull_request_of_a_run_it_is_the_same(over: Kept, tmp_path: Path) -> None:
    stage = over.again(tmp_path)
    for body, outcome in ((FENCED, "nothing"), (f"{FENCED}\n/help", "helped")):
        job = stage.delivered(stage.comment(body, issue=stage.pull))
        assert (job.code, job.outcome) == (0, outcome), job.log
    assert len(stage.said("reply to=", on=stage.pull)) == 1


@pytest.mark.journey
def test_behind_a_wall_no_worker_is_asked_for(github: FakeGitHub, tmp_path: Path) -> None:
    parted = Parted(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    assert heard(parted.label()).code == 0
    before = parted.state
    job = heard(parted.say(FENCED))
    assert job.code == 0, job.log
    assert not (parted.folder / "work").exists()
    assert parted.state == before
