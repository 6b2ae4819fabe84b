"""Pipelines by what their addresses end in: NAME, or NAME@PROJECT where a served folder's is another than the one NAME stands for.

NAME stands for the pipeline of the first folder that has one of that name; the shipped ones every folder has, until a file of its
own replaces them. A name of a pipeline has no @, so the two forms are never mistaken for each other.
"""

from forge_bot.engine import Pipeline
from forge_bot.mcp_server.served_folders import ServedFolder, ServedFolders
from forge_bot.resources import templates
from forge_bot.settings import load_pipeline

_FOLDER = ".forge/pipelines"


def pipelines(roots: ServedFolders) -> tuple[str, ...]:
    """What the addresses end in of all pipelines that runs can be made of, each once."""
    return tuple(sorted({address(roots, root, name) for root in roots.all for name in _names(root)}))


def address(roots: ServedFolders, root: ServedFolder, name: str) -> str:
    """What the address of a root's pipeline ends in."""
    return name if _own(_first(roots, name), name) == _own(root, name) else f"{name}@{root.id}"


def pipeline_at(roots: ServedFolders, wanted: str) -> Pipeline:
    """The pipeline whose address ends so. Raises NotServed for a project that is none here, and what loading raises."""
    name, _, project = wanted.partition("@")
    root = roots.root(project) if project else _first(roots, name)
    return load_pipeline(name, root.repository.text_here)


def _first(roots: ServedFolders, name: str) -> ServedFolder:
    return next((root for root in roots.all if name in _names(root)), roots.root())


def _names(root: ServedFolder) -> set[str]:
    return {path.stem for folder in (templates() / "pipelines", root.path / _FOLDER) for path in folder.glob("*.yaml")}


def _own(root: ServedFolder, name: str) -> str | None:
    """The text with which a repository replaces a shipped pipeline or adds one."""
    return root.repository.text_here(f"{_FOLDER}/{name}.yaml")
