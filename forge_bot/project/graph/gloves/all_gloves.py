"""All gloves, and which one fits a file."""

from posixpath import splitext

from forge_bot.project.graph.gloves.glove import Glove
from forge_bot.project.graph.gloves.go_glove import GO
from forge_bot.project.graph.gloves.javascript_glove import JAVASCRIPT
from forge_bot.project.graph.gloves.pipeline_glove import PIPELINES, is_pipeline
from forge_bot.project.graph.gloves.python_glove import PYTHON
from forge_bot.project.graph.gloves.symbol_gloves import JAVA, RUBY, RUST

GLOVES = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, RUBY, PIPELINES)
_BY_ENDING = {ending: glove for glove in GLOVES for ending in glove.endings}


def glove_named(stack: str) -> Glove | None:
    """Return the glove of a stack by its word in addresses; `typescript` is JavaScript's."""
    word = "javascript" if stack.lower() == "typescript" else stack.lower()
    return next((glove for glove in GLOVES if glove.slug == word), None)


def glove_for(path: str) -> Glove | None:
    """Return the glove that reads a file; None if none does."""
    return PIPELINES if is_pipeline(path) else _BY_ENDING.get(splitext(path)[1])
