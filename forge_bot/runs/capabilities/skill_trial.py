"""One skill performed outside of a run: nothing is recorded, and files that its scripts leave are
removed.
"""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import uuid4

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.models.base import Model
from forge_bot.agent.progress_events import Notice
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue
from forge_bot.engine.budget import Budget
from forge_bot.gate.arguments import Amount
from forge_bot.git import Repository, Tree
from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.runs.capabilities.skill_performance import SkillBranch, SkillPerformer, SkillPlace
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run_paths import run_paths
from forge_bot.runs.run_prompts import prompts_for
from forge_bot.settings import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import PhaseId, Tier

PLACE = PhaseId("try")
"""The phase that scripts and records of models name for a trial."""

TRIAL_BUDGET = Amount(Decimal(1), 500_000)
"""The budget of a trial without another limit."""

_RESULT_CHARACTERS = 100_000


@dataclass(frozen=True)
class SkillTrial:
    """A repository with its skills, and the models that may perform one."""

    repository: Repository
    config: Config
    setup: CapabilitySetup
    catalogue: ToolCatalogue
    models: Mapping[Tier, Model]
    amount: Amount = TRIAL_BUDGET

    def perform(
        self, wanted: CapabilityRequest, notice: Callable[[Notice], None]
    ) -> CapabilityResult:
        """Return the outcome of a skill.

        The skill reads the present files; its scripts see the checked-out commit. No event loop may
        be running.
        """
        commit = self.repository.commit_id("HEAD")
        branch = self.repository.head().branch
        places = run_paths(self.repository, f"try-{uuid4().hex[:12]}")
        # Scripts need no installed project, and an agent that tries a skill runs no tests.
        profile = profile_at(self.repository, commit, self.config).replace(
            commands=ProjectCommands()
        )
        project = Project(
            self.repository,
            Tree(self.repository.root),
            self.config,
            profile,
            lambda _notice: None,
            Foundation(commit, tuple[bytes, ...]),
        )
        pipeline = load_pipeline(self.config.pipeline, self.repository.root)
        place = SkillPlace(
            branch=SkillBranch(branch, branch, ".specs"),
            prefix="try#",
            phase=PLACE,
            commit=commit,
            providers=ProviderContext(
                self.repository.root, base=commit, withheld=self.config.carry
            ),
            result_chars=_RESULT_CHARACTERS,
        )
        places.home.mkdir(parents=True, exist_ok=True)
        try:
            performer = SkillPerformer(
                self.config,
                project,
                self,
                self.models,
                Journal(places.journal, self.setup.environ),
                Ledger(Budget(cap=self.amount.dollars, token_cap=self.amount.tokens)),
                prompts_for(self.repository.root, pipeline),
            )
            return asyncio.run(performer.execute_skill(wanted, place, notice))
        finally:
            shutil.rmtree(places.home, ignore_errors=True)
