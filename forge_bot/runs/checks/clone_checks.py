"""Checks of the clone: branch, identity, unfinished operations of git, history, uncommitted
work.
"""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.git.worktree import lost
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse, warn
from forge_bot.wording import several

_NAME_YOURSELF = (
    'git config --global user.name "Your Name" && git config --global user.email you@example.com'
)


def head(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the branch and commit that are checked out. Raises DetachedHead or NoCommits."""
    here = subject.repository.head()
    yield note("git", f"on {here.branch} at {here.commit[:12]}")


def identity(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the name that commits will carry; a warning where git knows none for the user."""
    name = subject.repository.identity()
    if name is None:
        yield warn("git identity", "commits will be forge-bot's own", _NAME_YOURSELF)
    else:
        yield note("git identity", name)


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
    """Yield a merge, rebase or the like that is under way where the user is."""
    found = subject.condition.operation
    if found is None:
        return
    begun = f"A {found.name} is under way here;"
    if subject.intent.here:
        sentence = f"{begun} commits of a run would get into it."
        yield refuse(found.name, sentence, found.way_out)
    else:
        sentence = f"{begun} the run begins at the last commit, without it."
        yield warn(found.name, sentence, found.way_out)


def operation_in_run(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a merge, rebase or the like that is under way in the run's work tree."""
    tree = subject.run_tree
    # A tree that has lost its repository is made anew; nothing can be under way in it.
    if tree is None or not (tree / ".git").exists() or lost(tree):
        return
    found = under_way(tree)
    if found is not None:
        sentence = f"A {found.name} is under way in the run's work tree {tree}."
        yield refuse(found.name, sentence, found.way_out)


def history(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on a shallow clone."""
    commits = subject.condition.commits_here
    if commits is not None:
        sentence = (
            f"The clone is shallow: {several(commits, 'commit')} of the branch and nothing before. "
            "What older commits say stays unseen, and comparing with older branches fails."
        )
        yield note("history", sentence, "`git fetch --unshallow` brings the rest.")


def uncommitted(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on uncommitted changes, unless the run works where they are."""
    changes = () if subject.intent.here else Tree(subject.repository.root).status()
    if changes:
        sentence = (
            f"Uncommitted changes in {several(len(changes), 'file')} are not part of the run: it"
            " begins at the last commit."
        )
        yield note("uncommitted", sentence, "Commit them first, if the run needs them.")


def _protecting(name: str, patterns: Collection[str]) -> str | None:
    matching = (each for each in patterns if fnmatchcase(name.casefold(), each.casefold()))
    return next(matching, None)
