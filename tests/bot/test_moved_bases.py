"""The base branch of a run that waits is renamed, or gets another history."""

import pytest

from tests.bot.stage import Stage, heard


@pytest.mark.slow
def test_a_repository_without_a_commit_is_told_so_without_a_path_of_the_machine(
    stage: Stage,
) -> None:
    commit = stage.repo.bare.head("main")
    stage.repo.bare.set_ref("refs/heads/main", "")
    job = stage.label()
    assert (job.code, job.outcome) == (5, "refused"), job.log
    (said,) = stage.said("reply occasion=git-003")
    assert said.startswith("**There is no commit on the default branch, `main`.**")
    assert "Push one to `main`" in said
    assert "Then say `/forge`." in said
    assert str(stage.folder) not in said + job.summary
    stage.repo.bare.set_ref("refs/heads/main", commit)
    assert heard(stage.say("/forge")).outcome == "waiting"


def test_a_base_that_was_rewritten_without_a_common_commit_is_told_with_the_way_out(
    waiting: Stage,
) -> None:
    bare = waiting.repo.bare
    name = ("-c", "user.name=ann", "-c", "user.email=ann@x.example")
    new = bare.git(*name, "commit-tree", "main^{tree}", "-m", "One commit").strip()
    bare.set_ref("refs/heads/main", new)
    assert heard(waiting.say("/forge update")).code == 0
    (said,) = waiting.said("reply occasion=cannot")
    assert "no common ancestor" in said
    assert "A new run begins from the newest." in said
    assert "shallow" not in said
