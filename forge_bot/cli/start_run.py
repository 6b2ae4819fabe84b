"""`forge-bot run`: from the words on the command line to a run that goes on."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.markup import escape

from forge_bot.cli.capability_output import ask_consent
from forge_bot.cli.console import Console
from forge_bot.cli.error_output import print_not_begun
from forge_bot.cli.options import CapabilityChoice, ResumeOptions, RunOptions
from forge_bot.cli.progress import Progress
from forge_bot.cli.resume import lead_run, resume
from forge_bot.cli.temporal_commands import choose_place
from forge_bot.cli.terminal_session import at_terminal, make_session, read_amount_option
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import BadConfig, BadOption, BranchExists, IssueUnavailable, NotReady
from forge_bot.forge import HOST, page_of, parse_remote, pull_request_opener
from forge_bot.gate.arguments import Amount
from forge_bot.git import Repository
from forge_bot.project.graph.verify_graph import MANIFEST, problems_of_manifest
from forge_bot.runs.capabilities.outside_capabilities import (
    CapabilityOptions,
    capability_setup,
    keep_options,
    problems_of_files,
    require_before_run,
    with_base,
)
from forge_bot.runs.checks import CheckSubject, Occasion, RunIntent, run_checks
from forge_bot.runs.create_run import (
    DISCUSSION_QUESTIONS,
    NewRun,
    RunPlan,
    create_run,
    plan_for,
    scope_folder,
)
from forge_bot.runs.estimate import Estimate, at_most, estimate, in_words
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.models_and_prompts import TierModels, keep_model, prompts_for
from forge_bot.runs.notifications import Message
from forge_bot.runs.perform_steps import inputs_of
from forge_bot.runs.project_commands.commit_profile import check_testable
from forge_bot.runs.request_draft import RequestDraft, draft_from_words
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import local_user, phase_named
from forge_bot.settings.config import Config, file_text, load_config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import SPECS
from forge_bot.temporal.temporal_server import TemporalPlace
from forge_bot.values import Effort, Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model

_NUMBER = re.compile(r"#?(\d+)")


@dataclass(frozen=True)
class _Start:
    """The parts of a run that is about to begin."""

    options: RunOptions
    repository: Repository
    place: TemporalPlace | None
    config: Config
    pipeline: Pipeline
    draft: RequestDraft
    budget: Amount
    progress: Progress

    def plan(self, name: str | None = None, effort: str | None = None) -> RunPlan:
        """Return the plan for the request."""
        return plan_for(
            self.repository,
            self.draft,
            effort=effort or self.options.effort,
            name=name,
            branch=self.options.branch,
            here=self.options.here,
        )

    def subject(self, plan: RunPlan) -> CheckSubject:
        """Return the subject of the checks before a run."""
        scope = self.options.scope or ""
        branch = plan.merge_branch or plan.branch
        intent = RunIntent(branch=branch, here=plan.here, scope=scope, by=local_user())
        signs_here = self.place is None or self.place.dev
        return CheckSubject(self.repository, self.config, intent, signs_here=signs_here)


def start_run(task: str, options: RunOptions) -> int:
    """Begin a run, or go on with the one that is named, and work until a person is needed."""
    if options.debug:
        os.environ["FORGE_BOT_DEBUG"] = "1"
    if task.strip().startswith(f"{SPECS}/"):
        return _resume_run(task, options)
    try:
        ready = _prepare_run(task, options)
    except (KeyboardInterrupt, EOFError):
        return print_not_begun()
    return _begin_run(*ready)


def _prepare_run(
    task: str, options: RunOptions
) -> "tuple[Session, _Start, NewRun, Estimate | None]":
    """Check everything, and ask what is asked before a run."""
    start = _read_request(task, options)
    models = TierModels(start.config, options.model, options.record)
    plan = start.plan()
    _check_plan(start, plan)
    if start.pipeline.speaking and (missing := models.missing_key()) is not None:
        raise missing
    _check_capabilities(start, plan)
    going = make_session(
        start.repository,
        start.config,
        models,
        start.progress,
        ending=options.ending,
        until=options.until,
    )
    if not start.pipeline.speaking:
        # It is the same at every effort.
        plan = plan.replace(effort=Effort.S, effort_reason="no model is asked")
        return going, start, _make_new_run(start, plan), None
    expected = _estimate_run(start, plan, models())
    answers = _ask_questions() if options.discuss else ""
    plan = _confirm_plan(start, plan, expected)
    run_checks(Occasion.CHANGED_PLAN, start.subject(plan)).require()
    if plan.effort is not expected.effort:
        expected = _estimate_run(start, plan, models())
    return going, start, _make_new_run(start, plan, answers), expected


def _read_request(task: str, options: RunOptions) -> _Start:
    """Read the configuration, the pipeline and the request; raise the problem of an option."""
    repository = Repository.find(options.repo)
    _refuse_a_number(task, repository)
    options = replace(options, scope=scope_folder(repository, options.scope or ""))
    if options.ending.open_pr:
        pull_request_opener(repository.root)
    place = choose_place(repository, options.host, options)
    try:
        config = load_config(repository.root)
    except BadConfig as error:
        error.details += (
            *problems_of_files(repository.root, _name_capabilities(options.capabilities)),
            *problems_of_manifest(file_text(repository.root, MANIFEST)),
        )
        raise
    if options.pipeline is not None:
        config = config.replace(pipeline=options.pipeline)
    pipeline = load_pipeline(config.pipeline, repository.root)
    given = options.budget
    budget = config.amount if given is None else read_amount_option(given, "--budget 5")
    draft = draft_from_words(task, os.environ)
    if pipeline.steps is not None:
        inputs_of(pipeline.steps, f"{draft.title}\n{draft.text}")
    return _Start(options, repository, place, config, pipeline, draft, budget, Progress(Console()))


def _refuse_a_number(task: str, repository: Repository) -> None:
    """Raise IssueUnavailable for a number alone, with the command that is meant."""
    if number := _NUMBER.fullmatch(task.strip()):
        known = parse_remote(repository.remote_url(), os.environ)
        page = known.page if known is not None else f"https://{HOST}/OWNER/REPOSITORY"
        issue = page_of(page, "issue", number=number[1])
        raise IssueUnavailable(
            f"“{task.strip()}” is a number and says nothing to do.",
            hint=f"forge-bot run {issue} begins with that issue.",
        )


def _name_capabilities(choice: CapabilityChoice) -> CapabilityOptions:
    return CapabilityOptions.named(choice.mcp_config, choice.skills_dir)


def _check_plan(start: _Start, plan: RunPlan) -> None:
    """Raise the problem that stops a run with this plan, and print the other results."""
    subject = start.subject(plan)
    if start.pipeline.steps is None:
        check_testable(subject.profile, start.config)
    report = run_checks(Occasion.BEFORE_RUN, subject)
    try:
        report.require()
    except NotReady as error:
        named = _name_capabilities(start.options.capabilities)
        error.details += problems_of_files(start.repository.root, named)
        raise
    prompts_for(start.repository.root, start.pipeline)
    if start.options.until is not None:
        phase_named(start.pipeline, start.options.until)
    for result in report.advice:
        start.progress(
            Message(
                text=f"{result.sentence} {result.way_out}".strip(),
                kind="warning" if result.weight == "warn" else "note",
            )
        )


def _check_capabilities(start: _Start, plan: RunPlan) -> None:
    """Ask once about servers that nobody has said yes to, and raise the problem of a server or a
    skill that a run here cannot do without.
    """
    repository = start.repository
    setup = capability_setup(
        repository.root, start.config, _name_capabilities(start.options.capabilities)
    )
    if start.place is not None and not start.place.dev:
        return
    with TemporaryDirectory(prefix="forge-bot-") as scratch:
        if plan.here:
            base = repository.head().commit
            setup = with_base(setup, repository, base, Path(scratch) / "base")
        setup = ask_consent(repository.root, setup, asks=not start.options.yes)
        require_before_run(setup)


def _begin_run(going: Session, start: _Start, beginning: NewRun, estimate: Estimate | None) -> int:
    """Make the run and go on with it until a person is needed."""
    options = start.options
    beginning, info = _make_run(going.repository, start, beginning)
    keep_model(going.repository, info.name, options.model)
    keep_options(going.repository, info.name, _name_capabilities(options.capabilities))
    outlook = "" if estimate is None else _describe_estimate(start, estimate)
    start.progress.print_beginning(info, beginning.plan, outlook)
    return lead_run(going, start.place, info, start.progress, options.ending)


def _make_run(repository: Repository, start: _Start, beginning: NewRun) -> tuple[NewRun, RunInfo]:
    """Make the run. If another process has taken the branch since it was chosen, and nobody named
    it, make the run on the next free one.
    """
    while True:
        try:
            return beginning, create_run(repository, beginning, start.pipeline)
        except BranchExists:
            plan = beginning.plan
            branch = start.plan(plan.slug).branch
            if branch == plan.branch:
                raise
            plan = plan.model_copy(update={"branch": branch})
            beginning = beginning.model_copy(update={"plan": plan})


def _resume_run(task: str, options: RunOptions) -> int:
    """Go on with the run whose folder is given in place of a task."""
    names = {field.name for field in fields(ResumeOptions)} - {"run"}
    same = {name: getattr(options, name) for name in names}
    return resume(ResumeOptions(run=task.strip(), **same), options.host)


def _make_new_run(start: _Start, plan: RunPlan, answers: str = "") -> NewRun:
    options = start.options
    return NewRun(
        draft=start.draft,
        plan=plan,
        flags=RunFlags(**{name: getattr(options, name) for name in RunFlags.model_fields}),
        budget=start.budget,
        by=local_user(),
        answers=answers,
    )


def _ask_questions() -> str:
    """Ask the three questions before a run; return the answers as Markdown for the request. Raises
    BadOption where nobody is at a terminal.
    """
    questions = DISCUSSION_QUESTIONS
    if not at_terminal():
        raise BadOption(
            "--discuss asks at a terminal, and nobody is at one here.",
            hint="Leave it out, and say in the task what it asks.",
            details=questions,
        )
    console = Console()
    console.print("\n[bold]Three questions first[/] (Enter leaves one out)")
    pairs = [(question, console.ask(f"  {question}").strip()) for question in questions]
    return "\n\n".join(f"**{question}**\n{answer}" for question, answer in pairs if answer)


def _confirm_plan(start: _Start, plan: RunPlan, estimate: Estimate) -> RunPlan:
    """Ask the one question before a run begins; without a terminal the plan is unchanged."""
    if start.options.yes or not at_terminal():
        return plan
    console = Console()
    console.print(f"\n[bold]{escape(start.draft.title)}[/]")
    chosen = (
        f"effort [bold]{plan.effort}[/] ({escape(plan.effort_reason)}) · branch "
        f"[bold]{escape(plan.merge_branch or plan.branch)}[/]"
    )
    console.print(f"  {chosen}")
    console.print(f"  {escape(_describe_estimate(start, estimate))}")
    answer = console.ask(
        "  Enter to begin, or S, M, L for another effort, or other words for the branch"
    )
    if not answer.strip():
        return plan
    if answer.strip().upper() in set(Effort):
        chosen = Effort(answer.strip().upper())
        return plan.replace(effort=chosen, effort_reason="you chose it")
    named = start.plan(answer.strip(), plan.effort.value)
    return named.replace(effort_reason=plan.effort_reason)


def _describe_estimate(start: _Start, expected: Estimate) -> str:
    limit = at_most(expected, start.budget)
    return f"expected: {in_words(expected)} ({expected.rests_on}){limit}"


def _estimate_run(start: _Start, plan: RunPlan, models: "Mapping[Tier, Model]") -> Estimate:
    return estimate(
        start.repository,
        start.repository.head().commit,
        start.pipeline,
        plan.effort,
        {tier: model.name for tier, model in models.items()},
        auto=start.options.auto,
        batch=start.options.batch,
    )
