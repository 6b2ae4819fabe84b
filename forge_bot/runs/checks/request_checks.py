"""What a request asks for that this clone or host cannot give: workflow files, submodules, files that are not here."""

from collections.abc import Collection, Iterator

from forge_bot.git import Condition, Lfs
from forge_bot.knowledge.languages import language_of
from forge_bot.runs.checks.check import PreflightFinding, counted, listed
from forge_bot.runs.checks.named_paths import below, named_files
from forge_bot.values import Frozen

WORKFLOWS = ".github/workflows"


class Names(Frozen):
    """The paths a request names, and the files of the commit it starts from."""

    paths: tuple[str, ...]
    files: frozenset[str]


def workflow_findings(names: Names, *, deliver: bool) -> Iterator[PreflightFinding]:
    """A warning when workflow files are named; a refusal when no other files are and nobody here could deliver them.

    Changes below .github/ wait at a checkpoint as a patch in any case; `deliver` says whether the host can commit them after that.
    """
    workflows = below(names.paths, WORKFLOWS)
    if not workflows:
        return
    sentence = f"The task asks for workflow files ({listed(workflows)})."
    if deliver:
        way_out = "A change to them is held as a patch, and you are asked before it is applied."
        yield PreflightFinding(what="workflow files", weight="warn", sentence=sentence, way_out=way_out)
    elif set(named_files(names.paths, names.files)) - set(workflows):
        way_out = "They cannot be delivered from here: their part comes as a patch, for you to apply."
        yield PreflightFinding(what="workflow files", weight="warn", sentence=sentence, way_out=way_out)
    else:
        sentence = f"The task asks for nothing but workflow files ({listed(workflows)}), which cannot be delivered from here."
        way_out = "Run it at a terminal with forge-bot run, where you may let the change through; or change them by hand."
        yield PreflightFinding(what="workflow files", weight="refuse", sentence=sentence, way_out=way_out)


def submodule_findings(names: Names, condition: Condition, *, here: bool) -> Iterator[PreflightFinding]:
    """A refusal for a path inside a submodule, since its files belong to another repository; else what its absence means."""
    modules = condition.submodules
    for module in modules:
        if inside := below(names.paths, module.path):
            sentence = f"{inside[0]} lies in the submodule {module.path}: a change there belongs to another repository."
            way_out = f"Run forge-bot in that repository (--repo), or say the task without {inside[0]}."
            yield PreflightFinding(what="submodule", weight="refuse", sentence=sentence, way_out=way_out)
    empty = tuple(module.path for module in modules if not module.filled)
    fill = "git submodule update --init"
    if empty:
        sentence = f"{counted(len(empty), 'submodule')} not initialised here: {listed(empty)}."
        way_out = f"`{fill}`" + ("" if here else ", then run with --here: a work tree of the run's own comes without submodules.")
        yield PreflightFinding(what="submodules", weight="warn", sentence=sentence, way_out=way_out)
    elif modules and not here:
        sentence = f"The run's own work tree comes without the files of {listed(tuple(module.path for module in modules))}."
        way_out = f"If build or tests need them, run with --here on a branch of your own, after `{fill}`."
        yield PreflightFinding(what="submodules", weight="warn", sentence=sentence, way_out=way_out)


def lfs_findings(names: Names, lfs: Lfs | None, *, here: bool) -> Iterator[PreflightFinding]:
    """A refusal where git cannot make the work tree, or where pointers stand for what the run may have to change; else a warning.

    To be changed are files the task names, and source code: agents read and write text, and would take a pointer for it.
    """
    if lfs is None:
        return
    if lfs.works:
        yield _with_lfs(lfs, here=here)
        return
    pointers = tuple(name for name in lfs.files if name in lfs.pointers) if here else lfs.files
    way_out = "Run `git lfs install`, then `git lfs pull`." if lfs.installed else "Install git-lfs, then `git lfs install && git lfs pull`."
    why = "git-lfs is not set up" if lfs.installed else "git-lfs is not installed"
    if lfs.required and lfs.set_up:
        sentence = f"git can neither check out nor commit {listed(lfs.files)}: its configuration requires git-lfs, and {why}."
        yield PreflightFinding(what="Git LFS", weight="refuse", sentence=sentence, way_out=way_out)
    elif touched := tuple(name for name in pointers if _touched(name, names.paths)):
        sentence = f"{listed(touched)}: only a pointer is here, not the content, since {why}."
        yield PreflightFinding(what="Git LFS", weight="refuse", sentence=sentence, way_out=way_out)
    elif pointers:
        sentence = f"{counted(len(pointers), 'file')} in Git LFS ({listed(pointers)}) will be there as pointers only, since {why}."
        yield PreflightFinding(what="Git LFS", weight="warn", sentence=sentence, way_out=f"{way_out} Else they should be left alone.")


def sparse_findings(names: Names, condition: Condition, *, specs: str) -> Iterator[PreflightFinding]:
    """A refusal where git would not take the run's record or a file that the task names; else what is left out."""
    sparse = condition.sparse
    if sparse is None:
        return
    whole = "`git sparse-checkout disable`"
    missing = tuple(path for path in names.paths if path in sparse.left_out)
    if not sparse.takes_folder(specs):
        sentence = f"The sparse checkout leaves out {specs}/, so the record of a run could not be committed."
        yield PreflightFinding(what="sparse checkout", weight="refuse", sentence=sentence, way_out=f"git sparse-checkout add {specs}")
    elif missing:
        sentence = f"{listed(missing)}: named in the task, and left out by the sparse checkout."
        way_out = f"`git sparse-checkout add FOLDER` for it, or {whole}."
        yield PreflightFinding(what="sparse checkout", weight="refuse", sentence=sentence, way_out=way_out)
    elif sparse.left_out:
        sentence = (
            f"The sparse checkout leaves out {counted(len(sparse.left_out), 'file')}: tests do not see them, and no change can reach them."
        )
        yield PreflightFinding(what="sparse checkout", weight="warn", sentence=sentence, way_out=f"{whole}, if the task may need them.")


def _with_lfs(lfs: Lfs, *, here: bool) -> PreflightFinding:
    if lfs.pointers:
        sentence = f"{counted(len(lfs.pointers), 'file')} in Git LFS not pulled here ({listed(tuple(sorted(lfs.pointers)))})."
        way_out = "`git lfs pull`" + ("" if here else "; else git fetches them while the run's work tree is made.")
        return PreflightFinding(what="Git LFS", weight="warn", sentence=sentence, way_out=way_out)
    sentence = f"{counted(len(lfs.files), 'file')} in Git LFS. Hooks do not run, so a push of the run uploads no changed content of theirs."
    way_out = "Should the run change one: git lfs push origin BRANCH, before the branch is pushed."
    return PreflightFinding(what="Git LFS", weight="note", sentence=sentence, way_out=way_out)


def _touched(name: str, paths: Collection[str]) -> bool:
    return bool(language_of(name)) or any(path in {name, name.rpartition("/")[2]} or name.startswith(f"{path}/") for path in paths)
