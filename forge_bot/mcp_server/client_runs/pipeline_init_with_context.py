"""`pipeline_init_with_context`: guess the effort, ask the questions, and begin the run that the
person chose.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import BadArguments, BadOption, BranchExists, DirtyTree
from forge_bot.gate.arguments import Amount
from forge_bot.git import Tree
from forge_bot.mcp_server.client_runs.client_tree import Dispatch, keep_dispatch
from forge_bot.mcp_server.client_runs.pipeline_init import (
    apply_edit,
    decide_source,
    describe_request,
    make_draft,
)
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import Confirmation, ExternalContext, InitFlags, UIComponent
from forge_bot.runs.checks import CheckReport, CheckSubject, RunIntent
from forge_bot.runs.checks.local_checks import head, operation, signing
from forge_bot.runs.create_run import (
    DISCUSSION_QUESTIONS,
    NewRun,
    RunPlan,
    create_run,
    plan_for,
    scope_folder,
)
from forge_bot.runs.find_runs import checked_out, raw_file
from forge_bot.runs.perform_steps import inputs_of
from forge_bot.runs.project_commands.commit_profile import check_testable, profile_at
from forge_bot.runs.question import Choice
from forge_bot.runs.request_draft import EffortGuess, RequestDraft, guess_effort
from forge_bot.runs.this_process import local_user
from forge_bot.sentences import listed
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import limits
from forge_bot.values import Effort, Frozen, Source

_ANSWERS = "## Discussion Answers"
_MAIN = {"", "main", "master"}
_ASK = (
    "Ask the person once: effort S, M or L; a new branch or the current one; the short name of the"
    " workspace. Then call again with user_confirmation: effort, use_current_branch,"
    " workspace_slug, and enriched_request_body, as it stands here or as the person edited it."
)
_PLEASE = "Please put these questions to the person, and pass the answers on as discussion_answers."


class BeforeRun(NamedTuple):
    """The answer to one call, and what comes beside it."""

    body: dict[str, JsonValue]
    meta: dict[str, JsonValue]


class _Call(Frozen):
    """The arguments of one call."""

    workspace: str
    source_id: str = ""
    source_url: str = ""
    external_context: ExternalContext | None = None
    flags: InitFlags = InitFlags()
    task_text: str = ""
    user_confirmation: Confirmation | None = None
    discussion_answers: str = ""

    @property
    def source(self) -> Source:
        """Return the source of the task. Raises BadArguments."""
        return decide_source(self.source_url, self.source_id, self.task_text, self.external_context)

    def draft(self, text: str = "") -> RequestDraft:
        """Return the draft of the task; of one in words, with these in place of them."""
        issue = self.external_context or ExternalContext()
        return make_draft(text or self.task_text, self.source, issue)

    def guess(self, draft: RequestDraft) -> EffortGuess:
        """Return the effort that the flag, or labels, type, points and words of the task tell."""
        flag, issue = self.flags.effort_override, self.external_context
        return guess_effort(
            draft.words,
            flag=flag.value if flag is not None else None,
            labels=draft.labels,
            issue_type=draft.issue_type,
            story_points=issue.points if issue and draft.source.type != "text" else None,
        )


class Confirmations:
    """The calls before a run begins."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, Any]] = {}

    def answer(self, served: ServedRepository, given: Mapping[str, Any]) -> BeforeRun:
        """Return the result of this call. Raises ValidationError for arguments that do not fit,
        BadArguments for answers and a confirmation together, and what beginning raises.
        """
        call = self._read_call(given)
        pipeline = load_pipeline(call.flags.pipeline or served.config.pipeline, served.path)
        if call.user_confirmation is not None:
            return _begin_run(served, pipeline, call, call.user_confirmation)
        draft, flags = call.draft(), call.flags
        discusses = flags.discuss and not flags.auto and call.source.type == "text"
        if discusses and _ANSWERS not in call.task_text:
            return _ask_questions()
        return _ask_effort(served, pipeline, draft, call)

    def _read_call(self, given: Mapping[str, Any]) -> _Call:
        """Return the call with what earlier ones for its workspace said and it does not repeat. The
        text that a person confirms is the one that was shown.
        """
        before = self._given.get(given["workspace"], {})
        fresh = {name: value for name, value in given.items() if value}
        if "user_confirmation" in fresh and before.get("task_text"):
            fresh["task_text"] = before["task_text"]
        call = _Call.model_validate({**before, **fresh})
        if answers := call.discussion_answers.strip():
            if call.user_confirmation is not None:
                raise BadArguments(
                    "discussion_answers and user_confirmation came together.",
                    hint="Send the answers first, and the confirmation in a call of its own.",
                )
            asked = call.task_text.partition(f"\n\n{_ANSWERS}\n\n")[0].strip()
            call = call.replace(task_text=f"{asked}\n\n{_ANSWERS}\n\n{answers}")
        once = {"user_confirmation", "discussion_answers"}
        kept = {name: value for name, value in {**before, **fresh}.items() if name not in once}
        self._given[call.workspace] = {**kept, "task_text": call.task_text}
        return call


def _ask_questions() -> BeforeRun:
    questions: list[JsonValue] = [*DISCUSSION_QUESTIONS]
    form = UIComponent(kind="input", title="Before it begins", data={"questions": questions})
    return BeforeRun(
        {"needs_discussion": {"questions": questions, "message": _PLEASE}},
        {
            "hints": {"next": "ask the person, then call again with discussion_answers"},
            "ui": form.model_dump(mode="json"),
        },
    )


def _ask_effort(
    served: ServedRepository, pipeline: Pipeline, draft: RequestDraft, call: _Call
) -> BeforeRun:
    """Return the question before a run begins, with the amount at which such a run asks again."""
    guess, auto = call.guess(draft), call.flags.auto
    branch = checked_out(served.repository) or call.flags.current_branch or ""
    budget = limits(_choose_budget(served, call))
    stops = f"The run stops to ask at {budget}. " if budget else ""
    shown: dict[str, JsonValue] = {
        "detected_effort": guess.effort.value,
        "current_branch": branch,
        "is_main_branch": branch in _MAIN or branch == served.repository.default_branch(),
        "enriched_request_body": describe_request(draft),
    }
    skipped = {
        level: [
            {"phase_id": phase, "label": pipeline.phase(phase).label}
            for phase in pipeline.skipped(level, auto=auto)
        ]
        for level in Effort
    }
    actions = tuple(
        Choice(
            answer=level.value,
            effect=f"without {listed([one['label'] for one in left_out])}" if left_out else "",
        )
        for level, left_out in skipped.items()
    )
    form = UIComponent(kind="confirmation", title="Effort and branch", data=shown, actions=actions)
    body: dict[str, JsonValue] = {
        **shown,
        "effort_options": {
            level.value: {"skipped_phases": [*left_out], "recommended": level is guess.effort}
            for level, left_out in skipped.items()
        },
        "message": f'Detected effort="{guess.effort}" ({guess.reason}). {stops}{_ASK}',
    }
    meta: dict[str, JsonValue] = {
        "hints": {"next": "ask the person, then call again with user_confirmation"},
        "ui": form.model_dump(mode="json"),
    }
    return BeforeRun({"needs_user_confirmation": body}, meta)


# -- the run begins
# --------------------------------------------------------------------------------------------------


def _begin_run(
    served: ServedRepository, pipeline: Pipeline, call: _Call, chosen: Confirmation
) -> BeforeRun:
    beginning, repository = _make_new_run(served, call, chosen), served.repository
    _check_tree(served, beginning.plan)
    if pipeline.steps is not None:
        inputs_of(pipeline.steps, f"{beginning.draft.title}\n{beginning.draft.text}")
    else:
        profile = profile_at(repository, repository.head().commit, served.config)
        check_testable(profile, served.config)
    # Files that are changed at its first action are then not its agent's.
    info = create_run(
        repository,
        beginning,
        pipeline,
        external_worktree=True,
        note=lambda places: keep_dispatch(places, Dispatch()),
    )
    effort = beginning.plan.effort
    request = raw_file(repository, info, "request.md") or b""
    creates = not repository.branch_exists(info.branch)
    following = f"git checkout -b {info.branch}, then " if creates else ""
    return BeforeRun(
        {
            "ready": True,
            "workspace": f"{SPECS}/{info.name}",
            "effort": effort.value,
            "flow_template": pipeline.flows[effort],
            "skipped_phases": [*pipeline.skipped(effort, auto=call.flags.auto)],
            "request_md_content": request.decode("utf-8", "replace"),
            "branch": info.at_client,
            "create_branch": creates,
        },
        {"hints": {"next": f"{following}pipeline_next_action"}},
    )


def _make_new_run(served: ServedRepository, call: _Call, chosen: Confirmation) -> NewRun:
    enriched = chosen.enriched_request_body.strip()
    is_text = call.source.type == "text"
    draft = call.draft(enriched) if is_text else apply_edit(call.draft(), enriched)
    plan = plan_for(
        served.repository,
        draft,
        effort=chosen.effort.value,
        name=chosen.workspace_slug.strip() or None,
        branch=None,
        here=chosen.use_current_branch,
        external_worktree=True,
    )
    flags = call.flags
    return NewRun(
        draft=draft,
        plan=plan.replace(effort_reason="the effort that was confirmed"),
        flags=RunFlags(
            **flags.model_dump(include={"auto", "skip_pr", "debug", "discuss"}),
            scope=scope_folder(served.repository, flags.scope),
        ),
        budget=_choose_budget(served, call),
        by=local_user(),
    )


def _choose_budget(served: ServedRepository, call: _Call) -> Amount:
    return Amount(call.flags.budget, call.flags.budget_tokens) or served.config.amount


def _check_tree(served: ServedRepository, plan: RunPlan) -> None:
    """Refuse a tree in which a run would fail.

    Raises NoCommits, DetachedHead, NotReady, BadOption, BadSigningKey, BranchExists, DirtyTree.
    """
    subject = CheckSubject(served.repository, served.config, RunIntent(here=True))
    CheckReport(results=(*head(subject), *signing(subject), *operation(subject))).require()
    if plan.here:
        _check_branch(served, served.repository.head().branch)
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
        if info.at_client == branch and not info.ended and not info.remote:
            raise BranchExists(
                f"The run {SPECS}/{info.name} is under way on {branch}.",
                hint=(
                    f"Go on with it: pipeline_init({SPECS}/{info.name}); or leave"
                    " use_current_branch out, for a branch of its own."
                ),
            )
