"""What `forge-bot run` says before the first question: what was found, and what the run will probably take."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from forge_bot.cli.progress import Progress, money
from forge_bot.engine.pipeline import Pipeline
from forge_bot.git import Repository
from forge_bot.knowledge import Profile
from forge_bot.runs.checks.check import Preflight
from forge_bot.runs.checks.clone_checks import PreflightRequest, branch_findings, preflight, preflight_again
from forge_bot.runs.create import RequestDraft, RunPlan
from forge_bot.runs.estimate import Estimate, estimate
from forge_bot.runs.notifications import Message
from forge_bot.runs.resolve import RunInfo
from forge_bot.settings import Config
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model


def looked_around(repository: Repository, config: Config, profile: Profile, draft: RequestDraft, plan: RunPlan) -> Preflight:
    """What was found before a run. Raises NotReady where it must not begin."""
    intent = PreflightRequest(text=f"{draft.title}\n{draft.text}", branch=plan.branch, here=plan.here)
    found = preflight(repository, config, profile, intent)
    found.check()
    return found


def check_branch(repository: Repository, config: Config, plan: RunPlan) -> None:
    """Raise NotReady for a branch that a run must not work on; for a plan that was changed at the terminal."""
    Preflight(findings=tuple(branch_findings(repository, config, plan.branch))).check()


def check_going_on(repository: Repository, config: Config, info: RunInfo) -> None:
    """Raise NotReady where a run that began must not go on now."""
    preflight_again(repository, config, info).check()


def say_what_was_found(found: Preflight, progress: Progress) -> None:
    """Warnings and notes, one line each."""
    for finding in found.advice:
        progress(Message(text=f"{finding.sentence} {finding.way_out}".strip(), kind="warning" if finding.weight == "warn" else "note"))


class Outlook:
    """What a run of a plan will probably take, with the models that will be asked; says when the budget is short of it."""

    def __init__(
        self,
        repository: Repository,
        pipeline: Pipeline,
        models: "Mapping[Tier, Model]",
        progress: Progress,
        *,
        budget: Decimal | None,
        auto: bool,
    ) -> None:
        self.repository = repository
        self.pipeline = pipeline
        self.names = {tier: model.name for tier, model in models.items()}
        self.progress = progress
        self.budget = budget
        self.auto = auto

    def of(self, plan: RunPlan) -> Estimate:
        """The estimate, after a warning if half of such runs cost more than the budget."""
        base = self.repository.head().commit
        found = estimate(self.repository, base, self.pipeline, plan.effort, self.names, auto=self.auto)
        if self.budget is not None and found.cost is not None and found.exceeds(self.budget):
            short = f"The budget of {money(self.budget)} is below the {money(found.cost.p50)} to expect"
            self.progress(Message(text=f"{short}: the run will probably stop and ask for more.", kind="warning"))
        return found
