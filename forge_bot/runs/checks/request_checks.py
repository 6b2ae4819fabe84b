"""Checks of the task: the paths and runs that it names, and whether this clone and host can give
them.
"""

from collections.abc import Collection, Iterator
from functools import partial

from forge_bot.git import Lfs
from forge_bot.project.languages import language_of
from forge_bot.runs.checks.check import (
    CheckResult,
    CheckSubject,
    below,
    named_files,
    note,
    refuse,
    warn,
)
from forge_bot.runs.finding_runs.resolve_run import named_in
from forge_bot.sentences import listed, say
from forge_bot.store import SPECS

WORKFLOWS = ".github/workflows"
_some = partial(listed, most=3)


def workflow_files(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a warning for workflow files, a refusal where nothing else is named and nobody here
    could deliver them.

    Changes below .github/ wait at a checkpoint as a patch in any case. `deliver_workflows` says
    whether the host can commit them after that.
    """
    workflows = below(subject.paths, WORKFLOWS)
    if not workflows:
        return
    said = say("preflight.workflows.asked_for", files=_some(workflows))
    if subject.intent.deliver_workflows:
        way_out = say("preflight.workflows.held_as_a_patch")
        yield warn("workflow files", said, way_out)
    elif set(named_files(subject.paths, subject.files)) - set(workflows):
        way_out = say("preflight.workflows.come_as_a_patch")
        yield warn("workflow files", said, way_out)
    else:
        said = say("preflight.workflows.nothing_else", files=_some(workflows))
        way_out = say("preflight.workflows.run_at_a_terminal")
        yield refuse("workflow files", said, way_out)


def submodules(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a path inside a submodule: it belongs to another repository. Else a
    warning on missing files.
    """
    here = subject.intent.here
    modules = subject.condition.submodules
    for module in modules:
        if inside := below(subject.paths, module.path):
            said = say("preflight.submodules.path_inside", path=inside[0], submodule=module.path)
            way_out = say("preflight.submodules.run_there", path=inside[0])
            yield refuse("submodule", said, way_out)
    empty = tuple(module.path for module in modules if not module.filled)
    fill = "git submodule update --init"
    if empty:
        said = say("preflight.submodules.not_initialised", count=len(empty), names=_some(empty))
        way_out = f"`{fill}`" if here else say("preflight.submodules.fill", command=fill)
        yield warn("submodules", said, way_out)
    elif modules and not here:
        said = say(
            "preflight.submodules.not_in_the_work_tree",
            names=_some(tuple(module.path for module in modules)),
        )
        way_out = say("preflight.submodules.run_here", command=fill)
        yield warn("submodules", said, way_out)


def git_lfs(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal where git cannot make the work tree, or where the run may have to change a
    pointer; else a warning.

    What a run may change are files the task names, and source code: agents read and write text, and
    would take a pointer for it.
    """
    lfs, here = subject.repository.lfs(subject.base), subject.intent.here
    if lfs is None:
        return
    if lfs.works:
        yield _with_lfs(lfs, here=here)
        return
    pointers = tuple(name for name in lfs.files if name in lfs.pointers) if here else lfs.files
    way_out = say("preflight.lfs.set_it_up") if lfs.installed else say("preflight.lfs.install_it")
    why = (
        say("preflight.lfs.is_not_set_up")
        if lfs.installed
        else say("preflight.lfs.is_not_installed")
    )
    if lfs.required and lfs.set_up:
        said = say(
            "preflight.lfs.can_neither_check_out_nor_commit", files=_some(lfs.files), why=why
        )
        yield refuse("Git LFS", said, way_out)
    elif touched := tuple(name for name in pointers if _touched(name, subject.paths)):
        said = say("preflight.lfs.only_a_pointer", files=_some(touched), why=why)
        yield refuse("Git LFS", said, way_out)
    elif pointers:
        said = say(
            "preflight.lfs.pointers_only", count=len(pointers), files=_some(pointers), why=why
        )
        yield warn("Git LFS", said, say("preflight.lfs.left_alone", way_out=way_out))


def sparse_checkout(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal if git would not take the record or a file of the task; else a warning."""
    sparse = subject.condition.sparse
    if sparse is None:
        return
    whole = "`git sparse-checkout disable`"
    missing = tuple(path for path in subject.paths if path in sparse.left_out)
    if not sparse.takes_folder(SPECS):
        said = say("preflight.sparse.leaves_out_the_record", folder=SPECS)
        yield refuse("sparse checkout", said, f"git sparse-checkout add {SPECS}")
    elif missing:
        said = say("preflight.sparse.named_and_left_out", files=_some(missing))
        way_out = say("preflight.sparse.add_the_folder", command=whole)
        yield refuse("sparse checkout", said, way_out)
    elif sparse.left_out:
        said = say("preflight.sparse.leaves_out_files", count=len(sparse.left_out))
        yield warn("sparse checkout", said, say("preflight.sparse.if_needed", command=whole))


def named_runs(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a task that is only the name of a run, and a warning for one that names a
    run among other words.
    """
    repository, text = subject.repository, subject.intent.text
    lines = {line.strip() for line in text.splitlines() if line.strip()}
    for info in named_in(repository, text):
        alone = all(line.rstrip("/").rpartition("/")[2] == info.name for line in lines)
        if alone:
            said = say("preflight.runs.no_task", run=info.name)
        else:
            said = say("preflight.runs.begins_another", run=info.name)
        way_out = say("runs.request_checks.run_continues", specs=SPECS, name=info.name)
        yield (refuse if alone else warn)("run", said, way_out)


def _with_lfs(lfs: Lfs, *, here: bool) -> CheckResult:
    if lfs.pointers:
        said = say(
            "preflight.lfs.not_pulled",
            count=len(lfs.pointers),
            files=_some(tuple(sorted(lfs.pointers))),
        )
        way_out = "`git lfs pull`" if here else say("preflight.lfs.pull_it")
        return warn("Git LFS", said, way_out)
    said = say("preflight.lfs.hooks_do_not_run", count=len(lfs.files))
    way_out = say("preflight.lfs.push_it_before")
    return note("Git LFS", said, way_out)


def _touched(name: str, paths: Collection[str]) -> bool:
    return bool(language_of(name)) or any(
        path in {name, name.rpartition("/")[2]} or name.startswith(f"{path}/") for path in paths
    )
