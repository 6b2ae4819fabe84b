"""Inspects a worker's commits before they are pushed: authors, paths, size, and
no secret in them.

The worker is believed nothing: it ran a model, and project commands ran beside it.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from forge_bot.agent.redaction import encoded_forms, redactor_of
from forge_bot.bot.commit_form import strange_commits
from forge_bot.bot.untrusted_records import (
    approved_patches,
    check_reports,
    is_declared,
    is_too_long,
    pipeline_of,
    state_at,
)
from forge_bot.engine.state import State
from forge_bot.errors import CommitsRefused
from forge_bot.git import Commit, Repository, Tree
from forge_bot.project.scoped_commands import is_inside
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.runs.standing_rules import rules_at
from forge_bot.sentences import say
from forge_bot.settings import load_config
from forge_bot.settings.instructions import INSTRUCTIONS, Rules
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store import SPECS

Steps = Sequence[tuple[str, str]]
"""Neighbouring commits, the older first."""

MOST_COMMITS = 100
MOST_FILES = 400
MOST_BYTES = 20_000_000
REQUEST = "request.md"
_WORKFLOWS = ".github/workflows/"
_GONE = "000000"
_PLAIN_MODES = frozenset({"100644", "100755", _GONE})


class CommitInspector:
    """Looks at the commits of one run."""

    def __init__(
        self,
        repository: Repository,
        tree: Tree,
        run: str,
        secrets: Mapping[str, str],
        *,
        workflows: bool = False,
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.patterns = load_config(repository.root).protected
        self.pipeline = pipeline_of(repository, tree.head().commit, run)
        self.record = f"{SPECS}/{run}/"
        self.run = run
        self.workflows = workflows
        self._needles = {
            needle: name for name, value in secrets.items() for needle in encoded_forms(value)
        }
        self._strike = redactor_of(secrets)

    def state_at(self, commit: str) -> State:
        """The run's state at a commit, out of its reports. Raises CommitsRefused."""
        return state_at(self.repository, self.pipeline, commit, self.record)

    def check(self, before: str, after: str) -> None:
        """Raise CommitsRefused with every reason against pushing what is between two commits."""
        commits = self.tree.commits(before)
        problems = self._commits(before, after, commits) or check_reports(
            self.repository, before, after, self.record
        )
        if not problems:
            # What a later commit takes back would be pushed all the same, so each is looked at,
            # from the oldest.
            steps = list(pairwise([before, *(commit.id for commit in reversed(commits))]))
            problems = [
                *self._paths(steps),
                *self._guarded(steps),
                *self._contents(steps),
                *self._traces(steps, commits),
            ]
        if problems:
            # A path may contain a secret, and the reasons are shown to everybody.
            details = tuple(dict.fromkeys(map(self._strike, problems)))
            raise CommitsRefused(say("bot.inspect_commits.not_pushed"), details=details)

    def _commits(self, before: str, after: str, commits: Sequence[Commit]) -> list[str]:
        if self.tree.head().commit != after or self.tree.merge_base(before, after) != before:
            return [say("bot.inspect_commits.do_not_follow_the_branch")]
        problems = (
            [say("bot.inspect_commits.too_many_commits", count=len(commits), most=MOST_COMMITS)]
            if len(commits) > MOST_COMMITS
            else []
        )
        ids = (before, *(commit.id for commit in reversed(commits)))
        strange = strange_commits(self.repository, self.pipeline, self.run, ids)
        subjects = {commit.id: commit.subject[:80] for commit in commits}
        return problems + [
            say("bot.inspect_commits.not_of_this_run", subject=subjects[each])
            for each in strange[:5]
        ]

    def _paths(self, steps: Steps) -> list[str]:
        changes: dict[str, set[str]] = {}
        for step in steps:
            for path, mode in self.tree.modes(*step).items():
                changes.setdefault(path, set()).add(mode)
        outside = [path for path in changes if not path.startswith(self.record)]
        problems = [
            say("bot.inspect_commits.is_no_document", path=path)
            for path in changes
            if path.split("/")[0].casefold() == SPECS and not self._is_document(path, changes[path])
        ]
        if not self.workflows:
            problems += [
                say("bot.inspect_commits.is_a_workflow", path=path)
                for path in outside
                if path.startswith(_WORKFLOWS)
            ]
        problems += [
            say("bot.inspect_commits.is_a_link", path=path)
            for path in changes
            if not changes[path] <= _PLAIN_MODES
        ]
        if len(outside) > MOST_FILES:
            problems.append(
                say("bot.inspect_commits.too_many_files", count=len(outside), most=MOST_FILES)
            )
        return problems

    def _is_document(self, path: str, modes: set[str]) -> bool:
        """Return whether a path of the record is a file that a worker writes there."""
        name = path.removeprefix(self.record)
        declared = path == self.record + name and is_declared(self.pipeline, name)
        return path == INSTRUCTIONS or (declared and modes <= {"100644", _GONE})

    def _guarded(self, steps: Steps) -> list[str]:
        """Return the changes of protected files that are not, byte for byte, what an approved patch
        makes there.
        """
        problems: list[str] = []
        approved: list[bytes] | None = None
        state = self.state_at(steps[0][0]) if steps else None
        rules = rules_at(self.repository, state.base_commit) if state is not None else Rules()
        scope = state.flags.scope if state is not None else ""
        for before, after in steps:
            changed = self.tree.modes(before, after)
            if f"{self.record}{REQUEST}" in changed:
                problems.append(say("bot.inspect_commits.request_does_not_change", request=REQUEST))
            paths = [path for path in changed if not path.startswith(self.record)]
            guarded = protected_changes(paths, self.patterns)
            guarded |= dict.fromkeys(
                rules.forbidden(paths),
                say("bot.inspect_commits.left_to_a_person", instructions=INSTRUCTIONS),
            )
            outside = [path for path in paths if not is_inside(path, scope)]
            guarded |= dict.fromkeys(
                outside, say("bot.inspect_commits.outside_of_the_scope", scope=scope)
            )
            if guarded and approved is None:
                approved = self._approved(steps[0][0])
            good = self._made_by(approved or [], before, after, tuple(guarded))
            problems += [
                say("bot.inspect_commits.is_protected", path=path, why=why)
                for path, why in guarded.items()
                if path not in good
            ]
        return problems

    def _approved(self, commit: str) -> list[bytes]:
        """Return the patches that persons approved, by the bytes they were shown."""
        patches = [
            self.repository.blob(oid)
            for oid in approved_patches(self.repository, self.pipeline, commit, self.record)
        ]
        return [patch for patch in patches if patch is not None]

    def _made_by(
        self, approved: Sequence[bytes], before: str, after: str, paths: Sequence[str]
    ) -> set[str]:
        """Return the paths whose content at `after` is one of the patches' result on `before`."""
        if not approved or not paths:
            return set()
        now, good = self.repository.objects(after, paths), set[str]()
        for patch in approved:
            made = self.tree.patched(before, patch, paths)
            if made is not None:
                good |= {path for path in paths if made.get(path) == now.get(path)}
        return good

    def _contents(self, steps: Steps) -> list[str]:
        problems: list[str] = []
        for before, after in steps:
            names = self.tree.modes(before, after)
            sizes = self.repository.sizes(after, names)
            problems += [
                say("bot.inspect_commits.document_is_too_long", path=path)
                for path, size in sizes.items()
                if path.startswith(self.record) and is_too_long(path, size)
            ]
            if sum(sizes.values()) > MOST_BYTES:
                return [say("bot.inspect_commits.too_large", most=MOST_BYTES // 1_000_000)]
            was, now = (
                self.repository.read_many(before, names),
                self.repository.read_many(after, names),
            )
            for path, raw in now.items():
                # A value that stood there before is no secret that got out now.
                problems += [
                    say("bot.inspect_commits.files_hold_a_secret", name=name)
                    for name in sorted(self._leaked(raw) - self._leaked(was.get(path, b"")))
                ]
        return problems

    def _traces(self, steps: Steps, commits: Sequence[Commit]) -> list[str]:
        """Return the places of secrets outside of files: messages and new file names."""
        problems = [
            say("bot.inspect_commits.message_holds_a_secret", name=name)
            for commit in commits
            for name in sorted(self._leaked(commit.message.encode()))
        ]
        new = [path for step in steps for path in self._new_files(*step)]
        texts = [form for path in new for form in (path, path.replace("/", ""))]
        leaked = {name for text in texts for name in self._leaked(os.fsencode(text))}
        return [
            *problems,
            *(
                say("bot.inspect_commits.file_name_holds_a_secret", name=name)
                for name in sorted(leaked)
            ),
        ]

    def _new_files(self, before: str, after: str) -> list[str]:
        """Return the paths of the files that are at `after` only."""
        modes = self.tree.modes(before, after)
        known = self.repository.objects(before, modes)
        return [path for path, mode in modes.items() if path not in known and mode != _GONE]

    def _leaked(self, raw: bytes) -> set[str]:
        """The names of the secrets whose values are in there, also with signs nobody sees between
        theirs, or across lines.
        """
        text = raw.decode("utf-8", "replace")
        joined = "".join(clean_plain(text).text.split())
        return {
            name for needle, name in self._needles.items() if needle in text or needle in joined
        }
