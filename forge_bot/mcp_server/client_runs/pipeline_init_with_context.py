"""`pipeline_init_with_context`: guess the effort, ask the questions, and begin the run that the
person chose.
"""

from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import (
    BadArguments,
    BadOption,
    DirtyTree,
    ForgeError,
    NoStateHome,
    NotReady,
    WriteFailed,
)
from forge_bot.gate.arguments import Amount
from forge_bot.git import Tree
from forge_bot.git.revisions import under_way
from forge_bot.mcp_server.client_runs.client_run import Turns
from forge_bot.mcp_server.client_runs.client_tree import begun_here
from forge_bot.mcp_server.client_runs.idempotency import begun_before, check_alone
from forge_bot.mcp_server.client_runs.issue_context import (
    IssueContext,
    Origin,
    edited,
    issue_context,
    proposed,
    told_origin,
)
from forge_bot.mcp_server.client_runs.render_question import choice_in_words
from forge_bot.mcp_server.served_folders import ServedFolder
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
from forge_bot.runs.finding_runs.files_of_run import raw_file
from forge_bot.runs.finding_runs.resolve_run import checked_out, named_in
from forge_bot.runs.local_user import local_user
from forge_bot.runs.past_runs.estimate import Estimate, at_most, estimate, in_words
from forge_bot.runs.project_commands.kept_profiles import profile_at
from forge_bot.runs.run_needs import check_testable
from forge_bot.runs.run_paths import RunPaths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.runs.steps.step_values import inputs_of
from forge_bot.sentences import say
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.values import Effort, Frozen, RecordsPolicy, Tier

_ANSWERS = "## Discussion Answers"
_MAIN = {"", "main", "master"}
_REMEMBERED = 100


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


class _Told(Frozen):
    """The data of earlier calls for the same workspace, which a host need not repeat."""

    origin: Origin = Origin()
    context: ExternalContext | None = None
    text: str = ""
    flags: InitFlags = InitFlags()


class Confirmations:
    """The calls before a run begins."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], _Told] = {}
        self._turns = Turns()

    def answer(self, root: ServedFolder, call: Call) -> NeedsConfirmation | NeedsDiscussion | Ready:
        """Return the result of this call. Raises BadArguments for answers and a confirmation
        together, and what beginning raises.
        """
        if call.discussion_answers.strip() and call.user_confirmation is not None:
            raise BadArguments(
                say("client.pipeline_init_with_context.answers_and_confirmation_together"),
                hint=say("client.pipeline_init_with_context.send_answers_first"),
            )
        told = self._remembered(root, call)
        name = told.flags.pipeline or root.config.pipeline
        pipeline = load_pipeline(name, root.repository.root)
        if call.user_confirmation is not None:
            # One after the other: a call that comes again while the first is still at work is to
            # find its run.
            with self._turns.turn(str(root.path)):
                return _begun(root, pipeline, told, call.user_confirmation)
        ticket = issue_context(told.text, told.origin, told.context, told.flags.effort_override)
        discussing = told.flags.discuss and not told.flags.auto and told.origin.type == "text"
        if discussing and _ANSWERS not in told.text:
            return NeedsDiscussion(
                needs_discussion=Discussion(questions=discussion_questions(), message=_PLEASE)
            )
        return _asked(root, pipeline, ticket, told)

    def _remembered(self, root: ServedFolder, call: Call) -> _Told:
        key = (str(root.path), call.workspace)
        before = self._told.get(key, _Told())
        context = call.external_context or before.context
        text = _text(call, before.text)
        given = told_origin(call.source_url, call.source_id, call.task_text, call.external_context)
        origin = given if given.type != "text" else before.origin
        flags = call.flags if "flags" in call.model_fields_set else before.flags
        told = _Told(origin=origin, context=context, text=text, flags=flags)
        while len(self._told) >= _REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[key] = told
        return told


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


_PUT = (
    "Ask the person once: effort S, M or L; a new branch or the current one; the short name of the"
    " workspace. Then call again with user_confirmation: effort, use_current_branch,"
    " workspace_slug, and enriched_request_body, as it stands here or as the person edited it."
)
_PLEASE = "Please put these questions to the person, and pass the answers on as discussion_answers."


def _asked(
    root: ServedFolder, pipeline: Pipeline, ticket: IssueContext, told: _Told
) -> NeedsConfirmation:
    """Return the question before a run begins, with what such a run will probably take."""
    proposal = _proposal(root, pipeline, ticket, told)
    found = _estimated(root, pipeline, ticket.effort.effort, auto=told.flags.auto)
    limit = at_most(found, _budget(root, told)) if found is not None else ""
    expected = (
        (f"Expected: {in_words(found)} ({found.rests_on}){limit}.",) if found is not None else ()
    )
    sentences = (
        f'Detected effort="{ticket.effort.effort}" ({ticket.effort.reason}).',
        *expected,
        *_to_say(root, ticket),
    )
    title = ticket.draft.title.strip()
    return NeedsConfirmation(
        needs_user_confirmation=proposal.replace(message=" ".join((*sentences, proposal.message))),
        estimate=found.model_dump(mode="json", by_alias=False) if found is not None else None,
        question="\n\n".join(
            (f"**{' '.join(title.split())}**", *sentences, choice_in_words(proposal))
        ),
    )


def _estimated(
    root: ServedFolder, pipeline: Pipeline, effort: Effort, *, auto: bool
) -> Estimate | None:
    """Return the expected cost of a run of the effort with the configured models; None if there is
    no basis for an estimate.
    """
    if not pipeline.speaking:
        return None
    models = {tier: root.config.model_for(tier) for tier in Tier}
    try:
        return estimate(
            root.repository, root.repository.commit_id("HEAD"), pipeline, effort, models, auto=auto
        )
    except ForgeError:
        return None


def _to_say(root: ServedFolder, ticket: IssueContext) -> tuple[str, ...]:
    """Return what a person should know first: runs that the words name."""
    named = named_in(root.repository, f"{ticket.draft.title}\n{ticket.draft.text}")
    return tuple(
        say("client.pipeline_init_with_context.names_a_run", run=f"{SPECS}/{info.name}")
        for info in named
    )


def _proposal(
    root: ServedFolder, pipeline: Pipeline, ticket: IssueContext, told: _Told
) -> Proposal:
    branch = checked_out(root.repository) or told.flags.current_branch or ""
    guess = ticket.effort
    labels = {phase.id: phase.label for phase in pipeline.phases}
    options = {
        effort: EffortOption(
            skipped_phases=tuple(
                SkippedPhase(phase_id=phase, label=labels[phase])
                for phase in pipeline.skipped(effort, auto=told.flags.auto)
            ),
            recommended=effort is guess.effort,
        )
        for effort in Effort
    }
    return Proposal(
        detected_effort=guess.effort,
        effort_options=options,
        current_branch=branch,
        is_main_branch=branch in _MAIN or branch == root.repository.default_branch(),
        enriched_request_body=proposed(ticket.draft),
        message=_PUT,
    )


# -- the run begins
# --------------------------------------------------------------------------------------------------


def _begun(root: ServedFolder, pipeline: Pipeline, told: _Told, chosen: Confirmation) -> Ready:
    beginning = _beginning(root, told, chosen)
    info = begun_before(root, beginning)
    if info is None:
        _check_tree(root, beginning.plan)
        rules_at(root.repository, root.repository.head().commit)
        if pipeline.steps is not None:
            draft = beginning.draft
            inputs_of(pipeline.steps, f"{draft.title}\n{draft.text}")
        else:
            head = root.repository.head().commit
            check_testable(profile_at(root.repository, head, root.config), root.config)
        info = create_run(root.repository, beginning, pipeline, external_worktree=True, note=_note)
    effort = beginning.plan.effort
    return Ready(
        workspace=f"{SPECS}/{info.name}",
        effort=effort,
        flow_template=pipeline.flows[effort],
        skipped_phases=pipeline.skipped(effort, auto=told.flags.auto),
        request_md_content=(raw_file(root.repository, info, "request.md") or b"").decode(
            "utf-8", "replace"
        ),
        branch=info.branch,
        create_branch=not root.repository.branch_exists(info.branch),
    )


def _note(places: RunPaths) -> None:
    """Write the files beside the run, before the run itself exists. Raises NoStateHome."""
    try:
        begun_here(places)
    except WriteFailed as error:
        raise NoStateHome(
            say(
                "client.pipeline_init_with_context.state_home_not_writable",
                home=places.home,
                message=error.message,
            )
        ) from error


def _beginning(root: ServedFolder, told: _Told, chosen: Confirmation) -> NewRun:
    enriched = chosen.enriched_request_body.strip()
    if told.origin.type == "text":
        ticket = issue_context(enriched or told.text, told.origin, told.context, chosen.effort)
    else:
        ticket = edited(
            issue_context(told.text, told.origin, told.context, chosen.effort), enriched
        )
    flags = told.flags
    return NewRun(
        draft=ticket.draft,
        plan=_planned(root, ticket, chosen, told),
        flags=RunFlags(
            auto=flags.auto,
            skip_pr=flags.skip_pr,
            debug=flags.debug,
            discuss=flags.discuss,
            batch=flags.batch,
            scope=scope_folder(root.repository, flags.scope),
        ),
        budget=_budget(root, told),
        by=local_user(),
        # In the client's own branch there is no other place for the record.
        records=None if chosen.use_current_branch else _apart(root),
    )


def _budget(root: ServedFolder, told: _Told) -> Amount:
    return Amount(told.flags.budget, told.flags.budget_tokens) or root.config.amount


def _apart(root: ServedFolder) -> RecordsPolicy | None:
    separate = root.config.records is RecordsPolicy.SEPARATE
    return RecordsPolicy.SEPARATE if separate else None


def _planned(
    root: ServedFolder, ticket: IssueContext, chosen: Confirmation, told: _Told
) -> RunPlan:
    guessed = (
        issue_context(told.text, told.origin, told.context, told.flags.effort_override).effort
        if told.text or told.context
        else None
    )
    reason = (
        guessed.reason
        if guessed is not None and guessed.effort is chosen.effort
        else say("runs.effort.confirmed")
    )
    plan = plan_for(
        root.repository,
        ticket.draft,
        effort=chosen.effort.value,
        name=chosen.workspace_slug.strip() or None,
        branch=None,
        here=chosen.use_current_branch,
        external_worktree=True,
    )
    return plan.replace(effort_reason=reason)


def _check_tree(root: ServedFolder, plan: RunPlan) -> None:
    """Refuse a tree in which a run would fail.

    Raises NoCommits, DetachedHead, NotReady, BadOption, BadSigningKey, BranchExists, DirtyTree.
    """
    subject = CheckSubject(root.repository, root.config, RunIntent(here=plan.here))
    CheckReport(results=tuple(signing(subject))).require()
    branch = root.repository.head().branch
    if (operation := under_way(root.path)) is not None:
        raise NotReady(
            say(
                "client.pipeline_init_with_context.operation_in_progress",
                name=operation.name,
                path=root.path,
            ),
            hint=operation.way_out,
        )
    if plan.here and branch == root.repository.default_branch():
        raise BadOption(
            say(
                "client.pipeline_init_with_context.would_write_to_a_protected_branch", branch=branch
            ),
            hint=(say("client.pipeline_init_with_context.use_another_branch")),
        )
    if plan.here:
        check_alone(root, branch)
    dirty = [
        change.path
        for change in Tree(root.path).status()
        if not change.path.startswith(f"{SPECS}/")
    ]
    if dirty:
        raise DirtyTree(
            say("client.pipeline_init_with_context.work_tree_has_uncommitted_changes"),
            hint=say("client.pipeline_init_with_context.commit_or_stash_them"),
            details=tuple(dirty[:10]),
        )
