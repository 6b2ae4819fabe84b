"""The open question as data: what is decided, what it is bound to, and what each answer does. Faces render it."""

from typing import Literal

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.state import Reason
from forge_bot.engine.values import Finding, Frozen
from forge_bot.runs.run import Run

_TEXT_SHOWN = 60_000


class Choice(Frozen):
    """One answer, and what it does."""

    answer: str
    effect: str


class Document(Frozen):
    """A file the question is about."""

    name: str
    text: str
    blob: str


class QuestionData(Frozen):
    """What a face shows of a question."""

    gate: str
    decision: tuple[str, ...]
    digest: str
    risks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    documents: tuple[Document, ...] = ()
    difference: str = ""


class Question(Frozen):
    """A question to a person: one schema for terminal, comment, elicitation and page."""

    kind: Literal["confirmation"] = "confirmation"
    title: str
    data: QuestionData
    actions: tuple[Choice, ...]
    requires_response: bool = True


_WHAT = {
    Reason.ROUNDS_EXHAUSTED: ("The reviews are not satisfied, and the rounds are used up.", "take it as it is and go on"),
    Reason.INVALID_ARTIFACT: ("The document lacks what the next phase needs.", "take it as it is and go on"),
    Reason.UNREADABLE_VERDICT: ("The reviewer's verdict cannot be read.", "count it as a yes and go on"),
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
    Reason.SETUP_FAILED: ("The project's setup failed, before any model was asked.", "go on without it"),
    Reason.ACTION_FAILED: ("Something could not be done.", "leave it out and go on"),
    Reason.UNVERIFIED_APPROVAL: (
        "This was approved where it cannot be checked who did it.",
        "approve it here, so that the pull request can be opened",
    ),
    Reason.CHECKS_RED: ("The checks of the pull request are red, and the rounds are used up.", "leave the pull request as it is"),
}


def question(run: Run) -> Question | None:
    """The question that is open, or None."""
    match run.action:
        case Checkpoint() as asked:
            return _checkpoint(run, asked)
        case HumanGate() as asked:
            return _to_do(asked)
        case _:
            return None


def _checkpoint(run: Run, asked: Checkpoint) -> Question:
    documents = tuple(Document(name=file.name, text=run.workspace.read(file.name)[:_TEXT_SHOWN], blob=file.blob) for file in asked.files)
    label = run.pipeline.phase(asked.name).label
    if asked.reason is None:
        what = "Approve what is shown below, or say what should be different."
        approve = "go on with exactly this version"
    else:
        what, approve = _WHAT[asked.reason]
    effects = {"approve": approve, "reject": "do it once more, with your notes; counters start at zero"}
    decision = tuple(line for line in (f"{run.state.title} ({run.state.branch})", what, asked.subject) if line)
    return Question(
        title=label,
        data=QuestionData(
            gate=asked.name,
            decision=decision,
            digest=asked.digest,
            risks=asked.risks,
            findings=asked.findings,
            documents=documents,
            difference=difference(run, asked),
        ),
        actions=(*(Choice(answer=option, effect=effects[option]) for option in asked.options), _ABANDON),
    )


_ABANDON = Choice(answer="abandon", effect="end the run; the branch stays")


def _to_do(asked: HumanGate) -> Question:
    effects = {"done": "you did it: tasks that depend on it go on", "skip": "go on without it", "abandon": _ABANDON.effect}
    return Question(
        title="Something only a person can do",
        data=QuestionData(gate=asked.phase, decision=(asked.title,), digest=""),
        actions=tuple(Choice(answer=option, effect=effects[option]) for option in asked.options),
    )


def difference(run: Run, asked: Checkpoint) -> str:
    """What changed in the shown files since the last answer at the same gate; empty the first time."""
    answered = [decision for decision in run.state.decisions if decision.gate == asked.name]
    if not answered or asked.reason is not None:
        return ""
    subject = f"forge-bot: {asked.name} {answered[-1].answer}"
    before = next((commit.id for commit in run.tree.commits(run.state.base_commit) if commit.subject == subject), None)
    if before is None:
        return ""
    names = [f"{run.workspace.relative}/{file.name}" for file in asked.files if file.name == asked.files[0].name]
    return run.tree.diff(before, paths=names)
