"""All stacks, and which one fits a file."""

from functools import lru_cache
from posixpath import splitext

from forge_bot.project.graph.stacks.go_stack import GO
from forge_bot.project.graph.stacks.javascript_stack import JAVASCRIPT
from forge_bot.project.graph.stacks.pipeline_stack import PIPELINES, is_pipeline
from forge_bot.project.graph.stacks.python_stack import PYTHON
from forge_bot.project.graph.stacks.stack import Stack
from forge_bot.project.graph.stacks.symbol_stacks import JAVA, RUBY, RUST

STACKS = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, RUBY, PIPELINES)
_BY_ENDING = {ending: stack for stack in STACKS for ending in stack.endings}


@lru_cache(maxsize=1 << 16)
def stack_for(path: str) -> Stack | None:
    """Return the stack that reads a file; None if none does."""
    return PIPELINES if is_pipeline(path) else _BY_ENDING.get(splitext(path)[1])


def resolves(path: str) -> bool:
    """Return whether the imports of a file are resolved to files."""
    stack = stack_for(path)
    return stack is not None and stack is not PIPELINES and stack.resolver is not None


def named_stack(name: str) -> Stack | None:
    """Return a stack by its word in addresses; `typescript` is JavaScript's."""
    word = "javascript" if name.lower() == "typescript" else name.lower()
    return next((stack for stack in STACKS if stack.slug == word), None)
