"""The open question as data: what is decided, what it is bound to, and what each answer does. Faces
render it.
"""

from collections.abc import Iterator
from difflib import unified_diff
from typing import Literal
from uuid import uuid4

from pydantic import ValidationError

from forge_bot.artifacts.inspection import MOST_CHARACTERS
from forge_bot.engine import Checkpoint, HumanGate, PersonAction
from forge_bot.engine.phases import AgentPhase
from forge_bot.engine.reports import GateShown
from forge_bot.engine.state import OpenGate, Reason, State
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.patch_setup import setup_of_patch
from forge_bot.runs.question_overview import Overview, overview
from forge_bot.runs.run import Run
from forge_bot.runs.standing_rules import told
from forge_bot.store.run_folder import STATE
from forge_bot.values import Finding, Frozen

_TEXT_SHOWN = MOST_CHARACTERS
_HIDDEN = (
    "{name} holds text that is not shown where Markdown is rendered, and later agents read it:"
    " {what}."
)
_LINES_COMPARED = 5_000
_SHORT_LINES, _SHORT_CHARACTERS = 40, 2_500


class Choice(Frozen):
    """One answer, and what it does."""

    answer: str
    effect: str


class ShownDocument(Frozen):
    """A file the question is about."""

    name: str
    text: str
    blob: str

    @property
    def is_short(self) -> bool:
        """Return whether it is shown open with the question: about one screen."""
        return len(self.text) <= _SHORT_CHARACTERS and self.text.count("\n") <= _SHORT_LINES

    @property
    def hidden(self) -> str:
        """Return a description of its text that is not shown when rendered; "" for a patch, which
        is shown as code.
        """
        return what_is_hidden(self.text) if self.name.endswith(".md") else ""


class QuestionData(Frozen):
    """The data of a question for an interface."""

    gate: str
    decision: tuple[str, ...]
    digest: str
    risks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    overview: Overview = Overview()
    documents: tuple[ShownDocument, ...] = ()
    difference: str = ""

    @property
    def all_risks(self) -> tuple[str, ...]:
        """The risks our process saw, then those the design names, each once."""
        return tuple(dict.fromkeys((*self.risks, *self.overview.outline.risks)))


class Question(Frozen):
    """A question to a person: one schema for terminal, comment, elicitation and page."""

    kind: Literal["confirmation"] = "confirmation"
    title: str
    data: QuestionData
    actions: tuple[Choice, ...]
    requires_response: bool = True


_WHAT = {
    Reason.ROUNDS_EXHAUSTED: (
        "The reviews are not satisfied, and the rounds are used up.",
        "take it as it is and go on",
    ),
    Reason.INVALID_ARTIFACT: (
        "The document lacks what the next phase needs.",
        "take it as it is and go on",
    ),
    Reason.UNREADABLE_VERDICT: (
        "The reviewer's verdict cannot be read.",
        "count it as a yes and go on",
    ),
    Reason.VERIFICATION_RED: (
        "The verification is red, and the rounds are used up.",
        "go on with a red verification; the pull request says so",
    ),
    Reason.PROTECTED_PATHS: (
        "The change touches protected paths and has not been applied.",
        "apply exactly this patch and go on",
    ),
    Reason.BUDGET: ("The budget is used up.", "allow as much again and go on"),
    Reason.AGENT_FAILED: ("The agent ended without an answer.", ""),
    Reason.SETUP_FAILED: (
        "The project's setup failed, before any model was asked.",
        "go on without it",
    ),
    Reason.BASELINE: (
        "The project's own commands tell nothing before the change. No model was asked yet.",
        "go on and judge without these commands; the pull request says so",
    ),
    Reason.NOTHING_TO_DO: (
        "The analysis says that nothing is to be done; its evidence is below.",
        "end the run without a change; the summary tells the evidence",
    ),
    Reason.UNVERIFIED_APPROVAL: (
        "This was approved where it cannot be checked who did it.",
        "approve it here, so that the pull request can be opened",
    ),
    Reason.TOOL_APPROVAL: (
        "An agent asks for calls that may change something outside of this repository.",
        "make exactly these calls, once, and go on",
    ),
    Reason.OUTCOME_UNKNOWN: (
        "A call was begun and no answer came back. It may have been made, and is not made again.",
        "take it as made and go on",
    ),
    Reason.CHECKS_RED: (
        "The checks of the pull request are red, and the rounds are used up.",
        "leave the pull request as it is",
    ),
}


def open_question(run: Run) -> Question | None:
    """The question that is open, or None."""
    match run.action:
        case Checkpoint() as asked:
            return _checkpoint(run, asked)
        case HumanGate() as asked:
            return _to_do(run, asked)
        case _:
            return None


def gate_shown(run: Run, action: PersonAction, via: str) -> GateShown | None:
    """The report that this version of the question is shown now; None if it was the last one that
    was.
    """
    if not isinstance(action, Checkpoint):
        return None
    before = run.state.gate.shown if run.state.gate is not None else ()
    if before and before[-1].digest == action.digest:
        return None
    key = f"shown-{uuid4().hex}"
    return GateShown(key=key, at=run.now(), gate=action.name, digest=action.digest, via=via)


def _checkpoint(run: Run, asked: Checkpoint) -> Question:
    documents = tuple(
        ShownDocument(name=file.name, text=_text(run, file.name), blob=file.blob)
        for file in asked.files
    )
    label = run.pipeline.phase(asked.name).label
    what, approve, reject = _meaning(run, asked)
    effects = {"approve": approve, "reject": reject, **_POSTING}
    decision = tuple(
        line for line in (f"{run.state.title} ({run.state.branch})", what, asked.subject) if line
    )
    return Question(
        title=label,
        data=QuestionData(
            gate=asked.name,
            decision=decision,
            digest=asked.digest,
            risks=(
                *asked.risks,
                *setup_of_patch(run),
                *_hidden(run, documents),
                *told(run.rules, run.state),
            ),
            findings=asked.findings or _reviewed(run, asked),
            overview=(
                overview(run, asked)
                if asked.reason is None and "approve" in asked.options
                else Overview()
            ),
            documents=documents,
            difference=difference(run, asked),
        ),
        actions=(
            *(Choice(answer=option, effect=effects[option]) for option in asked.options),
            _ABANDON,
        ),
    )


def _hidden(run: Run, documents: tuple[ShownDocument, ...]) -> Iterator[str]:
    """Yield a risk for each document of the run with text that is not shown, whether the question
    shows it or not.
    """
    for each in documents:
        if each.hidden:
            yield (
                f"{_HIDDEN.format(name=each.name, what=each.hidden)} It is shown as it is written."
            )
    shown = {each.name for each in documents}
    for name in run.state.artifacts:
        raw = run.workspace.read_bytes(name) if name.endswith(".md") and name not in shown else None
        if raw is not None and (unseen := what_is_hidden(raw.decode("utf-8", "replace"))):
            yield (
                f"{_HIDDEN.format(name=name, what=unseen)} Read {run.workspace.relative}/{name} as"
                " plain text."
            )


def _text(run: Run, name: str) -> str:
    """Return a document as it is asked about: all of it, or a beginning that says so."""
    text = run.workspace.read(name)
    if len(text) <= _TEXT_SHOWN:
        return text
    return (
        f"{text[:_TEXT_SHOWN]}\n\n[… {len(text) - _TEXT_SHOWN:,} more characters:"
        f" {run.workspace.relative}/{name} has them]\n"
    )


def _meaning(run: Run, asked: Checkpoint) -> tuple[str, str, str]:
    """Return the decision, and the effects of yes and no."""
    reject = "it is redone following your notes, and you are asked again"
    if "post" in asked.options:
        return "Post this summary as a comment in the issue?", "", ""
    if asked.reason is None:
        return (
            "Approve what is shown below, or say what should be different.",
            "go on with exactly this version",
            reject,
        )
    if asked.reason is Reason.ACTION_FAILED:
        step = run.pipeline.phase(asked.resume_at)
        without = f" without {step.writes}" if isinstance(step, AgentPhase) else ""
        return (
            f"“{step.label}” could not be done.",
            f"leave it out and go on{without}",
            f"try “{step.label}” once more",
        )
    if asked.reason is Reason.BASELINE:
        reject = "run setup and these commands once more, for example with another configuration"
    if asked.reason is Reason.NOTHING_TO_DO:
        reject = "analyse once more, with your notes, and go on"
    if asked.reason is Reason.TOOL_APPROVAL:
        reject = "make none of them, and ask the agent anew with your notes"
    if asked.reason is Reason.OUTCOME_UNKNOWN:
        reject = "it was not made, or does not count: ask the agent anew with your notes"
    return (*_WHAT[asked.reason], reject)


def _reviewed(run: Run, asked: Checkpoint) -> tuple[Finding, ...]:
    """Return the findings of reviews among the shown files."""
    records = (run.state.artifacts.get(file.name) for file in asked.files)
    return tuple(finding for record in records if record is not None for finding in record.findings)


_POSTING = {"post": "post exactly this summary, as a comment", "skip": "post nothing, and go on"}
_ABANDON = Choice(answer="abandon", effect="end the run; the branch stays")


def _to_do(run: Run, asked: HumanGate) -> Question:
    task = run.state.task(asked.task)
    where = f"Task {asked.task} of {run.state.title} ({run.state.branch})"
    done_when = (
        tuple(f"Done when: {each}" for each in task.spec.acceptance) if task is not None else ()
    )
    why = tuple(rule.sentence for rule in run.rules.of(task.spec)) if task is not None else ()
    effects = {
        "done": "you did it: tasks that depend on it go on",
        "skip": "go on without it",
        "abandon": _ABANDON.effect,
    }
    return Question(
        title="Something only a person can do",
        data=QuestionData(
            gate=asked.phase, decision=(asked.title, where, *done_when), digest="", risks=why
        ),
        actions=tuple(Choice(answer=option, effect=effects[option]) for option in asked.options),
    )


def difference(run: Run, asked: Checkpoint) -> str:
    """Return the changes in the shown files since the version shown before; empty the
    first time.
    """
    digest = _shown_before(run.state, asked)
    before = _commit_of(run, asked, digest) if digest else None
    if before is None:
        return ""
    # A review is written anew with its document, so a difference of it says nothing, unless it is
    # the only one.
    return next((text for file in asked.files if (text := _changed(run, before, file.name))), "")


def _changed(run: Run, before: str, name: str) -> str:
    """The difference of one document between a commit and now, in the work tree: it need not be
    committed yet.
    """
    path = f"{run.workspace.relative}/{name}"
    old = (run.repository.read(before, path) or b"").decode("utf-8", "replace")
    new = run.workspace.read(name)
    lines = unified_diff(
        old.splitlines()[:_LINES_COMPARED],
        new.splitlines()[:_LINES_COMPARED],
        f"a/{path}",
        f"b/{path}",
        lineterm="",
    )
    return "\n".join(lines)


def _shown_before(state: State, asked: Checkpoint) -> str:
    """Digest of the version that this question had when it was shown or answered last, if that was
    another one.
    """
    showings = state.gate.shown if state.gate is not None else ()
    answered = [
        decision.digest
        for decision in state.decisions
        if decision.gate == asked.name and asked.reason is None
    ]
    seen = (*answered, *(showing.digest for showing in showings))
    return next((digest for digest in reversed(seen) if digest and digest != asked.digest), "")


def _commit_of(run: Run, asked: Checkpoint, digest: str) -> str | None:
    """The newest commit at which a version of the question was open."""
    path = f"{run.workspace.relative}/{STATE}"
    for commit in run.tree.commits(run.state.base_commit):
        gate = _gate_in(run.repository.read(commit.id, path))
        if gate is not None and gate.name == asked.name and gate.digest == digest:
            return commit.id
    return None


def _gate_in(raw: bytes | None) -> OpenGate | None:
    try:
        return State.model_validate_json(raw or b"").gate
    except ValidationError:
        return None
