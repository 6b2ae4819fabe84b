"""Publishes outside the branch: the pull request, kept up to date, and the last comment in
the thread.
"""

import re

from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments import RunView, command_replies, failure_replies
from forge_bot.bot.thread import Thread
from forge_bot.engine.gates import AUTO
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import Decision, Reason
from forge_bot.errors import GitHubRefused, PermissionMissing
from forge_bot.gate.command_types import Approve
from forge_bot.github_api import GitHub, NewPullRequest, PullState
from forge_bot.interaction.pull_request import pull_request
from forge_bot.runs.checks.request_checks import WORKFLOWS
from forge_bot.runs.publish import documents_of
from forge_bot.runs.run import Run

ACTIONS = "github-actions[bot]"
"""Whoever opens pull requests under this name has their checks held until a person clicks."""

_CHECKPOINT = "checkpoint-"
_ON_PULL_REQUEST = re.compile(rb"^[^#\n]*\bpull_request\b", re.MULTILINE)


class Publication:
    """Publishes for one run."""

    def __init__(self, github: GitHub, desk: CommentWriter) -> None:
        self.github = github
        self.desk = desk

    def publish(self, run: Run, operation: str) -> tuple[str, str]:
        """Do it; a sentence on what was done, and where it can be seen."""
        match operation:
            case "pull-request":
                return self._pull_request(run)
            case "post-to-source":
                self._hand_over(run)
                self.desk.track(self.desk.view(run))
                return "the result is in the thread", ""
            case _:
                return f"the last commit of {run.state.branch} is on its way", ""

    def refresh(self, run: Run) -> None:
        """Bring the text of an open pull request up to date, and take it out of draft once the
        verification is green.
        """
        pull = self.github.pull_request_for(run.state.branch)
        if pull is None or pull.state is not PullState.OPEN:
            return
        wanted = pull_request(self.desk.view(run), documents_of(run))
        if (pull.title, pull.body) != (wanted.title, wanted.body):
            self.github.update_pull_request(pull.number, title=wanted.title, body=wanted.body)
        if pull.draft and not wanted.draft:
            self.github.mark_ready(pull)

    def _hand_over(self, run: Run) -> None:
        """Say what is left for people: files that only they can push, and checks that only they can
        start.
        """
        view = self.desk.view(run)
        for name, files in view.patches.items():
            self.desk.say_once(
                failure_replies.workflow_files(view.links, view.commands, files=files, patch=name)
            )
        if (
            run.state.pull_request
            and self.desk.thread.inputs.policy.own == ACTIONS
            and _checked_on_pull_requests(run)
        ):
            self.desk.say_once(failure_replies.checks_wait(pull_request=run.state.pull_request))

    def _pull_request(self, run: Run) -> tuple[str, str]:
        view: RunView = self.desk.view(run)
        text = pull_request(view, documents_of(run))
        state = run.state
        new = NewPullRequest(
            title=text.title,
            body=text.body,
            head=state.branch,
            base=state.base_branch,
            draft=text.draft,
        )
        try:
            pull = self.github.open_pull_request(new)
        except (PermissionMissing, GitHubRefused) as error:
            # The work is done and lies on the branch; a person can open it with one click.
            url = view.links.compare(state.base_branch, state.branch)
            self.desk.say(command_replies.pull_request_by_hand(view, url=url, said=error.message))
            return f"the pull request has to be opened by hand: {error.message}", ""
        self.refresh(run)
        return f"pull request #{pull.number}", pull.url


def _checked_on_pull_requests(run: Run) -> bool:
    """Return whether a workflow of the repository looks as if it ran for pull requests."""
    commit = run.state.base_commit
    workflows = run.repository.list_files(commit, WORKFLOWS)
    return any(
        _ON_PULL_REQUEST.search(run.repository.read(commit, path) or b"") for path in workflows
    )


def unverified(run: Run, thread: Thread) -> Decision | None:
    """The newest approval of a checkpoint for which there is no comment here of somebody who may
    give it, and that nobody confirmed since.

    The record says who approved and where; whoever can push to the branch can write that. So the
    comment itself is looked for.
    """
    given = {
        spoken.comment.url: spoken.by
        for spoken in thread.spoken(thread.number)
        if isinstance(spoken.command, Approve)
    }
    for decision in reversed(run.state.decisions):
        ours = given.get(decision.via, "").casefold() == decision.by.casefold() != ""
        if (
            decision.reason is Reason.UNVERIFIED_APPROVAL
            and decision.answer == Answer.APPROVE
            and ours
        ):
            return None
        checkpoint = (
            decision.reason is None
            and decision.gate.startswith(_CHECKPOINT)
            and decision.answer == Answer.APPROVE
        )
        if checkpoint and not ours and not (decision.via == AUTO and run.state.flags.auto):
            return decision
    return None
