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
    note,
    refuse,
    warn,
)
from forge_bot.runs.checks.named_paths import below, named_files
from forge_bot.runs.find_runs import named_in
from forge_bot.sentences import listed
from forge_bot.store import SPECS
from forge_bot.wording import several

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
    sentence = f"The task asks for workflow files ({_some(workflows)})."
    if subject.intent.deliver_workflows:
        way_out = "A change to them is held as a patch, and you are asked before it is applied."
        yield warn("workflow files", sentence, way_out)
    elif set(named_files(subject.paths, subject.files)) - set(workflows):
        way_out = (
            "They cannot be delivered from here: their part comes as a patch, for you to apply."
        )
        yield warn("workflow files", sentence, way_out)
    else:
        sentence = (
            f"The task asks for nothing but workflow files ({_some(workflows)}), which cannot be"
            " delivered from here."
        )
        way_out = (
            "Run it at a terminal with forge-bot run, where you may let the change through; or"
            " change them by hand."
        )
        yield refuse("workflow files", sentence, way_out)


def submodules(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a path inside a submodule: it belongs to another repository. Else a
    warning on missing files.
    """
    here = subject.intent.here
    modules = subject.condition.submodules
    for module in modules:
        if inside := below(subject.paths, module.path):
            sentence = (
                f"{inside[0]} lies in the submodule {module.path}: a change there belongs to"
                " another repository."
            )
            way_out = (
                f"Run forge-bot in that repository (--repo), or say the task without {inside[0]}."
            )
            yield refuse("submodule", sentence, way_out)
    empty = tuple(module.path for module in modules if not module.filled)
    fill = "git submodule update --init"
    if empty:
        sentence = f"{several(len(empty), 'submodule')} not initialised here: {_some(empty)}."
        way_out = f"`{fill}`" + (
            ""
            if here
            else ", then run with --here: a work tree of the run's own comes without submodules."
        )
        yield warn("submodules", sentence, way_out)
    elif modules and not here:
        sentence = (
            "The run's own work tree comes without the files of"
            f" {_some(tuple(module.path for module in modules))}."
        )
        way_out = (
            f"If build or tests need them, run with --here on a branch of your own, after `{fill}`."
        )
        yield warn("submodules", sentence, way_out)


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
    way_out = (
        "Run `git lfs install`, then `git lfs pull`."
        if lfs.installed
        else "Install git-lfs, then `git lfs install && git lfs pull`."
    )
    why = "git-lfs is not set up" if lfs.installed else "git-lfs is not installed"
    if lfs.required and lfs.set_up:
        sentence = (
            f"git can neither check out nor commit {_some(lfs.files)}: its configuration requires"
            f" git-lfs, and {why}."
        )
        yield refuse("Git LFS", sentence, way_out)
    elif touched := tuple(name for name in pointers if _touched(name, subject.paths)):
        sentence = f"{_some(touched)}: only a pointer is here, not the content, since {why}."
        yield refuse("Git LFS", sentence, way_out)
    elif pointers:
        sentence = (
            f"{several(len(pointers), 'file')} in Git LFS ({_some(pointers)}) will be there as"
            f" pointers only, since {why}."
        )
        yield warn("Git LFS", sentence, f"{way_out} Else they should be left alone.")


def sparse_checkout(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal where git would not take the record or a file that the task names; else a
    warning.
    """
    sparse = subject.condition.sparse
    if sparse is None:
        return
    whole = "`git sparse-checkout disable`"
    missing = tuple(path for path in subject.paths if path in sparse.left_out)
    if not sparse.takes_folder(SPECS):
        sentence = (
            f"The sparse checkout leaves out {SPECS}/, so the record of a run could not be"
            " committed."
        )
        yield refuse("sparse checkout", sentence, f"git sparse-checkout add {SPECS}")
    elif missing:
        sentence = f"{_some(missing)}: named in the task, and left out by the sparse checkout."
        way_out = f"`git sparse-checkout add FOLDER` for it, or {whole}."
        yield refuse("sparse checkout", sentence, way_out)
    elif sparse.left_out:
        sentence = (
            f"The sparse checkout leaves out {several(len(sparse.left_out), 'file')}: tests do not"
            " see them, and no change can reach them."
        )
        yield warn("sparse checkout", sentence, f"{whole}, if the task may need them.")


def named_runs(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a task that is only the name of a run, and a warning for one that names a
    run among other words.
    """
    repository, text = subject.repository, subject.intent.text
    lines = {line.strip() for line in text.splitlines() if line.strip()}
    for info in named_in(repository, text):
        alone = all(line.rstrip("/").rpartition("/")[2] == info.name for line in lines)
        if alone:
            sentence = f"{info.name} is a run that exists, and no task."
        else:
            sentence = f"The task names the run {info.name}, which exists; this begins another one."
        way_out = f"forge-bot run {SPECS}/{info.name} goes on with it."
        yield (refuse if alone else warn)("run", sentence, way_out)


def _with_lfs(lfs: Lfs, *, here: bool) -> CheckResult:
    if lfs.pointers:
        sentence = (
            f"{several(len(lfs.pointers), 'file')} in Git LFS not pulled here"
            f" ({_some(tuple(sorted(lfs.pointers)))})."
        )
        way_out = "`git lfs pull`" + (
            "" if here else "; else git fetches them while the run's work tree is made."
        )
        return warn("Git LFS", sentence, way_out)
    sentence = (
        f"{several(len(lfs.files), 'file')} in Git LFS. Hooks do not run, so a push of the run"
        " uploads no changed content of theirs."
    )
    way_out = "Should the run change one: git lfs push origin BRANCH, before the branch is pushed."
    return note("Git LFS", sentence, way_out)


def _touched(name: str, paths: Collection[str]) -> bool:
    return bool(language_of(name)) or any(
        path in {name, name.rpartition("/")[2]} or name.startswith(f"{path}/") for path in paths
    )
