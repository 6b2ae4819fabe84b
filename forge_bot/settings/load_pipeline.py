"""Pipelines: those that ship, and a repository's own from .forge/pipelines/."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from forge_bot.errors import BadPipeline
from forge_bot.resources import templates
from forge_bot.sentences import listed
from forge_bot.settings.config import file_text

if TYPE_CHECKING:
    from forge_bot.engine.pipeline import Pipeline, StepPipeline

PIPELINES = ".forge/pipelines"
"""The folder of a repository's own pipelines."""

RESERVED = ("S", "M", "L", "auto", "batch")
"""Names that labels of a run have already; no pipeline is named so."""


def pipeline_names(root: Path | None) -> tuple[str, ...]:
    """Return the names of the pipelines that ship and of a repository's own, sorted."""
    own = () if root is None else (root / PIPELINES,)
    folders = (templates() / "pipelines", *own)
    return tuple(sorted({path.stem for folder in folders for path in folder.glob("*.yaml")}))


@lru_cache(maxsize=16)
def _parse(text: str, place: str) -> "Pipeline | StepPipeline":
    # A server reads the same text at every call; YAML takes longer to read than all else that a
    # call does.
    from forge_bot.engine.pipeline import StepPipeline
    from forge_bot.settings.yaml_file import raise_problems, read_with_lines

    descriptor, lines = read_with_lines(text, place, _descriptor(), BadPipeline)
    if isinstance(descriptor, StepPipeline):
        from forge_bot.engine.step_contracts import problems_of

        raise_problems(problems_of(descriptor), place, lines, BadPipeline)
    return descriptor


@lru_cache(maxsize=1)
def _descriptor() -> "TypeAdapter[Pipeline | StepPipeline]":
    from forge_bot.engine.pipeline import Descriptor

    return TypeAdapter(Descriptor)


def load_pipeline(name: str, root: Path | None) -> "Pipeline":
    """Return the pipeline of that name: that of the repository in the folder `root`, else the
    shipped one.

    A pipeline of steps is made into one of phases. Raises BadPipeline with all problems and their
    lines.
    """
    from forge_bot.engine.pipeline import StepPipeline

    descriptor = load_descriptor(name, root)
    if isinstance(descriptor, StepPipeline):
        from forge_bot.engine.step_phases import phases_of

        return phases_of(descriptor)
    return descriptor


def load_descriptor(name: str, root: Path | None) -> "Pipeline | StepPipeline":
    """Return the pipeline of that name, of either kind. Raises BadPipeline with all problems and
    their lines.
    """
    from forge_bot.engine.pipeline import StepPipeline

    text, place = pipeline_source(name, root)
    parsed = _parse(text, place)
    if isinstance(parsed, StepPipeline) and parsed.pipeline_id != name:
        wrong = f"{place}:1: pipeline_id: {parsed.pipeline_id!r}; the file is named {name!r}"
        raise BadPipeline(f"{place} has one problem.", details=(wrong,))
    return parsed


def pipeline_source(name: str, root: Path | None) -> tuple[str, str]:
    """Return the text of the pipeline of that name, and the name of its file. Raises BadPipeline
    where there is none.
    """
    plain = name.replace("-", "").replace("_", "").isalnum()
    if not plain or name.casefold() in map(str.casefold, RESERVED):
        why = "a label has it" if plain else "letters, digits, - and _ only"
        raise BadPipeline(f"{name!r} is no name of a pipeline.", details=(why,))
    own = f"{PIPELINES}/{name}.yaml"
    text = file_text(root, own) if root is not None else None
    if text is not None:
        return text, own
    shipped = templates() / "pipelines" / f"{name}.yaml"
    if not shipped.is_file():
        raise BadPipeline(
            f"There is no pipeline {name!r}.",
            details=(f"neither {own} nor a shipped one",),
            hint=f"There are {listed(pipeline_names(root))}.",
        )
    return shipped.read_text(encoding="utf-8"), f"pipelines/{name}.yaml"
