"""Publishes outside the run: the pull request's text, a push, the last commit, and a pull request
by the forge's own command line.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal

from forge_bot.engine.gates import can_be_posted, may_post
from forge_bot.engine.reports import PeopleCommitted
from forge_bot.errors import GitFailed, PushRefusal, PushRefused
from forge_bot.forge import OpenPullRequest, parse_remote
from forge_bot.forge.types import NewPullRequest
from forge_bot.git import Repository
from forge_bot.git.commit_objects import changed_files
from forge_bot.git.remotes import fetch_branch
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.house_demands import GUIDES, TOWNCRIER, house_demands
from forge_bot.interaction.pull_request import PullRequestText, pull_request
from forge_bot.interaction.pull_request_template import Customs, find_template
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.runs.branch_for_merge import (
    Offer,
    newest_base,
    offer,
    peoples_commits,
    push_run,
    target_of,
)
from forge_bot.runs.code_commits import states_types
from forge_bot.runs.run import Run
from forge_bot.sentences import listed
from forge_bot.store.files import write_whole
from forge_bot.values import Frozen

PULL_REQUEST = "pull-request.md"
_LONGEST_COMMENT = 30_000
"""Characters of a summary in a comment; an argument has 128 KiB, a character up to 4 bytes."""

_TRIES = 5
"""Attempts to push. Each lost one means that somebody pushed to the branch for merge."""

Post = Callable[[str, str], str]
"""Posts a text as a comment to the issue at an address, and returns the comment's own address."""


def offered_head(repository: Repository, branch: str) -> tuple[str, str]:
    """Return how a pull request names a branch, and the repository that takes it: with the owner,
    and `upstream`'s, where `origin` is a fork; else the branch alone, and nothing.
    """
    urls = [repository.remote_url(name) for name in ("origin", "upstream")]
    if not all(urls):
        return branch, ""
    ours, theirs = (parse_remote(url, os.environ) for url in urls)
    if ours is None or theirs is None or ours.name.lower() == theirs.name.lower():
        return branch, ""
    return f"{ours.name.partition('/')[0]}:{branch}", theirs.name


class PublishResult(Frozen):
    """The visible result: a sentence, its address if it has one, and the branch for merge with a
    sentence of its own.
    """

    detail: str
    url: str = ""
    branch: str = ""
    offer: str = ""


def publish_result(offered: Offer, detail: str, url: str = "") -> PublishResult:
    """Return the result of a publication, with the offered branch."""
    return PublishResult(detail=detail, url=url, branch=offered.branch, offer=offered.said)


@dataclass(eq=False)
class Publisher:
    """Performs the publications that a local run can do. Nothing leaves the machine unless a push
    was asked for.
    """

    run: Run
    _: KW_ONLY
    push: bool = False
    post: Post | None = None
    open_pr: OpenPullRequest | None = None

    @property
    def _can_post(self) -> bool:
        return self.post is not None and can_be_posted(self.run.pipeline, self.run.state)

    def asks(self) -> bool:
        """Return whether a person is to be asked before the summary is posted."""
        return self._can_post and not may_post(self.run.pipeline, self.run.state)

    def peoples_commits(self) -> PeopleCommitted | None:
        """Return the report on what people added to the code branch, also at a remote that is
        pushed to; None without any.
        """
        run, branch = self.run, self.run.code_so_far().branch
        if self.push and branch in run.repository.remote_branches():
            with suppress(GitFailed):
                fetch_branch(run.repository.root, branch)
        return peoples_commits(run)

    def publish(
        self, operation: Literal["pull-request", "post-to-source", "final-commit"]
    ) -> PublishResult:
        """Do it, and say what was done. Raises GitFailed when a push fails."""
        match operation:
            case "pull-request":
                return self._pull_request()
            case "post-to-source":
                return self._post()
            case "final-commit":
                return self._final_commit()

    def _pull_request(self) -> PublishResult:
        run = self.run
        offered = offer(run)
        written = pull_request_text(run, offered)
        run.workspace.write(PULL_REQUEST, f"# {written.title}\n\n{written.body}")
        write_whole(body_file(run), written.body)
        detail = f"the pull request's text is {PULL_REQUEST}; nothing was pushed"
        if self.push:
            offered = self._pushed(offered)
            pushed = listed(list(dict.fromkeys(filter(None, (run.state.branch, offered.branch)))))
            detail = f"pushed {pushed}; the pull request's text is {PULL_REQUEST}"
        url = ""
        if self.open_pr is not None and offered.branch:
            url = self.open_pr(wanted_pull_request(run, offered.branch, written))
        return publish_result(offered, detail, url)

    def _post(self) -> PublishResult:
        run = self.run
        if self.post is not None and self._can_post and may_post(run.pipeline, run.state):
            address = self.post(run.state.source.url, comment_text(run))
            return PublishResult(detail="posted the summary to the issue", url=address)
        why = "it takes a person at a terminal, GITHUB_TOKEN and an issue on GitHub"
        if run.state.flags.skip_pr:
            why = "the run was begun with --nopr"
        return PublishResult(detail=f"the summary was not posted to the issue: {why}")

    def _final_commit(self) -> PublishResult:
        name = self.run.state.branch
        offered = offer(self.run)
        if not self.push:
            return publish_result(offered, f"the run's own branch is {name}")
        return publish_result(self._pushed(offered), f"the last commit of {name} was pushed")

    def _pushed(self, offered: Offer) -> Offer:
        """Push, and merge people's new commits on the offered branch."""
        for _ in range(_TRIES):
            try:
                push_run(self.run, offered)
            except PushRefused as error:
                if (error.why, error.branch) != (PushRefusal.BEHIND, offered.branch):
                    raise
                fetch_branch(self.run.repository.root, offered.branch)
                offered = offer(self.run)
            else:
                return offered
        push_run(self.run, offered)
        return offered


def comment_text(run: Run) -> str:
    """Return the summary as a comment: what would act in it is made harmless, and the marker keeps
    it from being read for commands.
    """
    summary = run.workspace.read(run.pipeline.summary)
    path = f"{run.workspace.relative}/{run.pipeline.summary}"
    rest = f"The rest is in `{path}`."
    cut = f"\n\n{rest}" if len(summary) > _LONGEST_COMMENT else ""
    shown = escape.document(summary[:_LONGEST_COMMENT]).text
    return f"<!-- forge-bot:summary run={run.name} -->\n{shown}{cut}"


def pull_request_text(run: Run, offered: Offer | None = None) -> PullRequestText:
    """Title and body of the pull request; documents are named by their paths, since nothing may be
    on GitHub yet.
    """
    state, links = run.state, Links(workspace=f"{run.state.branch}:{run.workspace.relative}")
    if offered is not None and offered.branch:
        state = state.replace(pull_request_branch=offered.branch)
    record = run.tree.commit_id()
    facts = RunFacts(pipeline=run.pipeline, state=state, links=links, record=record)
    return pull_request(facts, documents_of(run), customs_of(run))


def customs_of(run: Run) -> Customs:
    """Return the customs of the repository's pull requests, as of the commit of the run's base, and
    how much the run's change has of what they ask.
    """
    repository, base, so_far = run.repository, run.state.base_commit, run.code_so_far()
    files = repository.list_files(base)
    path = find_template(files)
    raw = repository.read_many(base, [*GUIDES, *TOWNCRIER, *filter(None, [path])])
    texts = {name: text.decode("utf-8", "replace") for name, text in raw.items()}
    differing = changed_files(repository.root, newest_base(run), so_far.tip)
    changed = differing.keys() & {*repository.list_files(so_far.tip)}
    return Customs(
        template=texts.get(path, ""),
        typed=states_types(repository, base),
        demands=house_demands(texts, files, changed, signed=run.config.sign_off),
        changed=tuple(sorted(changed)),
    )


def wanted_pull_request(run: Run, branch: str, written: PullRequestText) -> NewPullRequest:
    """Return the pull request of a branch as the command line is asked for it."""
    head, repository = offered_head(run.repository, branch)
    base, file = target_of(run), str(body_file(run))
    return NewPullRequest(written.title, written.body, head, base, written.draft, file, repository)


def body_file(run: Run) -> Path:
    """The file with the text of the pull request, outside of git."""
    return run.places.home / "pull-request-body.md"


def documents_of(run: Run) -> dict[str, str]:
    """The texts of the run's documents, by name."""
    names = [name for name in run.state.artifacts if name.endswith(".md")]
    return {name: text for name in names if (text := run.artifact(name)) is not None}
