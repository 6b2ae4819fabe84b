"""The words of people to a run, as reports, the same on every face: commands, answers to a question
with the options that were chosen, and more work on the change that a run offers.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from pydantic import Field

from forge_bot.artifacts.design_outline import read_open_decisions, read_outline
from forge_bot.engine import Checkpoint, HumanGate, advance
from forge_bot.engine.external_events import FOLLOW_UP, has_change
from forge_bot.engine.gates import agreed_so_far
from forge_bot.engine.person_requirements import approved_with
from forge_bot.engine.phases import AgentPhase
from forge_bot.engine.reports import (
    Abandoned,
    Answer,
    Answered,
    BudgetRaised,
    EffortChanged,
    FollowUpAsked,
    Report,
    RetryAsked,
    ReviewItem,
)
from forge_bot.engine.state import Decision, Reason
from forge_bot.errors import BadOption
from forge_bot.forge.types import FailedCheck
from forge_bot.gate.grammar import (
    Abandon,
    AnswerCommand,
    AnswerQuestion,
    Approve,
    Continue,
    MarkDone,
    PostSummary,
    Reject,
    Resize,
    Retry,
    RunCommand,
    Skip,
    Update,
)
from forge_bot.git import blob_id
from forge_bot.git.commit_history import changed
from forge_bot.prompts.untrusted import clean, clean_plain
from forge_bot.runs.branch_for_merge import fetch_for_update, update
from forge_bot.runs.frozen_attachments import FrozenFiles
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import local_user, phase_named
from forge_bot.settings.approvals import ApprovalCase
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import code_block
from forge_bot.values import Effort, Frozen, PhaseId, RunStatus


class PersonAnswer(Frozen):
    """A person's answer to a question."""

    answer: Answer
    notes: str = ""
    choices: tuple[str, ...] = ()
    condition: str = ""
    via: str = Field(default="", description="how it was given, where that is not as usual")


class PersonQuestion(Frozen):
    """A person's question before they answer."""

    question: str


ANSWER_OF: dict[type[object], Answer] = {
    Approve: Answer.APPROVE,
    Reject: Answer.REJECT,
    AnswerQuestion: Answer.ANSWER,
    MarkDone: Answer.DONE,
    Skip: Answer.SKIP,
    PostSummary: Answer.POST,
    Abandon: Answer.ABANDON,
}


def person_answer(command: AnswerCommand) -> PersonAnswer:
    """Return a person's words without the version that they name."""
    return PersonAnswer(
        answer=ANSWER_OF[type(command)],
        notes=command.notes if isinstance(command, Reject | AnswerQuestion) else "",
        choices=command.choices if isinstance(command, Approve) else (),
        condition=command.words if isinstance(command, Approve) else "",
    )


def answer(
    run: Run,
    reply: PersonAnswer,
    via: str,
    digest: str | None = None,
    by: str = "",
    *,
    key: str = "",
    at: datetime | None = None,
) -> Answered | Abandoned:
    """Return the report that answers the open question, for the shown version. Without a name the
    local user gave it, without a time it is given now. Raises BadOption.
    """
    action = run.action
    key, at, by = key or f"answer-{uuid4().hex}", at or run.now(), by or local_user()
    if reply.answer is Answer.ABANDON and not isinstance(action, Checkpoint | HumanGate):
        return Abandoned(key=key, at=at, by=by, via=via, notes=reply.notes)
    gate = action.name if isinstance(action, Checkpoint) else action.phase
    answered = Answered(
        key=key,
        at=at,
        gate=PhaseId(gate),
        answer=reply.answer,
        digest=digest,
        notes=reply.notes,
        choices=reply.choices,
        condition=reply.condition,
        by=by,
        via=reply.via or via,
        action_id=action.action_id,
    )
    return _with_options(run, answered)


def _with_options(run: Run, answered: Answered) -> Answered:
    """Return an answer; an approval with an option for each open decision of the question: the one
    that it names, such as `2b`, else the default. Raises BadOption for one that the question does
    not have.
    """
    gate = run.state.gate
    if gate is None or answered.answer is not Answer.APPROVE:
        return answered
    decisions = [
        decision
        for file in gate.files
        for decision in read_open_decisions(run.artifact(file.name) or "")[0]
    ]
    offered = {
        f"{decision.number}{option.letter}": option.text
        for decision in decisions
        for option in decision.options
    }
    if unknown := ", ".join(choice for choice in answered.choices if choice not in offered):
        there = ", ".join(offered) or "none"
        raise BadOption(f"The question has no choice {unknown}; its choices are: {there}.")
    agreed = {choice[:-1]: choice for one in agreed_so_far(run.state) for choice in one.choices}
    for choice in answered.choices:
        if (other := agreed.get(choice[:-1], choice)) != choice:
            raise BadOption(
                f"Somebody approved this with {other}, so {choice} cannot be approved beside it.",
                hint=f"Approve with {other}, or reject and say why it should be {choice}.",
            )
    defaults = {f"{one.number}": f"{one.number}{one.default.letter}" for one in decisions}
    choices = (defaults | agreed | {choice[:-1]: choice for choice in answered.choices}).values()
    return answered.replace(
        choices=tuple(choices), chosen=tuple(offered[choice] for choice in choices)
    )


def counted(report: Report) -> str:
    """Return the sentence on the choices and the condition of an approval; empty without any."""
    words = " · ".join(approved_with(report)) if isinstance(report, Answered) else ""
    return f"Approved with: {words}" if words else ""


_PATCHED = re.compile(r'^(?:--- "?a/|\+\+\+ "?b/)(.+?)"?\s*$', re.MULTILINE)


def approval_case(run: Run, settled: Decision | None = None) -> ApprovalCase | None:
    """Return the open question, or one that was settled, about all paths that are known now; None
    without one, and for one about money, which any command may raise. An approval that is asked
    for again stands for every checkpoint that was approved.
    """
    state = run.state
    if settled is not None:
        gate, reason = settled.gate, settled.reason
    elif state.gate is not None:
        gate, reason = state.gate.name, state.gate.reason
    else:
        return None
    if reason is Reason.BUDGET:
        return None
    passed = (one.gate for one in state.decisions if one.reason is None and one.answer == "approve")
    gates = (gate, *(passed if reason is Reason.UNVERIFIED_APPROVAL else ()))
    return ApprovalCase(gates=gates, paths=_paths(run), requester=run.request.requested_by)


def _paths(run: Run) -> tuple[str, ...]:
    """Return the paths of the design, of the tasks, of a patch that is asked about, and of the
    change so far.
    """
    state, read = run.state, run.workspace.read
    designs = (
        phase.writes
        for phase in run.pipeline.phases
        if isinstance(phase, AgentPhase) and phase.shows_risks and phase.writes in state.artifacts
    )
    tasks = (
        *(task.spec for task in state.tasks),
        *(task for record in state.artifacts.values() for task in record.planned),
    )
    patches = (file.name for file in (state.gate.files if state.gate else ()))
    paths = (
        *(file.path for name in designs for file in read_outline(read(name)).files),
        *(path for task in tasks for path in task.files),
        *(
            path
            for name in patches
            if name.endswith(".patch")
            for path in _PATCHED.findall(read(name))
        ),
        *changed(run.tree.path, state.base_commit),
    )
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(f"{SPECS}/")))


class Giver(NamedTuple):
    """The giver of a command, and the place; its key and its time, if it has its own."""

    by: str
    via: str
    key: str = ""
    at: datetime | None = None


def report_of(
    run: Run, command: RunCommand, giver: Giver, version: str | None = None
) -> Report | None:
    """Return the report of a command; None if nothing is to be reported. `version` is the one that
    an approval means. Raises BadOption, CannotUpdate, UpToDate, ReportRejected.
    """
    key, at = giver.key or f"command-{uuid4().hex}", giver.at or run.now()
    by, via, gate = giver.by, giver.via, run.state.gate
    match command:
        case Reject(notes=notes) | Retry(phase=None, notes=notes) if notes and offers_change(run):
            return make_follow_up(run, Wanted(notes), key=key, at=at, by=by, via=via)
        case Retry():
            here = gate.resume_at if gate is not None else run.state.current_phase
            phase = phase_named(run.pipeline, command.phase) if command.phase else here
            return RetryAsked(key=key, at=at, phase=phase, notes=command.notes, by=by, via=via)
        case Update():
            fetch_for_update(run)
            return update(run, key=key, at=at, by=by, via=via)
        case Continue(amount):
            return BudgetRaised(
                key=key, at=at, amount=amount.dollars, tokens=amount.tokens, by=by, via=via
            )
        case Resize(effort):
            return EffortChanged(key=key, at=at, effort=Effort(effort), by=by, via=via)
        case _:
            # Pyright points here at a command without a report.
            return answer(run, person_answer(command), via, version, by, key=key, at=at)


# ECMA-48: control sequences, operating system commands, and single escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_LONGEST = 12_000
"""The most characters of one text. The end of a log is its most useful part."""


class ReviewWords(Frozen):
    """The words of a review in one place: who wrote what, and the lines that it is about."""

    item: ReviewItem
    outdated: bool = False
    hunk: str = ""
    said: tuple[tuple[str, str], ...]


class Wanted(NamedTuple):
    """The wishes for a change."""

    notes: str = ""
    checks: Sequence[FailedCheck] = ()
    reviews: Sequence[ReviewWords] = ()
    left: tuple[str, ...] = ()
    attached: FrozenFiles = FrozenFiles()

    @property
    def words(self) -> str:
        """Return the words of people, without the code that they say it about."""
        said = (text for words in self.reviews for _, text in words.said)
        return "\n\n".join((self.notes, *said))


def make_follow_up(
    run: Run,
    wanted: Wanted,
    *,
    key: str,
    at: datetime,
    by: str = "",
    via: str = "",
    strike: Callable[[str], str] = str,
) -> FollowUpAsked:
    """Write the document with what is wanted, and return the report. Raises ReportRejected or
    RunEnded, before anything is written, if the run takes none now.
    """
    name = f"{FOLLOW_UP}-{run.state.rounds.get(FOLLOW_UP, 0) + 1}.md"
    text = strike(document(wanted, by))
    report = FollowUpAsked(
        key=key,
        at=at,
        artifact=name,
        blob=blob_id(text.encode()),
        head=run.code_so_far().tip,
        checks=tuple(dict.fromkeys(check.name[:200] for check in wanted.checks)),
        items=tuple(words.item for words in wanted.reviews),
        left=wanted.left,
        notes=wanted.notes.strip(),
        attachments=wanted.attached.attachments,
        by=by,
        via=via,
    )
    advance(run.pipeline, run.state, report)
    for file, data in (*wanted.attached.files.items(), (name, text.encode())):
        run.workspace.write(file, data)
    return report


def offers_change(run: Run) -> bool:
    """Return whether a run is done and offers a change of which more can be asked."""
    done = run.state.current_phase_status is RunStatus.COMPLETED
    return done and has_change(run.pipeline, run.state)


def document(wanted: Wanted, by: str = "") -> str:
    """All that is wanted, without anything that terminals draw or nobody sees. It stays strangers'
    text.
    """
    sections = {
        f"# What {_plain(by)} asks for": [_fenced(wanted.notes)] if wanted.notes else [],
        "# Checks that failed": [*map(_check, wanted.checks)],
        "# What the review asks for": [
            _review(number, words) for number, words in enumerate(wanted.reviews, 1)
        ],
    }
    parts = ["\n\n".join((title, *parts)) for title, parts in sections.items() if parts]
    return "\n\n".join(parts) + "\n"


def _check(check: FailedCheck) -> str:
    texts = [_fenced(text) for text in (check.summary, check.log) if text.strip()]
    heading = f"## {_plain(check.name)[:200]}"
    return "\n\n".join([heading, f"{_plain(check.conclusion)}: {_plain(check.url)[:500]}", *texts])


def _review(number: int, words: ReviewWords) -> str:
    older = ["These lines are those of an older version."] if words.outdated else []
    hunk = [_fenced(words.hunk)] if words.hunk else []
    # Only what a reader of the page is shown: nobody took what is hidden.
    said = [f"{_plain(by)}:\n\n{_fenced(clean(text).text)}" for by, text in words.said]
    place = _plain(words.item.place) or "the whole change"
    return "\n\n".join([f"## F-{number}: {place}", *older, *hunk, *said])


def _seen(text: str) -> str:
    return clean_plain(_ESCAPES.sub("", text)).text


def _plain(text: str) -> str:
    return " ".join(_seen(text).split())


def _fenced(text: str) -> str:
    return code_block(_seen(text).strip("\n")[-_LONGEST:])
