"""Create a run from a request: effort, branch, work tree, first commit."""

import os
import re
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from pydantic import Field

from forge_bot.engine import Pipeline, start
from forge_bot.engine.effort import EffortGuess, guess_effort
from forge_bot.engine.reports import RunFlags, RunStarted
from forge_bot.errors import BadOption, DirtyTree, EmptyTask, IssueUnavailable, TaskTooLarge
from forge_bot.gate.arguments import NO_LIMIT, Amount
from forge_bot.git import Head, Repository, Tree, blob_id
from forge_bot.runs.atomic_folder import atomic_folder
from forge_bot.runs.clock import now
from forge_bot.runs.commit_message import start_subject
from forge_bot.runs.ended_records import newest_records
from forge_bot.runs.failed_starts import FailedStart, noted, remove_failed_starts
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.free_names import check_free, free_branch, free_run
from forge_bot.runs.process_signals import this_process
from forge_bot.runs.run_paths import RunPaths, run_paths
from forge_bot.store import (
    SPECS,
    Request,
    Workspace,
    branch_name,
    held,
    render_request,
    slug,
    told_when_full,
    workspace_name,
    write_whole,
)
from forge_bot.values import Effort, Frozen, RecordsPolicy, Source

LONGEST_TASK = 100_000
"""Characters of a request. What is longer belongs into a file of the repository."""

LONGEST_TITLE = 80


_FOLDED = "* linguist-generated gitlab-generated\n"
"""Attributes by which GitHub and GitLab fold files in a diff."""

QUESTIONS = (
    "What is the main goal of this change?",
    "Are there constraints or things that must not change?",
    "How will you know that it is done?",
)
"""What `--discuss` asks before a run begins."""


class RequestDraft(Frozen):
    """A request, before anything is decided about it."""

    title: str
    text: str
    source: Source = Source()
    labels: tuple[str, ...] = ()
    issue_type: str = Field(default="", description="the tracker's type of the issue, as `Bug`")


class RunPlan(Frozen):
    """The plan for a draft; a person may change effort, slug and branch before it
    begins.
    """

    effort: Effort
    effort_reason: str
    slug: str
    branch: str
    here: bool = False


class NewRun(Frozen):
    """Everything a run begins with."""

    draft: RequestDraft
    plan: RunPlan
    flags: RunFlags = RunFlags()
    budget: Amount = NO_LIMIT
    by: str = ""
    answers: str = Field(default="", description="what --discuss brought up, added to the request")
    key: str = Field(
        default="",
        description=(
            "the first report's, so that the same wish begins one run only; made up if empty"
        ),
    )
    base: Head | None = Field(
        default=None, description="what the branch begins at; what is checked out if None"
    )
    records: RecordsPolicy | None = Field(
        default=None, description="None: on the run's branch, and nothing folds it there"
    )
    recalls_from: str = Field(
        default="", description="commit with records of ended runs, found when the run is made"
    )


def draft_from_words(task: str, *, token: str | None, api_url: str | None) -> RequestDraft:
    """The draft for a task in words, or for an issue by its URL. Raises EmptyTask,
    IssueUnavailable, TaskTooLarge, IssueUnavailable.
    """
    if (
        task.strip().startswith(("http://", "https://"))
        and (draft := _of_issue(task.strip(), token, api_url)) is not None
    ):
        return checked(draft)
    text = task.replace("\r\n", "\n").replace("\0", "").strip()
    if len(re.sub(r"\W", "", text)) < len("fix"):
        raise EmptyTask("The task is empty, or too short to mean anything.")
    return checked(RequestDraft(title=_title(text), text=text))


def draft_from(
    title: str, text: str, source: Source, labels: tuple[str, ...], issue_type: str = ""
) -> RequestDraft:
    """The draft for an issue that somebody else has read. Raises EmptyTask, TaskTooLarge."""
    words = text.replace("\r\n", "\n").replace("\0", "").strip()
    if not title.strip() and not words:
        raise EmptyTask("The issue has neither a title nor a text.")
    return checked(
        RequestDraft(
            title=title.strip() or _title(words),
            text=words,
            source=source,
            labels=labels,
            issue_type=issue_type.strip(),
        )
    )


def _of_issue(url: str, token: str | None, api_url: str | None) -> RequestDraft | None:
    from forge_bot.github_api import fetch_issue, parse_issue_url

    ref = parse_issue_url(url, _hosts())
    if ref is None and not re.search(r"\s", url):
        raise _no_issue(url)
    if ref is None:
        return None
    issue = fetch_issue(ref, token, api_url)
    source = Source(
        type="github_issue", id=str(issue.number), url=issue.url, author=issue.author.login
    )
    return RequestDraft(
        title=issue.title.strip() or f"Issue {issue.number}",
        text=issue.body,
        source=source,
        labels=issue.labels,
        issue_type=issue.type,
    )


def post_to(url: str, text: str, token: str, api_url: str | None) -> str:
    """Post a comment to the issue at an address, and return the comment's address. Raises
    IssueUnavailable, GitHubError.
    """
    from forge_bot.github_api import comment_on, parse_issue_url

    ref = parse_issue_url(url, _hosts())
    if ref is None:
        raise _no_issue(url)
    return comment_on(ref, text, token, api_url)


def _hosts() -> tuple[str, ...]:
    """Return the hosts that a token may be sent to: only those that the user's own environment
    names.
    """
    return tuple(host for host in ("github.com", os.environ.get("GH_HOST", "")) if host)


def _no_issue(url: str) -> IssueUnavailable:
    if re.search(r"/pull/\d+", url):
        return IssueUnavailable(
            f"{url} is a pull request, not an issue.",
            hint="Name an issue, or say in words what is to be done.",
        )
    return IssueUnavailable(
        f"{url} is no issue of github.com.",
        hint=(
            "Paste the text of the issue as the task. For an issue on GitHub Enterprise set GH_HOST"
            " to its host."
        ),
    )


def checked(draft: RequestDraft) -> RequestDraft:
    """The draft, made storable, if it is not too long. Raises TaskTooLarge."""
    draft = draft.model_copy(
        update={"title": _storable(draft.title), "text": _storable(draft.text)}
    )
    if len(draft.text) > LONGEST_TASK:
        raise TaskTooLarge(
            f"The task has {len(draft.text):,} characters; {LONGEST_TASK:,} are the most."
        )
    return draft


def _storable(text: str) -> str:
    """The text without what no file can hold: JSON, in which issues come, can spell NUL and halves
    of characters.
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text.replace("\0", ""))


def _title(text: str) -> str:
    line = next(line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[:LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def plan_for(
    repository: Repository,
    draft: RequestDraft,
    *,
    effort: str | None,
    name: str | None,
    branch: str | None,
    here: bool,
    theirs: bool = False,
) -> RunPlan:
    """Return the plan that a draft leads to by itself.

    With `theirs` the tree is that of somebody who has been told already what is in the way of a run
    in it. Names that a killed start has taken are free again. Raises BadOption, BranchExists,
    DirtyTree, DetachedHead, NoCommits.
    """
    remove_failed_starts(repository)
    guess: EffortGuess = guess_effort(
        flag=effort, labels=draft.labels, story_points=None, text=f"{draft.title}\n{draft.text}"
    )
    short = slug(name or draft.title)
    if here:
        if branch is not None:
            raise BadOption(
                "--here works on the branch that is checked out; --branch names another one."
            )
        head = repository.head()
        if not theirs:
            _check_here(repository, head)
        return RunPlan(
            effort=guess.effort,
            effort_reason=guess.reason,
            slug=short,
            branch=head.branch,
            here=True,
        )
    if branch is not None:
        check_free(repository, branch)
    if branch is None:
        branch = free_branch(repository, branch_name(draft.source.id, short), repository.tips())
    return RunPlan(effort=guess.effort, effort_reason=guess.reason, slug=short, branch=branch)


def _check_here(repository: Repository, head: Head) -> None:
    if head.branch == repository.default_branch():
        raise BadOption(
            f"--here would write to {head.branch}.",
            hint="git switch -c NAME first, or leave --here away.",
        )
    if not Tree(repository.root).is_clean():
        raise DirtyTree("The work tree has uncommitted changes.")


def create_run(
    repository: Repository,
    beginning: NewRun,
    pipeline: Pipeline,
    *,
    theirs: bool = False,
    note: Callable[[RunPaths], None] | None = None,
) -> RunInfo:
    """Make the work tree, write the frozen request and the first report, and commit them on the
    run's branch.

    With `theirs` the run lives in the tree that somebody else works in, who may have to make the
    branch first: nothing is committed here, the first opening of the run does it, and if anything
    fails nothing is left. `note` writes, before the run is there, what is to lie beside it.
    """
    draft, plan = beginning.draft, beginning.plan
    stamp = now()
    head = beginning.base or repository.head()
    tips = repository.tips()
    beginning = beginning.model_copy(update={"recalls_from": newest_records(repository, tips)})
    name = free_run(repository, workspace_name(stamp.date(), draft.source.id, plan.slug), tips)
    places = run_paths(repository, name)
    made = (repository.root / SPECS / name, places.home) if theirs else ()
    with (
        told_when_full(places.written),
        held(places.lock, f"the run {name}", this_process()),
        atomic_folder(made),
    ):
        own_tree = not (plan.here or theirs)
        where = places.tree if own_tree else repository.root
        with noted(
            places,
            FailedStart(
                run=name, branch=plan.branch, base=head.commit, tree=where, own_tree=own_tree
            ),
        ):
            if note is not None:
                note(places)
            tree = (
                repository.add_worktree(places.tree, plan.branch, head.commit)
                if own_tree
                else Tree(repository.root)
            )
            _write_first(
                tree, beginning, pipeline, name=name, head=head, stamp=stamp, commit=not theirs
            )
    return RunInfo(
        name=name,
        branch=plan.branch,
        title=draft.title,
        tree=tree.path,
        effort=plan.effort.value,
        updated_at=stamp,
    )


def _write_first(
    tree: Tree,
    beginning: NewRun,
    pipeline: Pipeline,
    *,
    name: str,
    head: Head,
    stamp: datetime,
    commit: bool,
) -> None:
    """Write the request and the first report into the work tree, and commit them if wanted."""
    request, workspace = request_of(beginning), Workspace(tree.path, name)
    raw = workspace.write("request.md", render_request(request))
    report = _first(
        beginning,
        pipeline,
        request,
        name=name,
        base=(head.branch, head.commit),
        blob=blob_id(raw),
        stamp=stamp,
    )
    state = start(pipeline, report)
    workspace.record(report, state)
    attributes = _fold_records(tree) if beginning.records is RecordsPolicy.IN_BRANCH else ()
    if commit:
        trailers = [("Forge-Run", name), ("Forge-Phase", state.current_phase)]
        tree.commit(
            start_subject(beginning.draft.title),
            trailers,
            (workspace.relative, *attributes),
            when=stamp.isoformat(),
        )


def _fold_records(tree: Tree) -> tuple[str, ...]:
    """Write the attributes that fold records in the diff of a pull request, if there are none; the
    paths that were written.
    """
    path = f"{SPECS}/.gitattributes"
    place = tree.path / path
    if place.exists():
        return ()
    write_whole(place, _FOLDED)
    return (path,)


def request_of(beginning: NewRun) -> Request:
    """The request as it will be frozen."""
    draft, plan = beginning.draft, beginning.plan
    return Request(
        title=draft.title,
        text=(
            draft.text
            if not beginning.answers
            else f"{draft.text}\n\n## Answers to questions\n\n{beginning.answers}"
        ),
        source=draft.source,
        labels=draft.labels,
        issue_type=draft.issue_type,
        effort=plan.effort,
        effort_reason=plan.effort_reason,
        requested_by=beginning.by,
    )


def _first(
    beginning: NewRun,
    pipeline: Pipeline,
    request: Request,
    *,
    name: str,
    base: tuple[str, str],
    blob: str,
    stamp: datetime,
) -> RunStarted:
    return RunStarted(
        key=beginning.key or f"start-{uuid4().hex}",
        at=stamp,
        run=name,
        pipeline=pipeline.id,
        title=request.title,
        effort=request.effort,
        effort_reason=request.effort_reason,
        source=request.source,
        flags=beginning.flags,
        branch=beginning.plan.branch,
        base_branch=base[0],
        base_commit=base[1],
        request_blob=blob,
        request_hash=request.hash,
        budget=beginning.budget.dollars,
        budget_tokens=beginning.budget.tokens,
        by=beginning.by,
        records=beginning.records or RecordsPolicy.IN_BRANCH,
        recalls_from=beginning.recalls_from,
    )
