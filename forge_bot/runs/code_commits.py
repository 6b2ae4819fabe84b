"""The commits of the code branch: the accepted work of a run, one commit for each task, without the
run's record.

Each is made once, from the tree of the run's branch at the moment of the acceptance. The commit of
the run that records it has it as second parent. So the run's branch contains all that the run put
on the code branch, and what it does not contain other people did.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from forge_bot.artifacts.plans import begin_with_types
from forge_bot.engine import Pipeline, State
from forge_bot.engine.state import TaskState
from forge_bot.errors import GitFailed
from forge_bot.git import Repository
from forge_bot.git.commit_history import (
    CommitInfo,
    Signature,
    commits_between,
    first_parents,
    last_subjects,
)
from forge_bot.git.commit_objects import changed_files, make_commit, tree_with, tree_without
from forge_bot.git.commits import RefMove, find_key
from forge_bot.git.files_at import FileVersion
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target, tree_id
from forge_bot.interaction.merge_commit_message import (
    LONGEST_TITLE,
    answering_models,
    approvals,
    change_of,
    requests,
    task_message,
)
from forge_bot.prompts import escape
from forge_bot.settings.config import Config
from forge_bot.store.run_folder import SPECS, STATE, slug
from forge_bot.values import Frozen, TaskId

RUN = "Forge-Run"
"""Trailer of all commits of a run: its name."""

CODE, PEOPLE = "Forge-Code", "Forge-Merged"
"""Trailers of commits of a run's branch whose second parent is on the code branch, each with the
name of that: the commit that records accepted work, and a merge of what people added there.
"""

BASE = "Forge-Base"
"""Trailer of a merge of the base branch into a run: the newest commit there."""

_TASK = "Forge-Task"
_SUBJECTS = 50


def states_types(repository: Repository, base: str) -> bool:
    """Return whether the commits of a repository begin with a type, `fix: …`, as of a commit."""
    return begin_with_types(last_subjects(repository.root, base, _SUBJECTS))


def code_branch_moves(repository: Repository, branch: str, tip: str) -> list[RefMove]:
    """Return the move of a code branch to a commit: none if it has that commit, if people added to
    it, or if it is checked out.
    """
    ref = f"{HEADS}{branch}"
    here = ref_target(repository.root, ref)
    if here is None:
        return [RefMove(ref, tip)]
    if here == tip or not is_ancestor(repository.root, here, tip):
        return []
    return [] if repository.is_checked_out(branch) else [RefMove(ref, tip, here)]


def move_checked_out(repository: Repository, branch: str, tip: str) -> None:
    """Move a code branch that is checked out, with its files, where nobody's work is in the way."""
    tree, here = repository.tree_of(branch), ref_target(repository.root, f"{HEADS}{branch}")
    if tree is None or here is None or here == tip or not is_ancestor(repository.root, here, tip):
        return
    with suppress(GitFailed):
        tree.move_forward(tip)


def accepted(before: State, after: State) -> bool:
    """Return whether a task was accepted between two states."""
    known = {task.spec.id for task in before.tasks if task.settled}
    return any(task.settled and task.spec.id not in known for task in after.tasks)


class CodeSoFar(Frozen):
    """The code branch as the run's branch contains it: its name, empty while it has none, and its
    newest commit, the base at first. `recorded` is the run's commit with the newest accepted work.
    """

    branch: str
    tip: str
    recorded: str = ""


def code_so_far(state: State, commits: Sequence[CommitInfo]) -> CodeSoFar:
    """Return the code branch as the commits of a run's branch, the oldest first, contain it."""
    so_far = CodeSoFar(branch=state.pull_request_branch, tip=state.base_commit)
    for commit in commits:
        trailers = dict(commit.trailers)
        if branch := trailers.get(CODE) or trailers.get(PEOPLE):
            so_far = so_far.replace(branch=branch, tip=commit.parents[1])
        if CODE in trailers:
            so_far = so_far.replace(recorded=commit.id)
    return so_far


class CodeCommits:
    """Makes the commits of one run's code branch out of the run's branch at one commit. Raises
    BadSigningKey.
    """

    def __init__(
        self, repository: Repository, pipeline: Pipeline, state: State, head: str, config: Config
    ) -> None:
        self.config = config
        self.key = find_key(repository.root, os.environ, wanted=config.sign)
        self.repository = repository
        self.root = repository.root
        self.pipeline = pipeline
        self.state = state
        self.folder = f"{SPECS}/{state.run}"
        self.head = head
        self.commits = first_parents(self.root, state.base_commit, head)
        self.typed = states_types(repository, state.base_commit)
        self.so_far = code_so_far(state, self.commits)

    def made(self) -> str:
        """Make the commits for all accepted work that the code branch lacks, and return the newest
        one. Work on tasks that are not accepted is left out.
        """
        tip, tasks = self.so_far.tip, self._owners()
        changed = changed_files(self.root, tip, self.head)
        code = {path: file for path, file in changed.items() if not self._is_record(path)}
        open_tasks = {task.spec.id for task in self.state.tasks if not task.settled}
        waiting = {path for path in code if open_tasks.intersection(tasks.get(path, ()))}
        merges = self._merges(tip)
        if merges and open_tasks:
            return tip
        made = self._tasks(tip, {path: code[path] for path in code.keys() - waiting}, tasks)
        return made if open_tasks else self._rest(made, merges)

    def _is_record(self, path: str) -> bool:
        return path.startswith(f"{self.folder}/")

    def _owners(self) -> dict[str, list[TaskId]]:
        """Return the tasks that changed each file of the run, the last one at the end."""
        owners: dict[str, list[TaskId]] = {}
        for commit in self.commits:
            trailers = dict(commit.trailers)
            if trailers.get(RUN) == self.state.run and _TASK in trailers:
                for file in commit.files:
                    owners.setdefault(file.path, []).append(TaskId(trailers[_TASK]))
        return owners

    def _merges(self, tip: str) -> list[CommitInfo]:
        """Return the commits of the run that brought something in which the code branch lacks. What
        people took off the code branch is not brought back.
        """
        base, branch = self.state.base_commit, f"{HEADS}{self.so_far.branch}"
        known = commits_between(self.root, base, tip)
        here = ref_target(self.root, branch) if self.so_far.branch else None
        there = commits_between(self.root, base, here) if here is not None else frozenset[str]()
        return [
            commit
            for commit in self.commits
            if not known.issuperset(commit.parents[1:])
            and (CODE not in dict(commit.trailers) or not there.isdisjoint(commit.parents[1:]))
        ]

    def _tasks(
        self, tip: str, files: dict[str, FileVersion], owners: dict[str, list[TaskId]]
    ) -> str:
        """Make one commit for each accepted task that has changes."""
        tree, signature = tree_id(self.root, tip), self.commits[-1].signature
        texts, landed = self.documents(self.head), self._last_time()
        for task in self.state.tasks:
            own = [
                file for path, file in files.items() if owners.get(path, [""])[-1] == task.spec.id
            ]
            if not own:
                continue
            after = tree_with(self.root, tree, sorted(own, key=lambda file: file.path))
            if after != tree:
                message = task_message(
                    self.pipeline, self.state, task, texts, typed=self.typed, landed=landed
                )
                trailers = self._trailers(signature, task, landed, signs=True)
                tip = make_commit(self.root, after, (tip,), message, trailers, signature, self.key)
            tree = after
        return tip

    def _rest(self, tip: str, merges: Sequence[CommitInfo]) -> str:
        """Commit what people changed in the run by themselves. What they merged stays merged."""
        tree = tree_without(self.root, self.head, self.folder)
        if tree == tree_id(self.root, tip) and not merges:
            return tip
        by_hand = [commit for commit in self.commits if self._is_by_hand(commit)]
        theirs = [commit for commit in merges if CODE not in dict(commit.trailers)] + by_hand
        change = change_of(self.pipeline, self.state, self.documents(self.head))
        if not theirs:
            subject = change.subject if self.typed else change.sentence
            message = escape.heading(subject, LONGEST_TITLE)
        elif len(theirs) == 1:
            message = theirs[0].message
        else:
            begin = f"{change.type}: changes" if self.typed else "Changes"
            listed = (f"- {commit.subject}" for commit in theirs)
            message = "\n".join((f"{begin} beside the tasks", "", *listed))
        known = commits_between(self.root, self.state.base_commit, tip)
        merged = [parent for merge in merges for parent in merge.parents[1:] if parent not in known]
        signature = (theirs[0] if len(theirs) == 1 else self.commits[-1]).signature
        trailers = self._trailers(signature, None, self._last_time(), signs=not theirs)
        parents = (tip, *dict.fromkeys(merged))
        return make_commit(self.root, tree, parents, message, trailers, signature, self.key)

    def wanted_name(self) -> str:
        """Return the name that the branch should have: the type of the change, and the rest of the
        name of the run's branch. A title such as `fix: …` states the type once more.
        """
        kind = change_of(self.pipeline, self.state, self.documents(self.head)).type
        kept = self.state.branch.rpartition("/")[2].removeprefix("feature-")
        source = slug(self.state.source.id)
        kept = re.sub(rf"^((?:{re.escape(source)}-)?){kind}-", r"\1", kept)
        return f"{kind}/{kept}"

    def _is_by_hand(self, commit: CommitInfo) -> bool:
        """Return whether a person committed code in the run after the newest accepted work."""
        new = commits_between(self.root, self.so_far.recorded or self.state.base_commit, self.head)
        return (
            commit.id in new
            and len(commit.parents) == 1
            and dict(commit.trailers).get(RUN) != self.state.run
            and any(not self._is_record(file.path) for file in commit.files)
        )

    def _last_time(self) -> datetime | None:
        """Return the time of the report with the newest accepted work."""
        if not self.so_far.recorded:
            return None
        raw = self.repository.read(self.so_far.recorded, f"{self.folder}/{STATE}") or b""
        return State.model_validate_json(raw).updated_at

    def _trailers(
        self, signature: Signature, task: TaskState | None, landed: datetime | None, *, signs: bool
    ) -> tuple[tuple[str, str], ...]:
        """Return the trailers of a commit. Its author signs it off. Nobody signs off a person's
        commit in that person's name, and no model is named in it.
        """
        name, address, _ = signature.author
        by = f"{name} <{address}>"
        assists = self.config.assisted_by and signs
        assisted = (("Assisted-by", self._assistant(task)),) if assists else ()
        signed = (("Signed-off-by", by),) if self.config.sign_off and signs else ()
        return (
            (RUN, self.state.run),
            *(("Requested-by", person) for person in requests(self.state, task, landed)),
            *(("Approved-by", person) for person in approvals(self.state, task)),
            *assisted,
            *signed,
        )

    def _assistant(self, task: TaskState | None) -> str:
        """Return the tool with the models that wrote the code, of one task if it is named."""
        own = task.spec.id if task is not None else None
        # A pipeline of steps has no phase of its own for the code.
        phase = self.pipeline.implementation.id if self.pipeline.steps is None else None
        models = answering_models(self.state, phase, own)
        return f"forge-bot ({', '.join(models)})" if models else "forge-bot"

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
