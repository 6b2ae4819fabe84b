"""The look around before money is spent: everything that would spoil a run and can be known without a model."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from forge_bot.errors import BadConfig
from forge_bot.git import Condition, Repository, Tree
from forge_bot.git.revisions import under_way
from forge_bot.git.worktree import lost
from forge_bot.knowledge import Profile
from forge_bot.runs.checks.check import Preflight, PreflightFinding, counted
from forge_bot.runs.checks.machine_checks import LEAST_FREE, clock_findings, command_findings, disk_findings
from forge_bot.runs.checks.named_paths import named_paths
from forge_bot.runs.checks.request_checks import Names, lfs_findings, sparse_findings, submodule_findings, workflow_findings
from forge_bot.runs.clock import now
from forge_bot.runs.resolve import RunInfo, named_in
from forge_bot.runs.run_paths import run_paths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.settings import Config, state_home
from forge_bot.settings.instructions import INSTRUCTIONS
from forge_bot.store import SPECS
from forge_bot.values import Frozen


class PreflightRequest(Frozen):
    """What a run is meant to do, as far as it matters before it begins. Empty for a look at the repository alone.

    `base` is the commit that it begins at, if not the one that is checked out.
    """

    text: str = ""
    branch: str = ""
    here: bool = False
    base: str = ""
    deliver_workflows: bool = True


def preflight(
    repository: Repository, config: Config, profile: Profile, intent: PreflightRequest, *, least_free: int = LEAST_FREE
) -> Preflight:
    """Everything to be known before a run begins; nothing is written. Raises DetachedHead, NoCommits, GitFailed."""
    base = intent.base or repository.head().commit
    condition, here = repository.condition(base), intent.here
    names = Names(paths=named_paths(intent.text), files=frozenset(repository.list_files(base)))
    room = (repository.root if here else state_home(), repository.common_dir)
    found = Preflight(
        findings=(
            *branch_findings(repository, config, intent.branch),
            *_operation(condition, here=here),
            *sparse_findings(names, condition, specs=SPECS),
            *submodule_findings(names, condition, here=here),
            *lfs_findings(names, repository.lfs(base), here=here),
            *workflow_findings(names, deliver=intent.deliver_workflows),
            *command_findings(profile, config, names.files),
            *disk_findings(room, least_free),
            *clock_findings(condition.committed_at, now()),
            *ignored_findings(repository, names.files),
            *rule_findings(repository, base),
            *_named_runs(repository, intent.text),
            *_history(condition),
        )
    )
    if found.refusals:
        # Where git-lfs is required and missing, `git status` fails too.
        return found
    return Preflight(findings=(*found.findings, *_uncommitted(repository, here=here)))


def preflight_again(repository: Repository, config: Config, info: RunInfo, *, least_free: int = LEAST_FREE) -> Preflight:
    """The cheap part again, for a run that goes on: what may have changed since, and would spoil its tree or its record."""
    # In the middle of a rebase the tree stands on no branch, so it is looked for where the run would have it.
    tree = info.tree or run_paths(repository, info.name).tree
    # A tree that has lost its repository is made anew; nothing can be under way in it.
    operation = under_way(tree) if (tree / ".git").exists() and not lost(tree) else None
    stuck: list[PreflightFinding] = []
    if operation is not None:
        sentence = f"A {operation.name} is under way in the run's work tree {tree}."
        stuck.append(PreflightFinding(what=operation.name, weight="refuse", sentence=sentence, way_out=operation.way_out))
    room = disk_findings((tree, repository.common_dir), least_free)
    return Preflight(findings=(*branch_findings(repository, config, info.branch), *stuck, *room))


def branch_findings(repository: Repository, config: Config, branch: str) -> Iterator[PreflightFinding]:
    """A refusal when the run's branch is the default one, or one that the configuration protects. Case does not matter."""
    if not branch:
        return
    default = repository.default_branch()
    if default is not None and branch.casefold() == default.casefold():
        sentence = f"{branch} is the default branch; a run works on a branch of its own."
    elif (pattern := _protecting(branch, config.protected_branches)) is not None:
        sentence = f"{branch} is a protected branch: protected_branches in .forge/config.yml has {pattern!r}."
    else:
        return
    yield PreflightFinding(what="branch", weight="refuse", sentence=sentence, way_out="Choose another branch with --branch NAME.")


def _named_runs(repository: Repository, text: str) -> Iterator[PreflightFinding]:
    """Yield a refusal for a task that is only the name of a run, and a warning for one that names a run among other words."""
    lines = {line.strip() for line in text.splitlines() if line.strip()}
    for info in named_in(repository, text):
        alone = all(line.rstrip("/").rpartition("/")[2] == info.name for line in lines)
        if alone:
            sentence = f"{info.name} is a run that exists, and no task."
        else:
            sentence = f"The task names the run {info.name}, which exists; this begins another one."
        way_out = f"forge-bot run {SPECS}/{info.name} goes on with it."
        yield PreflightFinding(what="run", weight="refuse" if alone else "warn", sentence=sentence, way_out=way_out)


def ignored_findings(repository: Repository, files: Collection[str] = ()) -> Iterator[PreflightFinding]:
    """Yield a warning for configuration that this version does not read, in the commit (`files`) or only in the work tree."""
    here = (*repository.root.glob(".forge/skills/*/SKILL.md"), *repository.root.glob(".forge/pipelines/*.yml"))
    names = (*(name for name in _ALONE if (repository.root / name).exists()), *(str(path.relative_to(repository.root)) for path in here))
    for name in sorted({*names, *files}):
        if (why := _ignored(name)) is not None:
            yield PreflightFinding(what="ignored", weight="warn", sentence=f"{name} is ignored: {why[0]}", way_out=why[1])


_ALONE = {
    "forge-mcp.json": ("this version does not call MCP servers.", "No agent is given the tools in it."),
    ".forge/config.yaml": ("the configuration is read from .forge/config.yml.", "Rename it."),
}


def _ignored(name: str) -> tuple[str, str] | None:
    """Return why a file has no effect, and what to do; None for any other file."""
    if fnmatchcase(name, ".forge/skills/*/SKILL.md"):
        return "this version does not read skills.", "No agent is given it; what agents should know belongs into AGENTS.md."
    if fnmatchcase(name, ".forge/pipelines/*.yml"):
        return "pipelines are read from files that end in .yaml.", "Rename it."
    return _ALONE.get(name)


def _protecting(branch: str, patterns: Collection[str]) -> str | None:
    return next((pattern for pattern in patterns if fnmatchcase(branch.casefold(), pattern.casefold())), None)


def _operation(condition: Condition, *, here: bool) -> Iterator[PreflightFinding]:
    operation = condition.operation
    if operation is None:
        return
    if here:
        sentence = f"A {operation.name} is under way here; commits of a run would get into it."
        yield PreflightFinding(what=operation.name, weight="refuse", sentence=sentence, way_out=operation.way_out)
    else:
        sentence = f"A {operation.name} is under way here; the run begins at the last commit, without it."
        yield PreflightFinding(what=operation.name, weight="warn", sentence=sentence, way_out=operation.way_out)


def _history(condition: Condition) -> Iterator[PreflightFinding]:
    if condition.commits_here is not None:
        sentence = (
            f"The clone is shallow: {counted(condition.commits_here, 'commit')} of the branch and nothing before. "
            "What older commits say stays unseen, and comparing with older branches fails."
        )
        yield PreflightFinding(what="history", weight="note", sentence=sentence, way_out="`git fetch --unshallow` brings the rest.")


def _uncommitted(repository: Repository, *, here: bool) -> Iterator[PreflightFinding]:
    changes = () if here else Tree(repository.root).status()
    if changes:
        sentence = f"Uncommitted changes in {counted(len(changes), 'file')} are not part of the run: it begins at the last commit."
        yield PreflightFinding(what="uncommitted", weight="note", sentence=sentence, way_out="Commit them first, if the run needs them.")


def rule_findings(repository: Repository, base: str) -> Iterator[PreflightFinding]:
    """Yield a refusal for rules that cannot be read, a note on those that count, and a warning where the work tree has others."""
    try:
        rules = rules_at(repository, base)
    except BadConfig as error:
        sentence = " ".join((error.message, *error.details))
        yield PreflightFinding(what="rules", weight="refuse", sentence=sentence, way_out=f"Correct {INSTRUCTIONS} and commit it.")
        return
    if rules.rules:
        names = ", ".join(rule.id for rule in rules.rules)
        yield PreflightFinding(what="rules", weight="note", sentence=f"Rules of {INSTRUCTIONS} count for this run: {names}.")
    committed = repository.read(base, INSTRUCTIONS)
    here = repository.text_here(INSTRUCTIONS)
    if here is not None and here.encode() != committed:
        sentence = f"{INSTRUCTIONS} in the work tree is another one than in the commit that the run begins at."
        yield PreflightFinding(what="rules", weight="warn", sentence=sentence, way_out="Commit it, if it is to count.")
