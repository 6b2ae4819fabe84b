"""`forge-bot run`: from the words on the command line to a run that goes on."""

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.prompt import Prompt

from forge_bot.cli.amounts import money
from forge_bot.cli.closing_lines import print_result
from forge_bot.cli.console import Console
from forge_bot.cli.discussion import discussed
from forge_bot.cli.options import Ending, HostChoice
from forge_bot.cli.progress import Progress, expected
from forge_bot.cli.resume import dollars, resume
from forge_bot.cli.session_setup import at_terminal, load_setup, session
from forge_bot.cli.temporal_commands import check_options, new_place, on_server
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import BadOption
from forge_bot.git import Repository
from forge_bot.runs.capability_setup import (
    CapabilityOptions,
    capability_setup,
    keep_options,
)
from forge_bot.runs.checks import CheckReport, CheckSubject, Occasion, RunIntent, run_checks
from forge_bot.runs.create import (
    NewRun,
    RequestDraft,
    RunPlan,
    create_run,
    draft_from_words,
    plan_for,
)
from forge_bot.runs.ended_records import newest_records
from forge_bot.runs.estimate import Estimate, estimate, keep_estimate
from forge_bot.runs.given_model import keep_model
from forge_bot.runs.local_user import local_user
from forge_bot.runs.notifications import Message
from forge_bot.runs.open_pull_request import opener
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.phase_names import phase_named
from forge_bot.runs.project import check_testable
from forge_bot.runs.session import Session, prompts_for
from forge_bot.runs.steps.step_values import inputs_of
from forge_bot.runs.tier_models import models_for
from forge_bot.settings import Config, load_pipeline
from forge_bot.settings.config import folder_of
from forge_bot.store import SPECS
from forge_bot.temporal.run_place import TemporalPlace
from forge_bot.values import Effort, Frozen, RecordsPolicy, Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model


class RunOptions(Frozen):
    """The options of `run`."""

    task: str
    effort: str | None = None
    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    answers: tuple[str, ...] = ()
    budget: str | None = None
    branch: str | None = None
    here: bool = False
    pipeline: str | None = None
    ending: Ending = Ending()
    until: str | None = None
    phase: str | None = None
    scope: str = ""
    by_script: bool = False
    yes: bool = False
    host: HostChoice = HostChoice()
    capabilities: CapabilityOptions = CapabilityOptions()


def start_run(folder: Path, wanted: RunOptions, model: str | None, record: Path | None) -> int:
    """Begin a run, or go on with the one that is named, and work until a person is needed."""
    if wanted.debug:
        os.environ["FORGE_BOT_DEBUG"] = "1"
    if wanted.task.strip().startswith(f"{SPECS}/"):
        return _resumed(folder, wanted, model, record)
    if wanted.phase is not None:
        raise BadOption(
            "--from goes on with a run; a new one begins at its beginning.",
            hint="forge-bot run .specs/RUN --from PHASE",
        )
    repository = Repository.find(folder)
    scope = _scope(repository, wanted.scope)
    wanted = wanted.model_copy(update={"scope": scope})
    if wanted.ending.open_pr:
        opener(repository.root)
    place = new_place(repository, wanted.host, wanted.ending, model)
    if place is not None:
        check_options(wanted.until, record)
    config = load_setup(repository)
    if wanted.pipeline is not None:
        config = config.model_copy(update={"pipeline": wanted.pipeline})
    pipeline = load_pipeline(config.pipeline, repository.text_here)
    named = wanted.capabilities
    capability_setup(
        repository.root, config, mcp_config=named.mcp_config, skills_dirs=named.skills_dirs
    )
    models = models_for(config, model, record)
    progress = Progress(Console())
    draft = draft_from_words(
        wanted.task, token=os.environ.get("GITHUB_TOKEN"), api_url=os.environ.get("GITHUB_API_URL")
    )
    if pipeline.steps is not None:
        inputs_of(pipeline.steps, f"{draft.title}\n{draft.text}")
    plan = plan_for(
        repository,
        draft,
        effort=wanted.effort,
        name=None,
        branch=wanted.branch,
        here=wanted.here,
    )
    subject = CheckSubject(repository, config, _intent(draft, plan, scope))
    if pipeline.steps is None:
        check_testable(subject.profile, config)
    report = run_checks(Occasion.BEFORE_RUN, subject)
    report.require()
    prompts_for(repository.root, pipeline)
    if wanted.until is not None:
        phase_named(pipeline, wanted.until)
    budget = dollars(wanted.budget, "--budget 5") if wanted.budget is not None else config.budget
    _tell_advice(report, progress)
    going = session(repository, config, models, progress, ending=wanted.ending, until=wanted.until)
    if not pipeline.speaking:
        beginning = _new_run(draft, _of_steps(plan), wanted, config, answers="", budget=budget)
        return _begun(going, beginning, pipeline, progress, wanted, model, place)
    outlook = _Outlook(repository, pipeline, models(), progress, budget=budget, auto=wanted.auto)
    estimate = outlook.of(plan)
    answers = discussed(wanted.task, wanted.answers, wanted=wanted.discuss)
    if answers is None:
        return Outcome.WAITING.value
    plan = _confirmed(repository, draft, plan, wanted, estimate)
    run_checks(
        Occasion.CHANGED_PLAN, CheckSubject(repository, config, _intent(draft, plan, scope))
    ).require()
    estimate = estimate if plan.effort is estimate.effort else outlook.of(plan)
    beginning = _new_run(draft, plan, wanted, config, answers=answers, budget=budget)
    return _begun(going, beginning, pipeline, progress, wanted, model, place, estimate)


def _of_steps(plan: RunPlan) -> RunPlan:
    """Return the plan of a run without a model: it is the same at every effort."""
    return plan.model_copy(update={"effort": Effort.S, "effort_reason": "no model is asked"})


def _begun(
    going: Session,
    beginning: NewRun,
    pipeline: Pipeline,
    progress: Progress,
    wanted: RunOptions,
    model: str | None,
    place: TemporalPlace | None,
    estimate: Estimate | None = None,
) -> int:
    """Make the run and go on with it until a person is needed."""
    info = create_run(going.repository, beginning, pipeline)
    if estimate is not None:
        keep_estimate(going.repository, info.name, estimate)
    keep_model(going.repository, info.name, model)
    keep_options(going.repository, info.name, wanted.capabilities)
    progress.began(info, beginning.plan, estimate)
    leader = going if place is None else on_server(going, place)
    return print_result(*leader.go_on(info), progress, wanted.ending)


def _resumed(folder: Path, wanted: RunOptions, model: str | None, record: Path | None) -> int:
    """Go on with the run whose folder is given in place of a task."""
    return resume(
        folder,
        wanted.task.strip(),
        model,
        record,
        ending=wanted.ending,
        until=wanted.until,
        phase=wanted.phase,
        by_script=wanted.by_script,
        host=wanted.host,
    )


def _new_run(
    draft: RequestDraft,
    plan: RunPlan,
    wanted: RunOptions,
    config: Config,
    *,
    answers: str,
    budget: Decimal | None,
) -> NewRun:
    return NewRun(
        draft=draft,
        plan=plan,
        flags=RunFlags(
            auto=wanted.auto,
            skip_pr=wanted.skip_pr,
            debug=wanted.debug,
            discuss=wanted.discuss or bool(wanted.answers),
            scope=wanted.scope,
        ),
        budget=budget,
        by=local_user(),
        answers=answers,
        records=_records(config, here=wanted.here),
    )


def _confirmed(
    repository: Repository,
    draft: RequestDraft,
    plan: RunPlan,
    wanted: RunOptions,
    estimate: Estimate,
) -> RunPlan:
    """The one question before a run begins; without a terminal the plan stands as it is."""
    if wanted.yes or not at_terminal():
        return plan
    console = Console()
    console.print(f"\n[bold]{escape(draft.title)}[/]")
    console.print(
        f"  effort [bold]{plan.effort}[/] ({escape(plan.effort_reason)}) · branch"
        f" [bold]{escape(plan.branch)}[/]"
    )
    console.print(f"  {escape(expected(estimate))}", highlight=False)
    said = Prompt.ask(
        "  Enter to begin, or S, M, L for another effort, or a word for another slug",
        default="",
        show_default=False,
    )
    if not said.strip():
        return plan
    if said.strip().upper() in set(Effort):
        return plan.model_copy(
            update={"effort": Effort(said.strip().upper()), "effort_reason": "you chose it"}
        )
    return plan_for(
        repository,
        draft,
        effort=plan.effort.value,
        name=said.strip(),
        branch=wanted.branch,
        here=wanted.here,
    )


def _records(config: Config, *, here: bool) -> RecordsPolicy:
    """Return where the record goes; in the user's own branch there is no other place for it."""
    return RecordsPolicy.IN_BRANCH if here else config.records


def _intent(draft: RequestDraft, plan: RunPlan, scope: str) -> RunIntent:
    text = f"{draft.title}\n{draft.text}"
    return RunIntent(text=text, branch=plan.branch, here=plan.here, scope=scope)


def _scope(repository: Repository, wanted: str) -> str:
    """Return the folder of `--in` as git names it. Raises BadOption."""
    if not wanted:
        return ""
    way_out = "Give a folder from the root of the repository down, such as --in packages/api."
    try:
        folder = folder_of(wanted)
    except ValueError as error:
        raise BadOption(f"--in {wanted} is not {error}.", hint=way_out) from None
    if not repository.list_files(repository.head().commit, folder):
        raise BadOption(f"--in {wanted}: no tracked file lies there.", hint=way_out)
    return folder


def _tell_advice(report: CheckReport, progress: Progress) -> None:
    """Tell warnings and notes, one line each."""
    for each in report.advice:
        progress(
            Message(
                text=f"{each.sentence} {each.way_out}".strip(),
                kind="warning" if each.weight == "warn" else "note",
            )
        )


class _Outlook:
    """The estimate for a plan with the models that will be asked; warns when the
    budget is short of it.
    """

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
        found = estimate(
            self.repository,
            base,
            self.pipeline,
            plan.effort,
            self.names,
            auto=self.auto,
            records=newest_records(self.repository),
        )
        if self.budget is not None and found.cost is not None and found.exceeds(self.budget):
            short = (
                f"The budget of {money(self.budget)} is below the {money(found.cost.p50)} to expect"
            )
            self.progress(
                Message(
                    text=f"{short}: the run will probably stop and ask for more.", kind="warning"
                )
            )
        return found
