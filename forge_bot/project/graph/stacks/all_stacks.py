"""All stacks, and which one fits a file."""

from collections.abc import Sequence
from posixpath import splitext

from forge_bot.project.graph.stacks.go_stack import GO
from forge_bot.project.graph.stacks.javascript_stack import JAVASCRIPT
from forge_bot.project.graph.stacks.pipeline_stack import PIPELINES, is_pipeline
from forge_bot.project.graph.stacks.python_stack import PYTHON
from forge_bot.project.graph.stacks.stack import Stack
from forge_bot.project.graph.stacks.symbol_stacks import JAVA, RUBY, RUST

STACKS = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, RUBY, PIPELINES)


class StackTable:
    """The stacks of one repository: ours, and those that it declares."""

    def __init__(self, own: Sequence[Stack] = ()) -> None:
        self.own = tuple(own)
        self.stacks = (*STACKS, *own)
        self._by_ending = {ending: stack for stack in self.stacks for ending in stack.endings}
        self._known: dict[str, Stack | None] = {}

    def stack_for(self, path: str) -> Stack | None:
        """Return the stack that reads a file; None if none does."""
        if path not in self._known:
            found = self._by_ending.get(splitext(path)[1])
            self._known[path] = PIPELINES if is_pipeline(path) else found
        return self._known[path]

    def resolves(self, path: str) -> bool:
        """Return whether the imports of a file are resolved to files."""
        stack = self.stack_for(path)
        return stack is not None and stack is not PIPELINES and stack.resolver is not None

    def named(self, name: str) -> Stack | None:
        """Return a stack by its word in addresses; `typescript` is JavaScript's."""
        word = "javascript" if name.lower() == "typescript" else name.lower()
        return next((stack for stack in self.stacks if stack.slug == word), None)


BUILT_IN = StackTable()
"""The stacks without any that a repository declares."""
