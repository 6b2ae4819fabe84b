"""Checks of the clone: branch, unfinished operations of git, uncommitted work."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse, warn


def head(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the branch and commit that are checked out. Raises DetachedHead or NoCommits."""
    here = subject.repository.head()
    yield note("git", f"on {here.branch} at {here.commit[:12]}")


def branch(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for the default branch and for a protected one. Case does not matter."""
    name = subject.branch
    if not name:
        return
    default = subject.repository.default_branch()
    if default is not None and name.casefold() == default.casefold():
        said = f"{name} is the default branch; a run works on a branch of its own."
    elif (pattern := _protecting(name, subject.config.protected_branches)) is not None:
        setting = "protected_branches in .forge/config.yml"
        said = f"{name} is a protected branch: {setting} has {pattern!r}."
    else:
        return
    yield refuse("branch", said, "Choose another branch with --branch NAME.")


def operation(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a merge, rebase or the like that is under way where the user is."""
    found = under_way(subject.repository.root)
    if found is None:
        return
    if subject.intent.here:
        said = f"A {found.name} is under way here; commits of a run would get into it."
        yield refuse(found.name, said, found.way_out)
    else:
        said = f"A {found.name} is under way here; the run begins at the last commit, without it."
        yield warn(found.name, said, found.way_out)


def operation_in_run(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a merge, rebase or the like that is under way in the run's work tree."""
    tree = subject.run_tree
    if tree is None or not (tree / ".git").exists():
        return
    found = under_way(tree)
    if found is not None:
        said = f"A {found.name} is under way in the run's work tree {tree}."
        yield refuse(found.name, said, found.way_out)


def uncommitted(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on uncommitted changes, unless the run works where they are."""
    if subject.intent.here:
        return
    if changes := Tree(subject.repository.root).status():
        said = (
            (
                f"Uncommitted changes in {len(changes):,} file are not part of the run: it "
                "begins at the last commit."
            )
            if len(changes) == 1
            else (
                f"Uncommitted changes in {len(changes):,} files are not part of the run: it "
                "begins at the last commit."
            )
        )
        yield note("uncommitted", said, "Commit them first, if the run needs them.")


def _protecting(name: str, patterns: Collection[str]) -> str | None:
    matching = (each for each in patterns if fnmatchcase(name.casefold(), each.casefold()))
    return next(matching, None)
