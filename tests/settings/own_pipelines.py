"""A repository's own pipelines, loaded from their files."""

from pathlib import Path
from tempfile import TemporaryDirectory

from forge_bot.engine.pipeline import Pipeline, StepPipeline
from forge_bot.settings.load_pipeline import load_descriptor, load_pipeline


def own_pipeline(name: str, text: str) -> Pipeline:
    """Load the pipeline that a repository has in a file of that name."""
    with TemporaryDirectory() as folder:
        return load_pipeline(name, _written(Path(folder), name, text))


def own_descriptor(name: str, text: str) -> Pipeline | StepPipeline:
    """Load its descriptor, of either kind."""
    with TemporaryDirectory() as folder:
        return load_descriptor(name, _written(Path(folder), name, text))


def _written(root: Path, name: str, text: str) -> Path:
    place = root / ".forge" / "pipelines" / f"{name}.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")
    return root
