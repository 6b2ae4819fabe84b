"""The commits that are offered for merge: the code of a run, one commit for each task, without the
run's record.

They are made from the run's commits alone, so that every machine makes the same ones.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from forge_bot.artifacts.change_name import begin_with_types
from forge_bot.engine import Pipeline, Report, State, advance, start
from forge_bot.engine.external_events import CONFLICTS
from forge_bot.engine.reports import RunStarted
from forge_bot.engine.state import TaskState
from forge_bot.git import Repository
from forge_bot.git.commit_history import CommitInfo, FileVersion, first_parents, last_subjects
from forge_bot.git.commit_objects import GONE, make_commit, tree_with, tree_without
from forge_bot.git.diff import has_markers
from forge_bot.git.files_at import raw
from forge_bot.git.revisions import is_ancestor, tree_id
from forge_bot.git.signed_commits import SigningKey
from forge_bot.interaction.change_message import (
    approvals,
    change_of,
    requests,
    task_message,
)
from forge_bot.interaction.title_of_change import LONGEST_TITLE
from forge_bot.prompts import escape
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, read_reports
from forge_bot.values import Frozen, TaskId

RUN, LANDED = "Forge-Run", "Forge-Landed"
"""Trailers of an offered commit: its run, and the commit of the run that it was made from."""

BASE, CONFLICT = "Forge-Base", "Forge-Conflict"
"""Trailers of a merge of the base branch into a run: the newest commit there, and each file that
has both sides' versions between markers.
"""

_TASK = "Forge-Task"
_SUBJECTS = 50


def states_types(repository: Repository, base: str) -> bool:
    """Return whether the commits of a repository begin with a type, `fix: …`, as of a commit."""
    return begin_with_types(last_subjects(repository.root, base, _SUBJECTS))


class CodeSoFar(Frozen):
    """The commits offered for merge: the newest commit, and the run's commit it was made from."""

    tip: str
    made_from: str


class CodeCommits:
    """Makes the commits of one run, from its beginning or from the newest existing commit."""

    def __init__(
        self,
        repository: Repository,
        pipeline: Pipeline,
        state: State,
        head: str,
        *,
        sign_off: bool = False,
        key: SigningKey | None = None,
    ) -> None:
        self.sign_off = sign_off
        self.key = key
        self.repository = repository
        self.root = repository.root
        self.pipeline = pipeline
        self.run = state.run
        self.base = state.base_commit
        self.folder = f"{SPECS}/{state.run}"
        self.commits = first_parents(self.root, self.base, head)
        self.typed = states_types(repository, self.base)
        self._waiting = _Waiting()
        self._landed: datetime | None = None

    def newest(self, tip: str) -> CodeSoFar | None:
        """Return the newest commit of this run on a branch, if there is one that was made from this
        history.
        """
        known = {commit.id for commit in self.commits}
        for commit in reversed(first_parents(self.root, self.base, tip)):
            trailers = dict(commit.trailers)
            if trailers.get(RUN) == self.run and (made := trailers.get(LANDED, "")) in known:
                return CodeSoFar(tip=commit.id, made_from=made)
        return None

    def made(self, since: CodeSoFar | None) -> CodeSoFar:
        """Make the commits that follow, up to the newest commit of the run."""
        so_far = since or CodeSoFar(tip=self.base, made_from=self.base)
        behind = since is None
        self._waiting = _Waiting()
        state: State | None = None
        for commit, state in self._history():
            if behind:
                self._waiting.add(commit, self.folder, self.run)
                if (
                    state is not None
                    and self._waiting.settled(state)
                    and not self._in_conflict(commit)
                ):
                    so_far = self._land(so_far.tip, commit, state)
            if commit.id == so_far.made_from and state is not None:
                self._landed = state.updated_at
            behind = behind or commit.id == so_far.made_from
        last = self.commits[-1] if self._waiting.files else None
        if last is not None and state is not None and not self._in_conflict(last):
            so_far = self._land(so_far.tip, last, state)
        return so_far

    def _in_conflict(self, commit: CommitInfo) -> bool:
        """Return whether two versions of a file still stand side by side."""
        there = self.repository.read_many(commit.id, tuple(self._waiting.in_conflict))
        return any(has_markers(data) for data in there.values())

    def _history(self) -> Iterator[tuple[CommitInfo, State | None]]:
        """Yield each commit of the run with the state it recorded; None where its record is not the
        beginning of today's.
        """
        place = f"{self.folder}/{REPORTS}"
        found = {
            commit.id: each.oid
            for commit in self.commits
            for each in commit.files
            if each.path == place and each.mode != GONE
        }
        texts = raw(self.root, tuple(dict.fromkeys(found.values())))
        whole = texts[list(found.values())[-1]] if found else b""
        reports = read_reports(whole, place)
        state, count = None, 0
        for commit in self.commits:
            text = texts.get(found.get(commit.id, ""), b"")
            if text and whole.startswith(text):
                wanted = text.count(b"\n")
                state, count = self._folded(state, reports[count:wanted]), max(count, wanted)
            yield commit, state

    def _folded(self, state: State | None, reports: Sequence[Report]) -> State | None:
        for report in reports:
            if state is not None:
                state = advance(self.pipeline, state, report)
            elif isinstance(report, RunStarted):
                state = start(self.pipeline, report)
        return state

    def _land(self, parent: str, commit: CommitInfo, state: State) -> CodeSoFar:
        """Make one commit for each task that has changes, and one for all other changes."""
        waiting, self._waiting = self._waiting, _Waiting()
        # What brings both sides of a merge together belongs into the merge.
        waiting.keep_tasks(
            {task.spec.id for task in state.tasks if not task.origin.startswith(CONFLICTS)}
        )
        last = tree_without(self.root, commit.id, self.folder)
        for merge in waiting.merges:
            theirs = merge.parents[-1]
            if tree_id(self.root, theirs) == last and is_ancestor(self.root, parent, theirs):
                # People added to the branch itself, and the run has nothing that it lacks.
                return CodeSoFar(tip=theirs, made_from=commit.id)
        here = self.repository.objects(commit.id, tuple(waiting.files))
        tip, tree = parent, tree_id(self.root, parent)
        groups = [(task, waiting.of(task.spec.id)) for task in state.tasks]
        shares = [(task, paths) for task, paths in groups if paths]
        rest = bool(waiting.merges or waiting.of(None))
        for number, (task, paths) in enumerate(shares, 1):
            ends = number == len(shares) and not rest
            files = [_version(path, here) for path in paths]
            after = last if ends else tree_with(self.root, tree, files)
            if after != tree:
                texts = self.documents(commit.id)
                said = task_message(
                    self.pipeline, state, task, texts, typed=self.typed, landed=self._landed
                )
                tip = self._commit(after, tip, said, state, commit, task)
            tree = after
        if rest and (last != tree or waiting.merges):
            tip = self._rest(last, tip, waiting, state, commit)
        return CodeSoFar(tip=tip, made_from=commit.id)

    def _rest(
        self, tree: str, parent: str, waiting: "_Waiting", state: State, commit: CommitInfo
    ) -> str:
        """Commit what people changed in the run by themselves. What they merged stays merged."""
        merged = tuple(each for merge in waiting.merges for each in merge.parents[1:])
        theirs = [*waiting.merges, *waiting.by_hand]
        change = change_of(self.pipeline, state, self.documents(commit.id))
        listed = (f"- {each.subject}" for each in theirs)
        if not theirs:
            subject = change.subject if self.typed else change.sentence
            said = escape.heading(subject, LONGEST_TITLE)
        elif len(theirs) == 1:
            said = theirs[0].message
        else:
            begin = f"{change.type}: changes" if self.typed else "Changes"
            said = "\n".join((f"{begin} beside the tasks", "", *listed))
        source = theirs[0] if len(theirs) == 1 else commit
        trailers = self._trailers(state, commit, None, signs=source is commit)
        parents = (parent, *merged)
        return make_commit(self.root, tree, parents, said, trailers, source.signature, self.key)

    def _commit(
        self, tree: str, parent: str, said: str, state: State, commit: CommitInfo, task: TaskState
    ) -> str:
        trailers = self._trailers(state, commit, task, signs=True)
        return make_commit(self.root, tree, (parent,), said, trailers, commit.signature, self.key)

    def _trailers(
        self, state: State, commit: CommitInfo, task: TaskState | None, *, signs: bool
    ) -> tuple[tuple[str, str], ...]:
        """Return the trailers of an offered commit. Its author signs it off. Nobody signs off a
        person's commit in that person's name.
        """
        name, address, _ = commit.signature.author
        by = f"{name} <{address}>"
        signed = (("Signed-off-by", by),) if self.sign_off and signs else ()
        return (
            (RUN, self.run),
            (LANDED, commit.id),
            *(("Requested-by", each) for each in requests(state, task, self._landed)),
            *(("Approved-by", each) for each in approvals(state, task)),
            *signed,
        )

    def documents(self, commit: str) -> dict[str, str]:
        """Return the texts at a commit of the run that its change is named and explained by."""
        plan = self.pipeline.approved_first
        approved = (plan.writes,) if plan is not None else ()
        names = {"request.md", *approved, *self.pipeline.documents("approach")}
        paths = [f"{self.folder}/{name}" for name in sorted(names)]
        return {
            path.rpartition("/")[2]: text.decode("utf-8", "replace")
            for path, text in self.repository.read_many(commit, paths).items()
        }


class _Waiting:
    """Changes of a run that are not offered yet: each file with its task, None if it has none."""

    def __init__(self) -> None:
        self.files: dict[str, TaskId | None] = {}
        self.merges: list[CommitInfo] = []
        self.by_hand: list[CommitInfo] = []
        self.in_conflict: set[str] = set()

    def add(self, commit: CommitInfo, record: str, run: str) -> None:
        """Take in what a commit changed outside of the run's record."""
        trailers = dict(commit.trailers)
        ours = trailers.get(RUN) == run
        task = TaskId(trailers[_TASK]) if ours and _TASK in trailers else None
        paths = [each.path for each in commit.files if not each.path.startswith(f"{record}/")]
        for path in paths:
            if task is not None or path not in self.files:
                self.files[path] = task
        if len(commit.parents) > 1:
            self.merges.append(commit)
            self.in_conflict |= {path for key, path in commit.trailers if key == CONFLICT}
        elif paths and not ours:
            self.by_hand.append(commit)

    def keep_tasks(self, tasks: Collection[TaskId]) -> None:
        """Let the files of tasks that are no longer planned belong to none."""
        self.files = {path: task if task in tasks else None for path, task in self.files.items()}

    def of(self, task: TaskId | None) -> list[str]:
        """Return the files of a task, by name."""
        return sorted(path for path, owner in self.files.items() if owner == task)

    def settled(self, state: State) -> bool:
        """Return whether all that waits can be offered: no task with changes is still under way."""
        tasks: dict[TaskId, TaskState] = {task.spec.id: task for task in state.tasks}
        owners = {task for task in self.files.values() if task is not None}
        under_way = [task for task in owners or tasks if task in tasks and not tasks[task].settled]
        return bool(self.files or self.merges) and not under_way


def _version(path: str, here: dict[str, str]) -> FileVersion:
    mode, _, oid = here.get(path, GONE).partition(" ")
    return FileVersion(path, mode, oid)
