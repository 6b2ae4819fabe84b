"""Whole runs in the issue thread: the gate, the supervisor and the worker as processes, git over
HTTP, a scripted model; of a server of one's own, of a pipeline of steps, of a draft.

`test_real_processes.py` has those that the real Python runs from its start.
"""

import json
import re
from pathlib import Path

import pytest

from tests.bot.kept import Kept
from tests.bot.parted import Parted
from tests.bot.stage import SECRET, Stage, heard
from tests.fakes.github import FakeGitHub
from tests.runs.test_drafts import MENDED, corrected, drafted, edit
from tests.runs.test_next_document import ANALYST, TITLE


def test_a_label_starts_a_run_that_asks_and_an_approval_leads_to_a_pull_request(
    kept: Kept, over: Kept, tmp_path: Path
) -> None:
    stage = kept.again(tmp_path)
    assert [(job.result, job.code) for job in over.jobs] == [("proceed", 0)] * 2
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.state["currentPhaseStatus"] == "awaiting_human"

    stage = over.again(tmp_path)
    assert stage.state["currentPhaseStatus"] == "completed"
    pull = next(issue for issue in stage.repo.issues.values() if issue.pull is not None)
    assert pull.pull is not None
    assert pull.pull.head == stage.offered != stage.branch
    changed = stage.repo.bare.git("diff", "--name-only", f"main...{stage.offered}").split()
    assert changed
    assert not [name for name in changed if name.startswith(".specs/")]
    assert f"Closes #{stage.issue.number}" in (pull.body or "")
    assert (pull.pull.draft, [asked.login for asked in pull.pull.asked]) == (False, ["maint"])
    assert len(stage.said("tracking")) == 1
    assert "return None" in stage.files()["rota/schedule.py"]
    decision = stage.state["decisions"][0]
    assert decision["by"] == "maint"
    assert "#issuecomment-" in decision["via"]


def test_neither_token_nor_key_is_in_anything_that_can_be_read(over: Kept, tmp_path: Path) -> None:
    stage = over.again(tmp_path)
    log = "".join(job.log for job in over.jobs)
    tokens = list(stage.hub.tokens)
    assert len(tokens) == stage.jobs == len(over.jobs)
    everything = "\n".join(
        [
            log,
            *stage.files().values(),
            *(issue.body or "" for issue in stage.repo.issues.values()),
            *stage.said(),
        ]
    )
    assert not [secret for secret in (*tokens, SECRET) if secret in everything]


@pytest.mark.slow
def test_an_approval_of_a_version_that_has_changed_is_refused_with_the_new_one(
    waiting: Stage,
) -> None:
    path = next(name for name in waiting.files() if name.endswith("/design.md"))
    changed = waiting.files()[path] + "\nAnd one more thing.\n"
    waiting.repo.bare.commit(
        waiting.branch, {path: changed}, "By hand", "ann <a@b.c>", waiting.hub.clock.tick()
    )
    waiting.say("/approve")
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"
    assert len(waiting.said("checkpoint")) == 2
    assert any("stale" in body for body in waiting.said("reply"))
    waiting.say("/approve")
    assert waiting.state["currentPhaseStatus"] == "completed"


@pytest.mark.slow
def test_a_lost_event_is_made_up_for_by_the_next_one_and_two_approvals_are_one(
    waiting: Stage,
) -> None:
    first = waiting.comment("/approve")
    second = waiting.comment("/approve", by="boss")
    assert waiting.delivered(second, "boss").code == 0
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.delivered(first).code == 0
    assert [decision["by"] for decision in waiting.state["decisions"]] == ["maint"]
    assert "No question is open" in waiting.said("reply occasion=cannot")[0]


@pytest.mark.slow
def test_a_whole_run_asks_the_server_only_and_leads_people_to_no_other_host(stage: Stage) -> None:
    stage.environ["GITHUB_API_URL"] = f"{stage.hub.url}/api/v3"
    stage.say("/forge", lost=True)
    assert heard(stage.say("/forge status")).outcome == "waiting"
    assert stage.hub.url in stage.said("tracking")[0]
    job = heard(stage.say("/approve"))
    assert (job.code, job.outcome) == (0, "done"), job.log
    for text in (*stage.said(), stage.pull.body or "", job.summary):
        hosts = set(re.findall(r"https?://([\w.:-]+)", text))
        assert hosts <= {stage.hub.url.removeprefix("http://")}


AUDIT = "forge:audit"


def broken(stage: Stage, text: str = "def (:\n") -> None:
    """A file on main that cannot be read whole."""
    files: dict[str, str | bytes | None] = {"rota/broken.py": text}
    stage.repo.bare.commit("main", files, "Break it", "ann <a@b.c>", stage.hub.clock.tick())


def asked(stage: Stage) -> str:
    """The question of an audit."""
    stage.label(AUDIT)
    stage.label()
    return stage.said("checkpoint")[-1]


@pytest.mark.slow
def test_an_audit_goes_from_its_label_to_a_pull_request_without_a_model(stage: Stage) -> None:
    broken(stage)
    question = asked(stage)
    assert "is not read whole: line 1 cannot be parsed" in question
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "completed", stage.said()
    assert stage.state["usage"]["calls"] == 0
    (path,) = [name for name in stage.files() if name.startswith(".annotations/")]
    kept = json.loads(stage.files()[path])
    assert (kept["code"], kept["node"]) == ("SCAN-001", "rota/broken.py")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Stage, Parted], ids=["one job", "separate jobs"])
def test_a_yes_in_the_thread_applies_the_draft_as_its_reviewer_corrected_it_and_asks_no_model(
    github: FakeGitHub, tmp_path: Path, kind: type[Stage]
) -> None:
    stage = kind(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    review = corrected("APPROVE_WITH_NOTES", MENDED, edit(TITLE, "fix: say nobody"))
    stage.model({(ANALYST, "*", "*"): drafted(), ("design-reviewer", "*", "*"): review})
    heard(stage.say("/forge --effort S"))
    question = stage.said("checkpoint")[-1]
    assert "`draft.patch`" in question
    assert "1 finding corrected in the draft" in question
    assert "if day < self.start:  # before the rota" in question
    heard(stage.say("/approve"))
    assert stage.state["usage"]["calls"] == 2
    assert "# before the rota" in stage.files()["rota/schedule.py"]
    assert stage.state["artifacts"]["design.md"]["title"] == "say nobody"
