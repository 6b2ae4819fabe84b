"""Pipelines: those that ship, and a repository's own from .forge/pipelines/."""

from collections.abc import Callable
from functools import lru_cache

from pydantic import TypeAdapter

from forge_bot.engine.pipeline import Descriptor, Pipeline, StepPipeline
from forge_bot.errors import BadPipeline, PipelineNotRunnable
from forge_bot.resources import templates
from forge_bot.settings.yaml_file import read_yaml

PIPELINES = ".forge/pipelines"
"""The folder of a repository's own pipelines."""

_DESCRIPTOR: TypeAdapter[Pipeline | StepPipeline] = TypeAdapter(Descriptor)


@lru_cache(maxsize=16)
def _parsed(text: str, place: str) -> Pipeline | StepPipeline:
    # A server reads the same text at every call; YAML takes longer to read than all else that a
    # call does.
    return read_yaml(text, place, _DESCRIPTOR, BadPipeline)


def load_pipeline(name: str, read: Callable[[str], str | None]) -> Pipeline:
    """The pipeline of that name; `read` gives a repository's file by its path, or None.

    Raises BadPipeline with all problems and their lines, PipelineNotRunnable for a pipeline of
    steps.
    """
    descriptor = load_descriptor(name, read)
    if isinstance(descriptor, StepPipeline):
        raise PipelineNotRunnable(f"The pipeline {name} describes steps, not phases.")
    return descriptor


def load_descriptor(name: str, read: Callable[[str], str | None]) -> Pipeline | StepPipeline:
    """Return the pipeline of that name, of either kind. Raises BadPipeline with all problems and
    their lines.
    """
    if not name.replace("-", "").replace("_", "").isalnum():
        raise BadPipeline(
            f"{name!r} is no name of a pipeline.", details=("letters, digits, - and _ only",)
        )
    own = f"{PIPELINES}/{name}.yaml"
    text = read(own)
    shipped = templates() / "pipelines" / f"{name}.yaml"
    if text is None and not shipped.is_file():
        raise BadPipeline(
            f"There is no pipeline {name!r}.", details=(f"neither {own} nor a shipped one",)
        )
    place = own if text is not None else f"pipelines/{name}.yaml"
    return _parsed(text if text is not None else shipped.read_text(encoding="utf-8"), place)
