"""Find and render templates. A repository's own templates precede the shipped ones.

BadTemplate names the line of an error.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from traceback import walk_tb

from jinja2 import (
    FunctionLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic_core import to_jsonable_python

from forge_bot import resources
from forge_bot.errors import BadTemplate

SUFFIX = ".md.j2"
SHIPPED = "shipped/"
"""The prefix of a shipped template in its override: `{% extends "shipped/architect.md.j2" %}`."""

_FAILURES = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)
"""The errors of rendering a template; Jinja lets Python's own errors through."""


class Environment:
    """The templates of prompts, rendered with plain data in a sandbox.

    `overrides` maps names (`architect.md.j2`, `_again.md.j2`, or the template of an agent that only
    a pipeline of the repository has) to the texts found under `.forge/prompts/`.
    """

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        self._folder = resources.templates() / "prompts"
        self._overrides = dict(overrides or {})
        self._jinja = ImmutableSandboxedEnvironment(
            loader=FunctionLoader(self._find),
            keep_trailing_newline=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._jinja.filters["json"] = partial(json.dumps, ensure_ascii=False)

    def has(self, name: str) -> bool:
        """Return whether `render` would find the template."""
        return name in self._overrides or self._find_shipped(name) is not None

    def render(self, name: str, facts: object) -> str:
        """Return the template's text for these facts.

        They are passed as JSON data, never as objects.

        BadTemplate names the template and the line when it cannot be read or rendered.
        """
        data = to_jsonable_python(facts, by_alias=False)
        try:
            return self._jinja.get_template(name).render(data)
        except _FAILURES as error:
            raise BadTemplate(_sentence(name, error)) from error

    def check(self, agents: Collection[str]) -> None:
        """Find template errors at the start, before any money is spent.

        Raises BadTemplate if an agent has no template, if an override belongs to no agent and is no
        partial (nothing would ever render it), or if the syntax of an override is wrong.
        """
        known = {agent + SUFFIX for agent in agents}
        for name in sorted(known):
            if not self.has(name):
                raise BadTemplate(f"{name}: the pipeline has this agent, but it has no template.")
        for name in sorted(self._overrides):
            if name not in known and not (name.startswith("_") and name.endswith(SUFFIX)):
                raise BadTemplate(
                    f".forge/prompts/{name}: no agent has this name.",
                    details=(f"Expected: {', '.join(sorted(known))}.",),
                )
            try:
                self._jinja.get_template(name)
            except TemplateError as error:
                raise BadTemplate(_sentence(name, error)) from error

    def _find(self, name: str) -> tuple[str, str, None] | None:
        # Tracebacks contain the file name. An error gets its template and line from there.
        if name in self._overrides:
            return self._overrides[name], f".forge/prompts/{name}", None
        path = self._find_shipped(name.removeprefix(SHIPPED))
        shown = f"{self._folder.name}/{name.removeprefix(SHIPPED)}"
        return None if path is None else (path.read_text(encoding="utf-8"), shown, None)

    def _find_shipped(self, name: str) -> Path | None:
        path = self._folder / name
        return path if name == path.name and name.endswith(SUFFIX) and path.is_file() else None


def _sentence(name: str, error: Exception) -> str:
    place = _place(error)
    if isinstance(error, TemplateNotFound):
        return f"{place or name}: there is no template {error.name!r}."
    reason = (
        "the template calls itself without end"
        if isinstance(error, RecursionError)
        else str(error) or type(error).__name__
    )
    return f"{place or name}: {reason.rstrip('.')}."


def _place(error: Exception) -> str:
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name}, line {error.lineno}"
    places = list(_template_frames(error))
    return f"{places[-1][0]}, line {places[-1][1]}" if places else ""


def _template_frames(error: Exception) -> Iterator[tuple[str, int]]:
    # Jinja rewrites tracebacks so that frames of a template carry its file name and line.
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_code.co_filename.endswith(SUFFIX):
            yield frame.f_code.co_filename, line
