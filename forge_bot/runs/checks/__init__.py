"""The checks of a run's needs, which `doctor` and a run's beginning and continuation share: their
occasions, their results, and their subject.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, auto
from functools import cached_property
from pathlib import Path
from typing import Literal

from forge_bot.errors import ForgeError, NotReady
from forge_bot.git import Repository
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.resources import state_home
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.project_commands.commit_profile import Profile, profile_at
from forge_bot.runs.run_files import run_paths
from forge_bot.settings.config import Config
from forge_bot.values import Frozen, Tier

LEAST_FREE = 200_000_000
"""Bytes a file system must have free where a run writes; a work tree and its tools need them."""

Weight = Literal["refuse", "warn", "note"]


class Occasion(Flag):
    """The occasions for a check."""

    DOCTOR = auto()
    BEFORE_RUN = auto()
    CHANGED_PLAN = auto()
    BEFORE_GOING_ON = auto()


class CheckResult(Frozen):
    """One result of a check. `what` names its subject in a word or two. Only `refuse` stops a run.
    `code` is that of the error that a run would raise.
    """

    what: str
    weight: Weight
    sentence: str
    way_out: str = ""
    code: str = ""


class CheckReport(Frozen):
    """The results of all checks of one occasion."""

    results: tuple[CheckResult, ...] = ()

    @property
    def refusals(self) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if result.weight == "refuse")

    @property
    def advice(self) -> tuple[CheckResult, ...]:
        rest = (result for result in self.results if result.weight != "refuse")
        return tuple(sorted(rest, key=lambda result: result.weight == "note"))

    def require(self) -> None:
        """Raise NotReady with all refusals, if any; the first is its sentence and hint."""
        if not self.refusals:
            return
        first, *others = self.refusals
        details = tuple(f"{result.sentence} → {result.way_out}" for result in others)
        raise NotReady(first.sentence, hint=first.way_out or None, details=details)


class RunIntent(Frozen):
    """The plan of a run that is about to begin; empty for a check of the repository alone.

    `base` is the commit where the run begins, if that is not the checked-out one.
    """

    branch: str = ""
    here: bool = False
    base: str = ""
    scope: str = ""
    by: str = ""


@dataclass
class CheckSubject:
    """The repository, machine and run that checks examine. What several need is read once."""

    repository: Repository
    config: Config
    intent: RunIntent = field(default_factory=RunIntent)
    run: RunInfo | None = None
    """The run that continues; None for a new one."""
    least_free: int = LEAST_FREE
    model: str | None = None
    """The model that was given for all work, if one was."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    signs_here: bool = True
    """Whether this machine signs the commits for merge, and not a worker elsewhere."""

    @property
    def model_names(self) -> dict[Tier, str]:
        return {tier: self.model or self.config.model_for(tier) for tier in Tier}

    @cached_property
    def base(self) -> str:
        """The commit that the run begins at. Raises DetachedHead or NoCommits."""
        return self.intent.base or self.repository.head().commit

    @cached_property
    def profile(self) -> Profile:
        """The commands and habits of the repository at that commit."""
        return profile_at(self.repository, self.base, self.config, self.intent.scope)

    @property
    def branch(self) -> str:
        """The branch of the run; empty if it is not known yet."""
        return self.run.branch if self.run is not None else self.intent.branch

    @property
    def run_tree(self) -> Path | None:
        """The work tree of the run that goes on. During a rebase git knows no branch for it."""
        if self.run is None:
            return None
        return self.run.tree or run_paths(self.repository, self.run.name).tree

    @property
    def written(self) -> tuple[Path, ...]:
        """Folders that the run writes to."""
        place = self.run_tree or (self.repository.root if self.intent.here else state_home())
        return (place, self.repository.common_dir)


def refuse(what: str, sentence: str, way_out: str = "", code: str = "") -> CheckResult:
    return CheckResult(what=what, weight="refuse", sentence=sentence, way_out=way_out, code=code)


def warn(what: str, sentence: str, way_out: str = "", code: str = "") -> CheckResult:
    """Return a result that a person should act on."""
    return CheckResult(what=what, weight="warn", sentence=sentence, way_out=way_out, code=code)


def note(what: str, sentence: str, way_out: str = "") -> CheckResult:
    return CheckResult(what=what, weight="note", sentence=sentence, way_out=way_out)


def run_checks(occasion: Occasion, subject: CheckSubject) -> CheckReport:
    """Run the checks of one occasion; nothing is written.

    For `doctor` a check that fails is a refusal, once for each reason. Otherwise raises
    DetachedHead, NoCommits, GitFailed.
    """
    from forge_bot.runs.checks.local_checks import CHECKS, in_one_line

    results: list[CheckResult] = []
    for name, occasions, look in CHECKS:
        if occasion not in occasions:
            continue
        try:
            results.extend(look(subject))
        except ForgeError as error:
            if occasion is not Occasion.DOCTOR:
                raise
            sentence = in_one_line(error)
            if sentence not in {result.sentence for result in results}:
                results.append(refuse(name, sentence, advice_at_terminal(error)))
    return CheckReport(results=tuple(results))
