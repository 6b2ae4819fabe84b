"""The summary of a run that a server leads, posted to its issue by a worker after a person's yes."""

from pathlib import Path

from tests.cli.test_terminal import ISSUE, TASK, at_terminal
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import Server, clone


def test_the_summary_goes_to_the_issue_once_if_the_person_says_so(
    server: Server, github: FakeGitHub, tmp_path: Path
) -> None:
    issue = github.issue(github.repository("o/r"), TASK, number=42)
    with clone(tmp_path / "clone", server) as place:
        place.environ |= {
            "GITHUB_API_URL": github.url,
            "GH_HOST": github.url.partition("://")[2],
            "GITHUB_TOKEN": github.token("ann"),
        }
        # The comment arrives, and whoever wrote it does not hear of it.
        github.faults.lost("POST .*/issues/42/comments", after=True)
        place.start_worker()
        words = place.beginning(ISSUE)
        with at_terminal(place.path, place.environ, *words) as person:
            person.until("Your answer")
            person.say("a")
            seen = person.until("Your answer")
            assert "Post this summary" in seen
            person.say("p")
            person.until("Done.")
            assert person.ended() == 0
    (comment,) = issue.comments
    assert comment.body.startswith("<!-- forge-bot:summary run=")


def test_a_run_that_a_script_began_posts_nothing(
    server: Server, github: FakeGitHub, tmp_path: Path
) -> None:
    issue = github.issue(github.repository("o/r"), TASK, number=42)
    with clone(tmp_path / "clone", server) as place:
        place.environ |= {
            "GITHUB_API_URL": github.url,
            "GH_HOST": github.url.partition("://")[2],
            "GITHUB_TOKEN": github.token("ann"),
        }
        place.start_worker()
        assert place.begin(ISSUE).code == 3
        done = place.forge("approve")
        assert done.code == 0, done.out + done.err
    assert issue.comments == []
