"""What a worker committed, looked at before it is pushed: whose commits, which paths, how much, and no secret in them.

The worker is believed nothing: it ran a model, and project commands ran beside it.
"""

import base64
from collections.abc import Mapping, Sequence

from forge_bot.agent.protected import PROTECTED, protected
from forge_bot.bot import patches
from forge_bot.bot.records import check_reports, pipeline_of, state_at
from forge_bot.checkout import Repository, Tree
from forge_bot.engine.state import State
from forge_bot.errors import CommitsRefused
from forge_bot.workspace import SPECS

MOST_COMMITS = 100
MOST_FILES = 400
MOST_BYTES = 20_000_000
_WORKFLOWS = ".github/workflows/"
_SHORTEST_SECRET = 8
_PLAIN_MODES = frozenset({"100644", "100755", "000000"})


class Inspector:
    """Looks at the commits of one run."""

    def __init__(self, repository: Repository, tree: Tree, run: str, secrets: Mapping[str, str], *, workflows: bool = False) -> None:
        self.repository = repository
        self.tree = tree
        self.pipeline = pipeline_of(repository, tree.head().commit, run)
        self.record = f"{SPECS}/{run}/"
        self.run = run
        self.workflows = workflows
        self._needles = {needle: name for name, value in secrets.items() for needle in _forms(value)}

    def state_at(self, commit: str) -> State:
        """The run's state at a commit, out of its reports. Raises CommitsRefused."""
        return state_at(self.repository, self.pipeline, commit, self.record)

    def check(self, before: str, after: str) -> None:
        """Raise CommitsRefused with every reason why what lies between two commits is not pushed."""
        found = self._commits(before, after) or check_reports(self.repository, before, after, self.record)
        if not found:
            found = [*self._paths(before, after), *self._contents(before, after)]
        if found:
            raise CommitsRefused("The worker's commits were not pushed.", details=tuple(found))

    def _commits(self, before: str, after: str) -> list[str]:
        if self.tree.merge_base(before, after) != before:
            return ["they do not follow what is on the branch"]
        commits = self.tree.commits(before)
        found = [f"there are {len(commits)} of them; {MOST_COMMITS} are the most"] if len(commits) > MOST_COMMITS else []
        strange = [commit.subject for commit in commits if ("Forge-Run", self.run) not in commit.trailers]
        return found + [f"“{subject[:80]}” is not a commit of this run" for subject in strange[:5]]

    def _paths(self, before: str, after: str) -> list[str]:
        changes = self.tree.modes(before, after)
        outside = [path for path in changes if not path.startswith(self.record)]
        allowed = self._approved(after)
        guarded = set(protected(outside, PROTECTED)) - allowed
        found = [f"{path} is protected, and nobody approved this change" for path in sorted(guarded)]
        if not self.workflows:
            found += [f"{path} is a workflow, which this token cannot push" for path in outside if path.startswith(_WORKFLOWS)]
        found += [f"{path} would be a link or a submodule" for path in outside if changes[path] not in _PLAIN_MODES]
        if len(outside) > MOST_FILES:
            found.append(f"{len(outside)} files are changed; {MOST_FILES} are the most")
        return found

    def _approved(self, after: str) -> set[str]:
        """Paths in patches that a person approved, as they were shown."""
        names = patches.approved(self.state_at(after))
        return {path for name in names for path in patches.paths_in(self.repository.read(after, f"{self.record}{name}") or b"")}

    def _contents(self, before: str, after: str) -> list[str]:
        added = self.tree.diff(before, after, max_bytes=MOST_BYTES + 1)
        if len(added) > MOST_BYTES:
            return [f"the change is larger than {MOST_BYTES // 1_000_000} MB"]
        leaked = sorted({name for needle, name in self._needles.items() if needle in added})
        return [f"they hold the value of {name}" for name in leaked]


def _forms(value: str) -> Sequence[str]:
    """A secret as it may be written: plain, reversed, in hexadecimal, in base 64 at any of its three alignments."""
    if len(value) < _SHORTEST_SECRET:
        return ()
    raw = value.encode()
    encoded = [base64.b64encode(b" " * shift + raw).decode().rstrip("=")[(shift and 4) : -2] for shift in range(3)]
    return (value, value[::-1], raw.hex(), *(text for text in encoded if len(text) >= _SHORTEST_SECRET))
