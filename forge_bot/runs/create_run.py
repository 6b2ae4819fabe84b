"""Create a run from a request: effort, branch, work tree, first commit."""

import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from pydantic import Field

from forge_bot import __version__
from forge_bot.engine import Pipeline, start
from forge_bot.engine.reports import RunFlags, RunStarted
from forge_bot.errors import BadOption, BranchExists, DirtyTree, RecordChanged
from forge_bot.gate.arguments import NO_LIMIT, Amount
from forge_bot.git import Head, Repository, Tree, blob_id
from forge_bot.git.commit_objects import delete_branch
from forge_bot.git.commits import NewCommit, RefMove, commit_after, move_refs
from forge_bot.git.revisions import branch_ref, hide
from forge_bot.runs.find_runs import RunInfo, run_in
from forge_bot.runs.request_draft import RequestDraft, guess_effort, title_of_run
from forge_bot.runs.run import start_subject
from forge_bot.runs.run_files import (
    RunPaths,
    check_free,
    free_branch,
    free_run,
    remember_state_folder,
    run_paths,
)
from forge_bot.runs.this_process import now, this_process
from forge_bot.settings.config import folder_of
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import (
    Request,
    Workspace,
    branch_name,
    render_request,
    slug,
    workspace_name,
)
from forge_bot.values import Effort, Frozen

DISCUSSION_QUESTIONS = (
    "What is the main goal of this change?",
    "Are there constraints or things that must not change?",
    "How will you know that it is done?",
)
"""What `--discuss` asks before a run begins."""


class RunPlan(Frozen):
    """The plan for a draft; before it begins, a person may change effort, slug and branch."""

    effort: Effort
    effort_reason: str
    slug: str
    branch: str
    here: bool = False
    merge_branch: str = Field(
        default="", description="the branch for merge that a person named or has checked out"
    )


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


def plan_for(
    repository: Repository,
    draft: RequestDraft,
    *,
    effort: str | None,
    name: str | None,
    branch: str | None,
    here: bool,
    external_worktree: bool = False,
    mark: str = "forge",
) -> RunPlan:
    """Return the plan for a draft. `mark` is the label that starts runs; `forge:S` goes with it.
    `branch` names the branch for merge.

    With `external_worktree` the tree belongs to somebody who already knows the problems of a run in
    it. Raises BadOption, BranchExists, DirtyTree, DetachedHead, NoCommits.
    """
    guess = guess_effort(
        draft.words, flag=effort, labels=draft.labels, issue_type=draft.issue_type, mark=mark
    )
    if here:
        if branch is not None:
            raise BadOption(
                "--here works on the branch that is checked out; --branch names another one."
            )
        head = repository.head()
        if not external_worktree:
            _check_here(repository, head)
        branch = head.branch
    elif branch is not None:
        check_free(repository, branch)
    words, other = slug(name or draft.title), branch or ""
    return RunPlan(
        effort=guess.effort,
        effort_reason=guess.reason,
        slug=words,
        branch=free_branch(repository, branch_name(draft.source.id, words), other),
        here=here,
        merge_branch=other,
    )


def _check_here(repository: Repository, head: Head) -> None:
    if head.branch == repository.default_branch():
        raise BadOption(
            f"--here would write to {head.branch}.",
            hint="git switch -c NAME first, or leave --here out.",
        )
    if Tree(repository.root).status():
        raise DirtyTree("The work tree has uncommitted changes.")


def create_run(
    repository: Repository,
    beginning: NewRun,
    pipeline: Pipeline,
    *,
    external_worktree: bool = False,
    note: Callable[[RunPaths], None] | None = None,
) -> RunInfo:
    """Begin a run: one commit with the frozen request and the first report on the run's branch,
    then its work tree.

    With `external_worktree` the run is in the tree where somebody else works. If that has to make
    the branch first, nothing is committed here: the first opening of the run commits it. If
    anything fails, nothing is left.

    `note` writes further files of the run before it exists.
    """
    plan, stamp = beginning.plan, now()
    head = beginning.base or repository.head()
    wanted = workspace_name(stamp.date(), beginning.draft.source.id, plan.slug)
    with free_run(repository, wanted, this_process()) as name:
        remember_state_folder(repository)
        places = run_paths(repository, name)
        new = _Start(repository, beginning, pipeline, name, head, stamp)
        with _left_whole(places.home):
            if note is not None:
                note(places)
            tree = new.write() if external_worktree else new.commit_apart()
    info = run_in(tree.path, name)
    assert info is not None  # noqa: S101 - written just now
    return info


def commit_start(tree: Tree, workspace: Workspace, first: RunStarted) -> None:
    """Commit a run that has been written into a client's tree, on the branch that is checked out
    there.
    """
    phase = load_pipeline(first.pipeline, tree.path).phases[0].id
    lines = (("Forge-Run", workspace.name), ("Forge-Phase", phase))
    tree.commit(start_subject(first.title), lines, (workspace.relative,), when=first.at.isoformat())


@contextmanager
def _left_whole(folder: Path) -> Generator[None]:
    """Remove a new folder if the block that fills it fails, and its parent if left empty."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()
        raise


class _Start(NamedTuple):
    """The request and the first report of a run, and the ways to put them into a repository."""

    repository: Repository
    beginning: NewRun
    pipeline: Pipeline
    name: str
    head: Head
    stamp: datetime

    def write(self) -> Tree:
        """Write them into a tree where somebody else works: the reports last, since with them the
        folder is a run. On the branch for merge they are committed too, on a new branch, and hidden
        from git there.
        """
        root, plan = self.repository.root, self.beginning.plan
        workspace = Workspace(root, self.name, b"")
        files = self._files(workspace)
        if plan.here:
            hide(root, workspace.relative)
        with _left_whole(workspace.path):
            for name, raw in reversed(files.items()):
                workspace.write(name, raw)
            if plan.here:
                self._begin_branches({plan.branch: self._commit(workspace, files)})
        return Tree(root, plan.branch if plan.here else "")

    def commit_apart(self) -> Tree:
        """Commit them on a new branch, and make a work tree of that. A name that a person gave to
        the branch for merge is taken too, so that no other run takes it.
        """
        root, plan = self.repository.root, self.beginning.plan
        places = run_paths(self.repository, self.name)
        workspace = Workspace(places.tree, self.name, b"")
        commit = self._commit(workspace, self._files(workspace))
        made = {plan.branch: commit}
        if plan.merge_branch and not plan.here:
            made[plan.merge_branch] = self.head.commit
        self._begin_branches(made)
        try:
            return self.repository.add_worktree(places.tree, plan.branch)
        except BaseException:
            for name, to in made.items():
                delete_branch(root, name, to)
            raise

    def _begin_branches(self, branches: Mapping[str, str]) -> None:
        """Point new branches at their commits. Raises BranchExists."""
        root = self.repository.root
        moves = [RefMove(branch_ref(root, name), to) for name, to in branches.items()]
        try:
            move_refs(root, moves)
        except RecordChanged as error:
            raise BranchExists(error.message) from error

    def _commit(self, workspace: Workspace, files: Mapping[str, bytes]) -> str:
        contents = {f"{workspace.relative}/{name}": raw for name, raw in files.items()}
        new = NewCommit(
            start_subject(self.beginning.draft.title),
            (("Forge-Run", self.name), ("Forge-Phase", self.pipeline.phases[0].id)),
            contents=contents,
            when=self.stamp.isoformat(),
        )
        return commit_after(self.repository.root, self.head.commit, new)

    def _files(self, workspace: Workspace) -> dict[str, bytes]:
        """Return the files of the record, by name."""
        request = request_of(self.beginning)
        raw = render_request(request).encode("utf-8", "replace")
        report = self._report(request, blob_id(raw))
        record = workspace.with_report(report, start(self.pipeline, report))
        return {**record, **self.beginning.draft.files, "request.md": raw}

    def _report(self, request: Request, blob: str) -> RunStarted:
        plan = self.beginning.plan
        return RunStarted(
            key=self.beginning.key or f"start-{uuid4().hex}",
            at=self.stamp,
            run=self.name,
            version=__version__,
            pipeline=self.pipeline.id,
            title=title_of_run(request.title),
            effort=request.effort,
            effort_reason=request.effort_reason,
            source=request.source,
            flags=self.beginning.flags,
            branch=plan.branch,
            merge_branch=plan.merge_branch,
            base_branch=self.head.branch,
            base_commit=self.head.commit,
            request_blob=blob,
            request_hash=request.hash,
            budget=self.beginning.budget.dollars,
            budget_tokens=self.beginning.budget.tokens,
            by=self.beginning.by,
        )


def request_of(beginning: NewRun) -> Request:
    """The request as it will be frozen."""
    draft, plan, answers = beginning.draft, beginning.plan, beginning.answers
    added = f"\n\n## Answers to questions\n\n{answers}" if answers else ""
    return Request(
        **draft.replace(text=f"{draft.text}{added}").model_dump(exclude={"files"}),
        effort=plan.effort,
        effort_reason=plan.effort_reason,
        requested_by=beginning.by,
    )


def scope_folder(repository: Repository, wanted: str, commit: str = "") -> str:
    """Return the folder of `--in` as git names it; "" for the whole. It has to be there at the
    commit, by default the one checked out. Raises BadOption, NoCommits, DetachedHead.
    """
    if not wanted:
        return ""
    way_out = "Give a folder from the root of the repository down, such as --in packages/api."
    try:
        folder = folder_of(wanted)
    except ValueError as error:
        raise BadOption(f"--in {wanted} is not {error}.", hint=way_out) from None
    at = repository.commit_id(commit) if commit else repository.head().commit
    files = repository.list_files(at, folder)
    if not files:
        raise BadOption(f"--in {wanted}: no tracked file lies there.", hint=way_out)
    if files == (folder,):
        raise BadOption(f"--in {wanted}: that is a file, not a folder.", hint=way_out)
    return folder
