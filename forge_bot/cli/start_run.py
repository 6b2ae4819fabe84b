"""`forge-bot run`: from the words on the command line to a run that goes on."""

import os
from pathlib import Path

from rich.markup import escape
from rich.prompt import Prompt

from forge_bot.cli.before_run import Outlook, check_branch, looked_around, say_what_was_found
from forge_bot.cli.console import Console
from forge_bot.cli.discussion import discussed
from forge_bot.cli.last_words import print_result
from forge_bot.cli.progress import Progress, expected
from forge_bot.cli.resume import dollars, resume
from forge_bot.cli.session_setup import at_terminal, load_setup, models_for, session
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import BadOption
from forge_bot.git import Repository
from forge_bot.runs.create import NewRun, RequestDraft, RunPlan, create_run, draft_from_words, plan_for
from forge_bot.runs.estimate import Estimate, keep_estimate
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.phase_names import phase_named
from forge_bot.runs.project import check_testable, profile_at
from forge_bot.runs.session import person, prompts_for
from forge_bot.settings import load_pipeline
from forge_bot.store import SPECS
from forge_bot.values import Effort, Frozen


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
    push: bool = False
    until: str | None = None
    phase: str | None = None
    by_script: bool = False
    yes: bool = False


def start_run(folder: Path, wanted: RunOptions, model: str | None, record: Path | None) -> int:
    """Begin a run, or go on with the one that is named, and work until a person is needed."""
    if wanted.debug:
        os.environ["FORGE_BOT_DEBUG"] = "1"
    if wanted.task.strip().startswith(f"{SPECS}/"):
        return resume(
            folder,
            wanted.task.strip(),
            model,
            record,
            push=wanted.push,
            until=wanted.until,
            phase=wanted.phase,
            by_script=wanted.by_script,
        )
    if wanted.phase is not None:
        raise BadOption("--from goes on with a run; a new one begins at its beginning.", hint="forge-bot run .specs/RUN --from PHASE")
    repository = Repository.find(folder)
    config = load_setup(repository)
    models = models_for(config, model, record)
    progress = Progress(Console())
    draft = draft_from_words(wanted.task, token=os.environ.get("GITHUB_TOKEN"), api_url=os.environ.get("GITHUB_API_URL"))
    plan = plan_for(repository, draft, effort=wanted.effort, name=None, branch=wanted.branch, here=wanted.here)
    profile = profile_at(repository, repository.head().commit, config)
    check_testable(profile, config)
    found = looked_around(repository, config, profile, draft, plan)
    pipeline = load_pipeline(config.pipeline, repository.text_here)
    prompts_for(repository.root, pipeline)
    if wanted.until is not None:
        phase_named(pipeline, wanted.until)
    budget = dollars(wanted.budget, "--budget 5") if wanted.budget is not None else config.budget
    outlook = Outlook(repository, pipeline, models(), progress, budget=budget, auto=wanted.auto)
    say_what_was_found(found, progress)
    estimate = outlook.of(plan)
    answers = discussed(wanted.task, wanted.answers, wanted=wanted.discuss)
    if answers is None:
        return Outcome.WAITING.value
    plan = _confirmed(repository, draft, plan, wanted, estimate)
    check_branch(repository, config, plan)
    estimate = estimate if plan.effort is estimate.effort else outlook.of(plan)
    beginning = NewRun(
        draft=draft,
        plan=plan,
        flags=RunFlags(auto=wanted.auto, skip_pr=wanted.skip_pr, debug=wanted.debug, discuss=wanted.discuss or bool(wanted.answers)),
        budget=budget,
        by=person(),
        answers=answers,
    )
    info = create_run(repository, beginning, pipeline)
    keep_estimate(repository, info.name, estimate)
    progress.began(info, plan, estimate)
    return print_result(*session(repository, config, models, progress, push=wanted.push, until=wanted.until).go_on(info), progress)


def _confirmed(repository: Repository, draft: RequestDraft, plan: RunPlan, wanted: RunOptions, estimate: Estimate) -> RunPlan:
    """The one question before a run begins; without a terminal the plan stands as it is."""
    if wanted.yes or not at_terminal():
        return plan
    console = Console()
    console.print(f"\n[bold]{escape(draft.title)}[/]")
    console.print(f"  effort [bold]{plan.effort}[/] ({escape(plan.effort_reason)}) · branch [bold]{escape(plan.branch)}[/]")
    console.print(f"  {escape(expected(estimate))}", highlight=False)
    said = Prompt.ask("  Enter to begin, or S, M, L for another effort, or a word for another slug", default="", show_default=False)
    if not said.strip():
        return plan
    if said.strip().upper() in set(Effort):
        return plan.model_copy(update={"effort": Effort(said.strip().upper()), "effort_reason": "you chose it"})
    return plan_for(repository, draft, effort=plan.effort.value, name=said.strip(), branch=wanted.branch, here=wanted.here)
