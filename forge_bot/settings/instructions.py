""".specs/instructions.md: a person's standing rules on which tasks wait for a person. Rules stand
in its front matter.

    ---
    rules:
      - id: migrations
        when: {files_match: ["db/migrations/**"]}
        require: human_gate
        reason: Only the database team changes the schema.
    ---

They count as of the commit that a run is based on: neither a branch nor a model can change them for
its own run.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from forge_bot.artifacts.waves import fold_path
from forge_bot.errors import BadConfig
from forge_bot.settings.protected_paths import checked_pattern, matches_path
from forge_bot.settings.yaml_file import read_yaml
from forge_bot.values import Frozen, TaskMode, TaskSpec

INSTRUCTIONS = ".specs/instructions.md"

_FENCE = "---"


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"this is no regular expression: {error}") from error
    return text


class When(Frozen):
    """The conditions for a rule; of two conditions both have to hold."""

    files_match: tuple[Annotated[str, AfterValidator(checked_pattern)], ...] = ()
    title_matches: Annotated[str, AfterValidator(_expression)] = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.files_match and not self.title_matches:
            raise ValueError("at least one of files_match and title_matches is needed")
        return self


class StandingRule(Frozen):
    """One rule: tasks that it fits are done by a person."""

    id: str = Field(min_length=1, max_length=80)
    when: When
    require: Literal["human_gate"]
    reason: str = Field(min_length=1, max_length=500)

    def fits(self, task: TaskSpec) -> bool:
        """Return whether the rule counts for a task, by the files it declares and by its title."""
        titled = (
            not self.when.title_matches
            or re.search(self.when.title_matches, task.title, re.IGNORECASE) is not None
        )
        return titled and (
            not self.when.files_match
            or any(_touches(path, self.when.files_match) for path in task.files)
        )

    @property
    def sentence(self) -> str:
        """The rule as people and agents read it."""
        files = f"that touch {', '.join(self.when.files_match)}" if self.when.files_match else ""
        title = f"whose title matches {self.when.title_matches}" if self.when.title_matches else ""
        return (
            f"{INSTRUCTIONS}, rule {self.id}: tasks {' and '.join(filter(None, (files, title)))}"
            f" wait for a person. {self.reason}"
        )


class Rules(Frozen):
    """The standing rules of a repository; none where there is no file."""

    rules: tuple[StandingRule, ...] = ()

    def of(self, task: TaskSpec) -> tuple[StandingRule, ...]:
        return tuple(rule for rule in self.rules if rule.fits(task))

    def applied(self, tasks: Sequence[TaskSpec]) -> tuple[TaskSpec, ...]:
        """Return the tasks, with those that a rule counts for as tasks of a person."""
        return tuple(
            task.replace(mode=TaskMode.HUMAN_GATE) if self.of(task) else task for task in tasks
        )

    def forbidden(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the changed paths that a rule leaves to a person for any task's title, sorted."""
        patterns = [
            pattern
            for rule in self.rules
            if not rule.when.title_matches
            for pattern in rule.when.files_match
        ]
        return tuple(sorted(path for path in set(paths) if matches_path(path, patterns)))


_RULES: TypeAdapter[Rules] = TypeAdapter(Rules)


def parse_rules(text: str | None) -> Rules:
    """Return the standing rules in a text; None is no file. Raises BadConfig with all problems
    and their lines.
    """
    return _parse(text) if text is not None else Rules()


@lru_cache(maxsize=16)
def _parse(text: str) -> Rules:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[start].rstrip() != _FENCE:
        raise BadConfig(
            f"{INSTRUCTIONS} has no front matter.",
            details=(f"{INSTRUCTIONS}:{start + 1}: the first line must be ---",),
        )
    end = next(
        (number for number in range(start + 1, len(lines)) if lines[number].rstrip() == _FENCE),
        None,
    )
    if end is None:
        raise BadConfig(
            f"The front matter of {INSTRUCTIONS} does not end.",
            details=(f"{INSTRUCTIONS}: a second line --- is missing",),
        )
    # Blank lines replace the text above, so that problems have the right line numbers.
    return read_yaml(
        "\n" * (start + 1) + "\n".join(lines[start + 1 : end]), INSTRUCTIONS, _RULES, BadConfig
    )


def _touches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a declared path is one that a pattern fits, or a folder or pattern that may
    hold such paths.
    """
    plain = fold_path(path)
    fixed = re.split(r"[*?]", plain)[0]
    for pattern in patterns:
        start = re.split(r"[*?]", fold_path(pattern))[0]
        above = start == plain or start.startswith(f"{plain.rstrip('/')}/")
        # Where both have wildcards they are taken to meet if one begins as the other does.
        vague = fixed != plain and (fixed.startswith(start) or start.startswith(fixed))
        if above or vague or matches_path(path, (pattern,)):
            return True
    return False
