"""Inspects a worker's commits before they are pushed: the supervisor writes each of them anew from
its report and its files, and looks at paths, size and secrets.

The worker is believed nothing: it ran a model, and project commands ran beside it.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from forge_bot.agent.redaction import encoded_forms, redactor_of
from forge_bot.bot.untrusted_records import (
    approved_patches,
    is_declared,
    is_too_long,
    pipeline_of,
    reports_at,
    state_at,
    unfit_reports,
)
from forge_bot.engine import Report, fold
from forge_bot.engine.state import State
from forge_bot.errors import CommitsRefused, ForgeError
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_history import Signature
from forge_bot.git.commit_objects import make_commit
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.git.revisions import tree_id
from forge_bot.project.scoped_commands import is_inside
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.runs.commit_message import KEPT, subject, trailers
from forge_bot.runs.standing_rules import rules_at
from forge_bot.settings import load_config
from forge_bot.settings.instructions import INSTRUCTIONS
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store import SPECS

MOST_COMMITS = 100
MOST_FILES = 400
MOST_BYTES = 20_000_000
REQUEST = "request.md"
_WORKFLOWS = ".github/workflows/"
_GONE = "000000"
_PLAIN_MODES = frozenset({"100644", "100755", _GONE})
_DATE = re.compile(rb"^committer .*> ([0-9]{1,10} [+-][0-9]{4})$", re.MULTILINE)


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
        """Return the run's state at a commit, out of its reports. Raises CommitsRefused."""
        return state_at(self.repository, self.pipeline, commit, self.record)

    def check(self, before: str, after: str) -> None:
        """Raise CommitsRefused with every reason against pushing what is between two commits."""
        commits = [commit.id for commit in reversed(self.tree.commits(before))]
        problems: list[str] = []
        if self.tree.head().commit != after or self.tree.merge_base(before, after) != before:
            problems.append("they do not follow the newest commit of the branch")
        elif len(commits) > MOST_COMMITS:
            problems.append(f"there are {len(commits)} of them; {MOST_COMMITS} are the most")
        # What a later commit takes back would be pushed all the same, so each is looked at.
        for older, commit in zip([before, *commits], commits, strict=False):
            problems = problems or self._commit(older, commit, before)
        if problems:
            # A path may contain a secret, and the reasons are shown to everybody.
            details = tuple(dict.fromkeys(map(self._strike, problems)))
            raise CommitsRefused("The worker's commits were not pushed.", details=details)

    def _commit(self, before: str, after: str, start: str) -> list[str]:
        """Return the reasons against one commit; `start` is the newest one that was pushed."""
        old, new = (reports_at(self.repository, at, self.record) for at in (before, after))
        if unfit := unfit_reports(old, new):
            return unfit
        if after != self._made_anew(before, after, old, new[len(old) :]):
            raw = self.repository.raw_commits((after,))[after]
            first = raw.partition(b"\n\n")[2].decode("utf-8", "replace").partition("\n")[0][:80]
            return [f"“{first}” is not a commit that a worker of this run makes"]
        modes = self.tree.modes(before, after)
        return [
            *self._paths(modes),
            *self._protected(before, after, modes, start),
            *self._contents(before, after, modes),
        ]

    def _made_anew(
        self, before: str, after: str, old: tuple[Report, ...], added: tuple[Report, ...]
    ) -> str:
        """Return the commit that this process makes of the same files for one report more, or for
        none; empty for several. Only the time of one without a report is the worker's word.
        """
        message, lines = KEPT, (("Forge-Run", self.run),)
        date = _DATE.search(self.repository.raw_commits((after,))[after].partition(b"\n\n")[0])
        when = f"@{date[1].decode()}" if date is not None else "@0 +0000"
        name, address = OWN_IDENTITY["GIT_AUTHOR_NAME"], OWN_IDENTITY["GIT_AUTHOR_EMAIL"]
        # Reports that contradict each other are no run's, and some times are no commit's.
        with suppress(ForgeError):
            for report in added:
                state = fold(self.pipeline, old)
                message = subject(report, state, self.pipeline)
                lines = trailers(report, state, self.pipeline)
                when = f"@{int(report.at.timestamp())} {report.at:%z}"
            if len(added) <= 1:
                root, who = self.repository.root, (name, address, when)
                files, signed = tree_id(root, after), Signature(who, who)
                return make_commit(root, files, (before,), message, lines, signed)
        return ""

    def _paths(self, modes: Mapping[str, str]) -> list[str]:
        code = [path for path in modes if not path.startswith(self.record)]
        problems = [f"{path} would be a link or a submodule" for path in _no_files(modes)]
        problems += [
            f"{path} is none of the files that a run writes about itself"
            for path, mode in modes.items()
            if path.split("/")[0].casefold() == SPECS and not self._is_document(path, mode)
        ]
        if not self.workflows:
            workflows = (path for path in code if path.startswith(_WORKFLOWS))
            problems += [
                f"{path} is a workflow, which this token cannot push" for path in workflows
            ]
        if f"{self.record}{REQUEST}" in modes:
            problems.append(
                f"{REQUEST} is the request that the run was started with, and does not change"
            )
        if len(code) > MOST_FILES:
            problems.append(f"{len(code)} files are changed; {MOST_FILES} are the most")
        return problems

    def _is_document(self, path: str, mode: str) -> bool:
        """Return whether a path of the record is a file that a worker writes there."""
        name = path.removeprefix(self.record)
        declared = path == self.record + name and is_declared(self.pipeline, name)
        return path == INSTRUCTIONS or (declared and mode in {"100644", _GONE})

    def _protected(
        self, before: str, after: str, modes: Mapping[str, str], start: str
    ) -> list[str]:
        """Return the changes of protected files that are not, byte for byte, what an approved patch
        makes there.
        """
        state = self.state_at(start)
        paths = [path for path in modes if not path.startswith(self.record)]
        reasons = protected_changes(paths, self.patterns)
        forbidden = rules_at(self.repository, state.base_commit).forbidden(paths)
        reasons |= dict.fromkeys(forbidden, f"a rule of {INSTRUCTIONS} leaves it to a person")
        scope = state.flags.scope
        outside = [path for path in paths if not is_inside(path, scope)]
        reasons |= dict.fromkeys(outside, f"the run was to stay in {scope}")
        approved = self._approved(before, after, tuple(reasons), start)
        return [
            f"{path} is protected, and nobody approved this change: {why}"
            for path, why in reasons.items()
            if path not in approved
        ]

    def _approved(self, before: str, after: str, paths: Sequence[str], start: str) -> set[str]:
        """Return the paths whose content at `after` is the result on `before` of a patch that a
        person approved, by the bytes they were shown.
        """
        approved = set[str]()
        if not paths:
            return approved
        now = self.repository.objects(after, paths)
        for oid in approved_patches(self.repository, self.pipeline, start, self.record):
            patch = self.repository.blob(oid)
            made = self.tree.patched(before, patch, paths) if patch is not None else None
            if made is not None:
                approved |= {path for path in paths if made.get(path) == now.get(path)}
        return approved

    def _contents(self, before: str, after: str, modes: Mapping[str, str]) -> list[str]:
        sizes = self.repository.sizes(after, modes)
        if sum(sizes.values()) > MOST_BYTES:
            return [f"the change is larger than {MOST_BYTES // 1_000_000} MB"]
        problems = [
            f"{path} is longer than documents are"
            for path, size in sizes.items()
            if path.startswith(self.record) and is_too_long(path, size)
        ]
        was = self.repository.read_many(before, modes)
        for path, raw in self.repository.read_many(after, modes).items():
            # A value that stood there before is no secret that got out now.
            leaked = self._leaked(raw) - self._leaked(was.get(path, b""))
            problems += [f"they hold the value of {name}" for name in sorted(leaked)]
        named = self._leaked("\n".join(path for path in modes if path not in was).encode())
        problems += [f"a file's name holds the value of {name}" for name in sorted(named)]
        return problems

    def _leaked(self, raw: bytes) -> set[str]:
        """Return the names of the secrets whose values are in there, also with signs nobody sees
        between theirs, or across lines.
        """
        text = raw.decode("utf-8", "replace")
        joined = "".join(clean_plain(text).text.split())
        return {
            name for needle, name in self._needles.items() if needle in text or needle in joined
        }


def _no_files(modes: Mapping[str, str]) -> list[str]:
    return [path for path, mode in modes.items() if mode not in _PLAIN_MODES]
