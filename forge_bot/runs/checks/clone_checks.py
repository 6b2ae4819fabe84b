"""Checks of the clone: branch, unfinished operations of git, uncommitted work."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse, warn
from forge_bot.sentences import say


def head(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the branch and commit that are checked out. Raises DetachedHead or NoCommits."""
    here = subject.repository.head()
    yield note("git", say("preflight.git.on_branch", branch=here.branch, commit=here.commit[:12]))


def branch(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for the default branch and for a protected one. Case does not matter."""
    name = subject.branch
    if not name:
        return
    default = subject.repository.default_branch()
    if default is not None and name.casefold() == default.casefold():
        said = say("preflight.branch.is_the_default", name=name)
    elif (pattern := _protecting(name, subject.config.protected_branches)) is not None:
        setting = "protected_branches in .forge/config.yml"
        said = say("preflight.branch.is_protected", name=name, setting=setting, pattern=pattern)
    else:
        return
    yield refuse("branch", said, say("preflight.branch.choose_another"))


def operation(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a merge, rebase or the like that is under way where the user is."""
    found = under_way(subject.repository.root)
    if found is None:
        return
    if subject.intent.here:
        said = say("preflight.operation.gets_into_it", name=found.name)
        yield refuse(found.name, said, found.way_out)
    else:
        said = say("preflight.operation.begins_without_it", name=found.name)
        yield warn(found.name, said, found.way_out)


def operation_in_run(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a merge, rebase or the like that is under way in the run's work tree."""
    tree = subject.run_tree
    if tree is None or not (tree / ".git").exists():
        return
    found = under_way(tree)
    if found is not None:
        said = say("preflight.operation.in_the_runs_tree", name=found.name, tree=tree)
        yield refuse(found.name, said, found.way_out)


def uncommitted(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on uncommitted changes, unless the run works where they are."""
    if subject.intent.here:
        return
    if changes := Tree(subject.repository.root).status():
        said = say("preflight.uncommitted.not_part", count=len(changes))
        yield note("uncommitted", said, say("preflight.uncommitted.commit_them_first"))


def _protecting(name: str, patterns: Collection[str]) -> str | None:
    matching = (each for each in patterns if fnmatchcase(name.casefold(), each.casefold()))
    return next(matching, None)
