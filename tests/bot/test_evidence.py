"""The head of a pull request says which commit the run's evidence covers."""

from pathlib import Path

from tests.bot.kept import Kept
from tests.bot.stage import Stage, heard


def statuses(stage: Stage) -> list[tuple[str, str, str]]:
    """Return the statuses that the bot set: commit, state, description."""
    return [
        (one.sha, one.state, one.description or "")
        for one in stage.repo.statuses
        if one.context == "forge-bot/evidence"
    ]


def test_the_status_covers_the_head_and_after_somebodys_push_it_says_how_many_commits_came_since(
    over: Kept, tmp_path: Path
) -> None:
    stage = over.again(tmp_path)
    bare = stage.repo.bare
    head = bare.head(stage.offered)
    sha, state, said = statuses(stage)[-1]
    assert (sha, state) == (head, "success")
    assert said.startswith(f"evidence covers {head[:7]}; its record is ")
    at = stage.hub.clock.tick()
    bare.commit(stage.offered, {"rota/other.py": "OTHER = 1\n"}, "More", "ann <ann@x.example>", at)
    heard(stage.say("/status"))
    sha, state, said = statuses(stage)[-1]
    assert (sha, state) == (bare.head(stage.offered), "pending")
    assert said == f"evidence covers {head[:12]}; 1 commit since"
