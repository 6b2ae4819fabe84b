"""Checks of the clone: branch, unfinished operations of git, uncommitted work."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse
from forge_bot.text_format import several


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
        sentence = f"{name} is the default branch; a run works on a branch of its own."
    elif (pattern := _protecting(name, subject.config.protected_branches)) is not None:
        setting = "protected_branches in .forge/config.yml"
        sentence = f"{name} is a protected branch: {setting} has {pattern!r}."
    else:
        return
    yield refuse("branch", sentence, "Choose another branch with --branch NAME.")


def operation(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a merge, rebase or the like that is under way where the run commits."""
    tree = subject.run_tree or (subject.repository.root if subject.intent.here else None)
    if tree is None or not (tree / ".git").exists():
        return
    if (pending := under_way(tree)) is not None:
        sentence = f"A {pending.name} is under way in {tree}; commits of the run would get into it."
        yield refuse(pending.name, sentence, pending.way_out)


def uncommitted(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on uncommitted changes, unless the run works where they are."""
    if subject.intent.here:
        return
    if changes := Tree(subject.repository.root).status():
        files = several(len(changes), "file")
        sentence = (
            f"Uncommitted changes in {files} are not part of the run: it begins at the last commit."
        )
        yield note("uncommitted", sentence, "Commit them first, if the run needs them.")


def _protecting(name: str, patterns: Collection[str]) -> str | None:
    matching = (pattern for pattern in patterns if fnmatchcase(name.casefold(), pattern.casefold()))
    return next(matching, None)
