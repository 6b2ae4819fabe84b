"""Publishes outside the run: the pull request's text, a push, the last commit."""

from collections.abc import Callable
from typing import Literal

from forge_bot.engine.post_to_source import can_be_posted, may_post
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.pull_request import PullRequestText, pull_request
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.runs.run import Run

PULL_REQUEST = "pull-request.md"
_LONGEST_COMMENT = 30_000
"""Characters of a summary in a comment; one argument of a command holds 128 KiB, and a character
has up to four bytes."""

LONGEST_BODY = 40_000
"""UTF-16 units of a body; one argument of `gh` holds 128 KiB, and a unit has up to three bytes."""

Post = Callable[[str, str], str]
"""Posts a text as a comment to the issue at an address, and returns the comment's own address."""


class Publisher:
    """Performs the publications that a local run can do. Nothing leaves the machine unless a push
    was asked for.
    """

    def __init__(self, run: Run, *, push: bool = False, post: Post | None = None) -> None:
        self.run = run
        self.push = push
        self.post = post

    def asks(self) -> bool:
        """Return whether a person is to be asked before the summary is posted."""
        return (
            self.post is not None
            and can_be_posted(self.run.pipeline, self.run.state)
            and not may_post(self.run.pipeline, self.run.state)
        )

    def publish(
        self, operation: Literal["pull-request", "post-to-source", "final-commit"]
    ) -> tuple[str, str]:
        """Do it; a sentence on what was done, and the URL it can be seen at, if any. Raises
        GitFailed when a push fails.
        """
        match operation:
            case "pull-request":
                written = pull_request_text(self.run)
                self.run.workspace.write(PULL_REQUEST, f"# {written.title}\n\n{written.body}")
                if self.push:
                    self.run.tree.push()
                    return (
                        (
                            f"pushed {self.run.state.branch}; the pull request's text is"
                            f" {PULL_REQUEST}"
                        ),
                        "",
                    )
                return f"the pull request's text is {PULL_REQUEST}; nothing was pushed", ""
            case "post-to-source":
                if (
                    self.post is not None
                    and can_be_posted(self.run.pipeline, self.run.state)
                    and may_post(self.run.pipeline, self.run.state)
                ):
                    return "posted the summary to the issue", self.post(
                        self.run.state.source.url, comment_text(self.run)
                    )
                return f"the summary was not posted to the issue: {self._why_not()}", ""
            case "final-commit":
                if self.push:
                    self.run.tree.push()
                    return f"the last commit of {self.run.state.branch} was pushed", ""
                return f"the work is on the branch {self.run.state.branch}", ""

    def _why_not(self) -> str:
        if self.run.state.flags.skip_pr:
            return "the run was begun with --nopr"
        return "it takes a person at a terminal, GITHUB_TOKEN and an issue on GitHub"


def comment_text(run: Run) -> str:
    """Return the summary as a comment: what would act in it is made harmless, and the marker keeps
    it from being read for commands.
    """
    summary = run.workspace.read(run.pipeline.summary)
    cut = (
        f"\n\nThe rest is in `{run.workspace.relative}/{run.pipeline.summary}`."
        if len(summary) > _LONGEST_COMMENT
        else ""
    )
    return (
        f"<!-- forge-bot:summary run={run.name}"
        f" -->\n{escape.document(summary[:_LONGEST_COMMENT]).text}{cut}"
    )


def pull_request_text(run: Run) -> PullRequestText:
    """Title and body of the pull request; documents are named by their paths, since nothing may be
    on GitHub yet.
    """
    facts = RunFacts(
        pipeline=run.pipeline, state=run.state, links=Links(workspace=run.workspace.relative)
    )
    return pull_request(facts, documents_of(run), LONGEST_BODY)


def documents_of(run: Run) -> dict[str, str]:
    """The texts of the run's documents, by name."""
    names = [name for name in run.state.artifacts if name.endswith(".md")]
    return {
        name: raw.decode("utf-8", "replace")
        for name in names
        if (raw := run.workspace.read_bytes(name)) is not None
    }
