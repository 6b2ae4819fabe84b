"""Pipelines by the last part of their address: NAME, or NAME@PROJECT.

NAME means the pipeline of the first folder that has one of that name. A folder with another
pipeline of that name has NAME@PROJECT. Every folder has the shipped pipelines, unless a file of its
own replaces one. No name of a pipeline contains @, so the two forms cannot be confused.
"""

from forge_bot.engine import Pipeline, StepPipeline
from forge_bot.errors import ForgeError
from forge_bot.mcp_server.served_folders import ServedFolder, ServedFolders
from forge_bot.mcp_server.tool_results import in_one_line
from forge_bot.settings.config import file_text
from forge_bot.settings.load_pipeline import PIPELINES, load_descriptor, pipeline_names


def pipelines(roots: ServedFolders) -> tuple[str, ...]:
    """Return the last parts of the addresses of all pipelines, each once."""
    return tuple(
        sorted(
            {address(roots, root, name) for root in roots.all for name in pipeline_names(root.path)}
        )
    )


def address(roots: ServedFolders, root: ServedFolder, name: str) -> str:
    """Return the last part of the address of a root's pipeline."""
    return name if _own(_first(roots, name), name) == _own(root, name) else f"{name}@{root.id}"


def described(roots: ServedFolders) -> tuple[tuple[str, str], ...]:
    """Return each address with a sentence about its pipeline. One that cannot be read says why, and
    where.
    """
    return tuple((name, _sentence(roots, name)) for name in pipelines(roots))


def _sentence(roots: ServedFolders, name: str) -> str:
    try:
        found = pipeline_at(roots, name)
    except ForgeError as error:
        return f"cannot be read: {in_one_line(error)}"
    return (
        "a pipeline of steps, as data" if isinstance(found, StepPipeline) else "a pipeline as data"
    )


def pipeline_at(roots: ServedFolders, wanted: str) -> Pipeline | StepPipeline:
    """Return the pipeline with this end of its address. Raises NotServed for an unknown project,
    and the errors of loading.
    """
    name, _, project = wanted.partition("@")
    root = roots.root(project) if project else _first(roots, name)
    return load_descriptor(name, root.repository.root)


def _first(roots: ServedFolders, name: str) -> ServedFolder:
    return next((root for root in roots.all if name in pipeline_names(root.path)), roots.root())


def _own(root: ServedFolder, name: str) -> str | None:
    """The text with which a repository replaces a shipped pipeline or adds one."""
    return file_text(root.path, f"{PIPELINES}/{name}.yaml")
