"""The branch that the bot offers for merge: code only, and what becomes of it when people get there
first; and pull requests that people opened.
"""

import subprocess
from pathlib import Path

import pytest

from forge_bot.git.revisions import ENDED
from tests.bot.kept import Kept
from tests.bot.stage import Stage, heard
from tests.fakes.signing_keys import COMMITTER, verified

pytestmark = pytest.mark.slow

ANN = "ann <ann@x.example>"


def _record(stage: Stage) -> str:
    return f"{ENDED}{stage.state['run']}"


def _code(stage: Stage) -> list[str]:
    return stage.repo.bare.git("diff", "--name-only", f"main...{stage.offered}").split()


def test_one_commit_a_task_is_in_the_run_and_the_record_has_both(
    landed: Kept, tmp_path: Path
) -> None:
    stage = landed.again(tmp_path)
    bare = stage.repo.bare
    assert bare.git("rev-list", "--count", f"main..{stage.offered}").strip() == "1"
    assert stage.offered == stage.branch.replace("feature/", "chore/", 1)
    assert bare.contains(stage.branch, bare.head(stage.offered))
    parents = bare.git("log", "-1", "--format=%P", _record(stage)).split()
    assert parents == [bare.head(stage.branch), bare.head(stage.offered)]
    assert stage.said("reply occasion=record-not-kept") == []


def test_commits_for_merge_are_signed_by_the_jobs_that_write_and_who_works_has_no_key(
    walled: Kept, tmp_path: Path
) -> None:
    stage, text = walled.again(tmp_path), walled.stage.environ.get("FORGE_BOT_SIGNING_KEY", "")
    if not text:
        pytest.skip("ssh-keygen is not installed")
    key = tmp_path / "id"
    key.touch(0o600)
    key.write_text(text)
    public = subprocess.run(["ssh-keygen", "-y", "-f", str(key)], capture_output=True, check=True)
    key.with_suffix(".pub").write_bytes(public.stdout)
    bare = stage.repo.bare
    assert verified(bare.path, key, stage.offered) == f"G signer {COMMITTER}"
    for branch in (stage.branch, _record(stage)):
        assert verified(bare.path, key, branch, "%G?") == "N"


@pytest.mark.parametrize(
    "rule", [pytest.param("protection", marks=pytest.mark.slow), "ruleset", "signatures"]
)
def test_a_protected_branch_for_merge_is_named_and_neither_branch_moves(
    waiting: Stage, rule: str
) -> None:
    name = waiting.branch.replace("feature/", "chore/", 1)
    waiting.hub.protect(
        waiting.repo, name, ruleset=rule == "ruleset", signatures=rule == "signatures"
    )
    job = heard(waiting.say("/approve"))
    assert job.code != 0
    said = "".join(waiting.said("tracking"))
    assert f"`{name}`" in said
    assert ("squash merge" in said) == (rule == "signatures")
    assert waiting.repo.bare.head(name) == ""
    waiting.repo.protections.clear()
    assert heard(waiting.say("/retry")).code == 0
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.offered == name


@pytest.mark.parametrize("merged", [True, False])
def test_a_pull_request_that_is_over_gets_no_further_commits_and_that_is_said(
    over: Kept, tmp_path: Path, *, merged: bool
) -> None:
    stage = over.again(tmp_path)
    pull, offered, bare = stage.pull.pull, stage.offered, stage.repo.bare
    branch, record = stage.branch, _record(stage)
    assert pull is not None
    pull.last_head = bare.head(offered)
    stage.pull.state, stage.pull.closed = "closed", stage.hub.clock.tick()
    pull.merged = stage.pull.closed if merged else None
    stage.repo.bare.set_ref(f"refs/heads/{offered}", "")
    assert heard(stage.say("/retry final-commit")).code == 0
    assert stage.repo.bare.head(offered) == "", "nothing new, so nothing is made or said"
    assert stage.said("reply occasion=pull-request-over") == []
    assert stage.branches() == ["main"], "the record has all that the branches had"
    bare.set_ref(f"refs/heads/{branch}", bare.git("rev-parse", f"{record}^1").strip())
    bare.commit(branch, {"more.txt": "more\n"}, "More", ANN, stage.hub.clock.tick())
    assert heard(stage.say("/retry final-commit")).code == 0
    assert stage.repo.bare.head(offered) == ""
    (said,) = stage.said("reply occasion=pull-request-over")
    assert ("merged" if merged else "closed") in said
    assert branch in said


def test_a_record_that_the_remote_does_not_take_stays_on_the_branch_and_that_is_said(
    waiting: Stage,
) -> None:
    waiting.repo.bare.set_ref(ENDED.rstrip("/"), waiting.repo.bare.head("main"))
    assert heard(waiting.say("/approve")).code == 0
    (said,) = waiting.said("reply occasion=record-not-kept")
    assert waiting.branch in said


def test_update_merges_the_base_verifies_and_pushes_and_the_approval_stands(
    landed: Kept, tmp_path: Path
) -> None:
    stage = landed.again(tmp_path)
    bare, offered, decided = stage.repo.bare, stage.offered, stage.state["decisions"]
    assert heard(stage.say("/update", by="stranger")).result != "proceed"
    assert heard(stage.say("/update")).code == 0
    assert "has all of main already" in stage.said("reply occasion=cannot")[0]
    main = bare.commit("main", {"news.txt": "news\n"}, "News", ANN, stage.hub.clock.tick())
    assert heard(stage.say("/update")).code == 0
    assert stage.state["currentPhaseStatus"] == "completed"
    assert bare.contains(offered, main)
    assert bare.contains(stage.branch, main)
    assert "news.txt" not in _code(stage)
    assert stage.state["decisions"] == decided
    assert len([issue for issue in stage.repo.issues.values() if issue.pull]) == 1
    at = stage.hub.clock.tick()
    later = bare.commit("next", {"next.txt": "next\n"}, "Next", ANN, at, start=main)
    assert stage.pull.pull is not None
    stage.pull.pull.base = "next"
    assert heard(stage.say("/update")).code == 0
    assert bare.contains(offered, later)
    assert len([issue for issue in stage.repo.issues.values() if issue.pull]) == 1
    stage.pull.state = "closed"
    heard(stage.say("/update"))
    assert "closed already" in stage.said("reply occasion=cannot")[-1]


@pytest.mark.slow
def test_a_pull_request_from_a_fork_is_none_of_the_run_whatever_its_branch_and_files_are(
    waiting: Stage,
) -> None:
    fork = waiting.hub.fork(waiting.repo, "stranger")
    branches = (waiting.branch, waiting.branch.replace("feature/", "fix/"))
    workflow = {".github/workflows/forge-bot.yml": "on: issue_comment\n"}
    for branch in branches:
        waiting.hub.commit(fork, branch, workflow)
        pull = waiting.hub.pull(waiting.repo, branch, by="stranger", title="Mine", fork=fork)
        for word in ("/approve", "/forge status", "/forge"):
            assert heard(waiting.say(word, issue=pull)).result == "nothing"
            assert heard(waiting.say(word, issue=pull, by="stranger")).result == "refused"
        assert waiting.said(on=pull) == []
    assert waiting.state["decisions"] == []
    assert heard(waiting.say("/approve")).outcome == "done"
    pulls = [each for each in waiting.repo.issues.values() if each.pull is not None]
    assert [each.user and each.user.login for each in pulls] == [
        "stranger",
        "stranger",
        "github-actions[bot]",
    ]
    assert waiting.state["pullRequest"].endswith(f"/pull/{pulls[-1].number}")


@pytest.mark.slow
def test_a_pull_request_that_a_person_opened_for_the_bot_takes_commands_and_has_its_checks_mended(
    waiting: Stage,
) -> None:
    waiting.repo.actions_may_open_pulls = False
    assert heard(waiting.say("/approve")).outcome == "done"
    assert len(waiting.said("reply occasion=pull-request-by-hand")) == 1
    pull = waiting.hub.pull(waiting.repo, waiting.offered, by="maint", title="Opened by hand")
    assert pull.body == ""
    assert heard(waiting.say("/forge status", issue=pull)).code == 0
    assert len(waiting.said("reply occasion=status", on=pull)) == 1
    waiting.check("test", "failure", "FAILED tests/test_who.py")
    job = heard(waiting.say("/forge retry", issue=pull))
    assert job.code == 0, job.log
    assert len(waiting.said("reply occasion=follow-up", on=pull)) == 1
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.state["pullRequest"] == f"{waiting.hub.url}/acme/widget/pull/{pull.number}"
    assert pull.title == "Opened by hand"
