"""`pipeline_init_with_context`: guess the effort, ask the questions, and begin the run that the
person chose.
"""

from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import (
    BadArguments,
    BadOption,
    BranchExists,
    DirtyTree,
    ForgeError,
    NoStateHome,
    NotReady,
    WriteFailed,
)
from forge_bot.gate.arguments import Amount
from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.mcp_server.client_runs.client_tree import begun_here
from forge_bot.mcp_server.client_runs.issue_context import (
    IssueContext,
    edited,
    issue_context,
    proposed,
    source_told,
)
from forge_bot.mcp_server.client_runs.render_question import choice_in_words
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import (
    Confirmation,
    Discussion,
    EffortOption,
    ExternalContext,
    InitFlags,
    NeedsConfirmation,
    NeedsDiscussion,
    Proposal,
    Ready,
    SkippedPhase,
)
from forge_bot.runs.checks import CheckReport, CheckSubject, RunIntent
from forge_bot.runs.checks.configuration_checks import signing
from forge_bot.runs.create_run import (
    NewRun,
    RunPlan,
    create_run,
    discussion_questions,
    plan_for,
    scope_folder,
)
from forge_bot.runs.finding_runs.find_runs import raw_file
from forge_bot.runs.finding_runs.resolve_run import checked_out, named_in
from forge_bot.runs.local_user import local_user
from forge_bot.runs.past_runs.estimate import Estimate, at_most, estimate, in_words
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.run_needs import check_testable
from forge_bot.runs.run_paths import RunPaths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.runs.steps.step_values import inputs_of
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.values import Effort, Frozen, Source, Tier

_ANSWERS = "## Discussion Answers"
_MAIN = {"", "main", "master"}
_REMEMBERED = 100
_ASK = (
    "Ask the person once: effort S, M or L; a new branch or the current one; the short name of the"
    " workspace. Then call again with user_confirmation: effort, use_current_branch,"
    " workspace_slug, and enriched_request_body, as it stands here or as the person edited it."
)
_PLEASE = "Please put these questions to the person, and pass the answers on as discussion_answers."


class Call(Frozen):
    """The arguments of one call."""

    workspace: str
    source_id: str = ""
    source_url: str = ""
    external_context: ExternalContext | None = None
    flags: InitFlags = InitFlags()
    task_text: str = ""
    user_confirmation: Confirmation | None = None
    discussion_answers: str = ""


class _Task(Frozen):
    """The data of this call and earlier ones for the same workspace, which a host need not
    repeat.
    """

    source: Source = Source()
    context: ExternalContext | None = None
    text: str = ""
    flags: InitFlags = InitFlags()

    def ticket(self, effort: Effort | None, text: str = "") -> IssueContext:
        """The ticket with these words, and the effort of a person."""
        return issue_context(text or self.text, self.source, self.context, effort)


class Confirmations:
    """The calls before a run begins."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def answer(
        self, served: ServedRepository, call: Call
    ) -> NeedsConfirmation | NeedsDiscussion | Ready:
        """Return the result of this call. Raises BadArguments for answers and a confirmation
        together, and what beginning raises.
        """
        if call.discussion_answers.strip() and call.user_confirmation is not None:
            raise BadArguments(
                "discussion_answers and user_confirmation came together.",
                hint="Send the answers first, and the confirmation in a call of its own.",
            )
        task = self._remembered(call)
        pipeline = load_pipeline(task.flags.pipeline or served.config.pipeline, served.path)
        if call.user_confirmation is not None:
            return _begun(served, pipeline, task, call.user_confirmation)
        ticket = task.ticket(task.flags.effort_override)
        discussing = task.flags.discuss and not task.flags.auto and task.source.type == "text"
        if discussing and _ANSWERS not in task.text:
            return NeedsDiscussion(
                needs_discussion=Discussion(questions=discussion_questions(), message=_PLEASE)
            )
        return _asked(served, pipeline, ticket, task)

    def _remembered(self, call: Call) -> _Task:
        before = self._tasks.get(call.workspace, _Task())
        source = source_told(call.source_url, call.source_id, call.task_text, call.external_context)
        task = _Task(
            source=source if source.type != "text" else before.source,
            context=call.external_context or before.context,
            text=_text(call, before.text),
            flags=call.flags if "flags" in call.model_fields_set else before.flags,
        )
        while len(self._tasks) >= _REMEMBERED:
            self._tasks.pop(next(iter(self._tasks)))
        self._tasks[call.workspace] = task
        return task


def _text(call: Call, before: str) -> str:
    """The words of the task: those of this call, or of an earlier one, with the answers that a
    discussion gave.
    """
    given, answers = call.task_text.strip(), call.discussion_answers.strip()
    if answers:
        asked = (given or before).partition(f"\n\n{_ANSWERS}\n\n")[0]
        return f"{asked.strip()}\n\n{_ANSWERS}\n\n{answers}"
    # A host says the task with each call, and only at the first it means that the discussion begins
    # anew.
    discussed = (
        call.user_confirmation is not None and _ANSWERS in before and before.startswith(given)
    )
    return before if discussed or not given else call.task_text


def _asked(
    served: ServedRepository, pipeline: Pipeline, ticket: IssueContext, task: _Task
) -> NeedsConfirmation:
    """Return the question before a run begins, with what such a run will probably take."""
    proposal = _proposal(served, pipeline, ticket, task)
    expected = _estimated(served, pipeline, ticket.effort.effort, auto=task.flags.auto)
    sentences = [f'Detected effort="{ticket.effort.effort}" ({ticket.effort.reason}).']
    if expected is not None:
        limit = at_most(expected, _budget(served, task))
        sentences.append(f"Expected: {in_words(expected)} ({expected.rests_on}){limit}.")
    sentences += [
        f"The words name the run {SPECS}/{info.name}, which exists:"
        f" pipeline_init({SPECS}/{info.name}) goes on with it."
        for info in named_in(served.repository, f"{ticket.draft.title}\n{ticket.draft.text}")
    ]
    title = " ".join(ticket.draft.title.split())
    return NeedsConfirmation(
        needs_user_confirmation=proposal.replace(message=" ".join((*sentences, proposal.message))),
        estimate=expected.model_dump(mode="json", by_alias=False) if expected is not None else None,
        question="\n\n".join((f"**{title}**", *sentences, choice_in_words(proposal))),
    )


def _estimated(
    served: ServedRepository, pipeline: Pipeline, effort: Effort, *, auto: bool
) -> Estimate | None:
    """Return the expected cost of a run of the effort with the configured models; None if there is
    no basis for an estimate.
    """
    if not pipeline.speaking:
        return None
    models = {tier: served.config.model_for(tier) for tier in Tier}
    repository = served.repository
    try:
        head = repository.commit_id("HEAD")
        return estimate(repository, head, pipeline, effort, models, auto=auto)
    except ForgeError:
        return None


def _proposal(
    served: ServedRepository, pipeline: Pipeline, ticket: IssueContext, task: _Task
) -> Proposal:
    branch = checked_out(served.repository) or task.flags.current_branch or ""
    labels = {phase.id: phase.label for phase in pipeline.phases}
    options = {
        effort: EffortOption(
            skipped_phases=tuple(
                SkippedPhase(phase_id=phase, label=labels[phase])
                for phase in pipeline.skipped(effort, auto=task.flags.auto)
            ),
            recommended=effort is ticket.effort.effort,
        )
        for effort in Effort
    }
    return Proposal(
        detected_effort=ticket.effort.effort,
        effort_options=options,
        current_branch=branch,
        is_main_branch=branch in _MAIN or branch == served.repository.default_branch(),
        enriched_request_body=proposed(ticket.draft),
        message=_ASK,
    )


# -- the run begins
# --------------------------------------------------------------------------------------------------


def _begun(
    served: ServedRepository, pipeline: Pipeline, task: _Task, chosen: Confirmation
) -> Ready:
    beginning, repository = _beginning(served, task, chosen), served.repository
    _check_tree(served, beginning.plan)
    head = repository.head().commit
    rules_at(repository, head)
    if pipeline.steps is not None:
        inputs_of(pipeline.steps, f"{beginning.draft.title}\n{beginning.draft.text}")
    else:
        check_testable(profile_at(repository, head, served.config), served.config)
    info = create_run(repository, beginning, pipeline, external_worktree=True, note=_note)
    effort = beginning.plan.effort
    request = raw_file(repository, info, "request.md") or b""
    return Ready(
        workspace=f"{SPECS}/{info.name}",
        effort=effort,
        flow_template=pipeline.flows[effort],
        skipped_phases=pipeline.skipped(effort, auto=task.flags.auto),
        request_md_content=request.decode("utf-8", "replace"),
        branch=info.branch,
        create_branch=not repository.branch_exists(info.branch),
    )


def _note(places: RunPaths) -> None:
    """Write the files beside the run, before the run itself exists. Raises NoStateHome."""
    try:
        begun_here(places)
    except WriteFailed as error:
        raise NoStateHome(f"{places.home} cannot be written to. {error.message}") from error


def _beginning(served: ServedRepository, task: _Task, chosen: Confirmation) -> NewRun:
    enriched = chosen.enriched_request_body.strip()
    if task.source.type == "text":
        ticket = task.ticket(chosen.effort, enriched)
    else:
        ticket = edited(task.ticket(chosen.effort), enriched)
    flags = task.flags
    return NewRun(
        draft=ticket.draft,
        plan=_planned(served, ticket, chosen, task),
        flags=RunFlags(
            auto=flags.auto,
            skip_pr=flags.skip_pr,
            debug=flags.debug,
            discuss=flags.discuss,
            batch=flags.batch,
            scope=scope_folder(served.repository, flags.scope),
        ),
        budget=_budget(served, task),
        by=local_user(),
    )


def _budget(served: ServedRepository, task: _Task) -> Amount:
    return Amount(task.flags.budget, task.flags.budget_tokens) or served.config.amount


def _planned(
    served: ServedRepository, ticket: IssueContext, chosen: Confirmation, task: _Task
) -> RunPlan:
    reason = "the effort that was confirmed"
    if task.text or task.context:
        guess = task.ticket(task.flags.effort_override).effort
        reason = guess.reason if guess.effort is chosen.effort else reason
    plan = plan_for(
        served.repository,
        ticket.draft,
        effort=chosen.effort.value,
        name=chosen.workspace_slug.strip() or None,
        branch=None,
        here=chosen.use_current_branch,
        external_worktree=True,
    )
    return plan.replace(effort_reason=reason)


def _check_tree(served: ServedRepository, plan: RunPlan) -> None:
    """Refuse a tree in which a run would fail.

    Raises NoCommits, DetachedHead, NotReady, BadOption, BadSigningKey, BranchExists, DirtyTree.
    """
    subject = CheckSubject(served.repository, served.config, RunIntent(here=plan.here))
    CheckReport(results=tuple(signing(subject))).require()
    branch = served.repository.head().branch
    if (operation := under_way(served.path)) is not None:
        raise NotReady(
            f"A {operation.name} is under way in {served.path}; commits of a run would get into"
            " it.",
            hint=operation.way_out,
        )
    if plan.here:
        _check_branch(served, branch)
    dirty = [
        change.path
        for change in Tree(served.path).status()
        if not change.path.startswith(f"{SPECS}/")
    ]
    if dirty:
        raise DirtyTree(
            "The work tree has uncommitted changes, which would be mixed with the run's.",
            hint="Commit or stash them (git stash -u), and confirm again.",
            details=tuple(dirty[:10]),
        )


def _check_branch(served: ServedRepository, branch: str) -> None:
    """Refuse to put a run on the default branch, or on that of another run."""
    if branch == served.repository.default_branch():
        raise BadOption(
            f"use_current_branch would write to {branch}.",
            hint=(
                "Leave use_current_branch out, and a branch is made; or git switch -c NAME first,"
                " and confirm again."
            ),
        )
    for info in served.runs():
        if info.branch == branch and not info.ended and not info.remote:
            raise BranchExists(
                f"The run {SPECS}/{info.name} is under way on {branch}.",
                hint=(
                    f"Go on with it: pipeline_init({SPECS}/{info.name}); or leave"
                    " use_current_branch out, for a branch of its own."
                ),
            )
