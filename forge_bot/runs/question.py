"""The open question as data: the decision, the version that it is bound to, and the effect of each
answer.

Faces render it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import unified_diff
from fnmatch import fnmatch
from functools import partial
from typing import Literal
from uuid import uuid4

from pydantic import ValidationError

from forge_bot.artifacts.read_artifact import (
    MOST_CHARACTERS,
    numbered_requirements,
    with_requirement_words,
    without_requirement_numbers,
    words_of_numbers,
)
from forge_bot.engine import Checkpoint, HumanGate, PersonAction
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.phases import DRAFT, AgentPhase
from forge_bot.engine.reports import Answer, GateShown
from forge_bot.engine.state import Reason, State
from forge_bot.errors import GitFailed
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.agent_work.artifact_contract import listed_requirements
from forge_bot.runs.question_overview import Overview, overview
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import approval_case
from forge_bot.sentences import listed, say
from forge_bot.settings.approvals import needs_of, read_code_owners
from forge_bot.store.run_folder import STATE
from forge_bot.text_format import without_environment
from forge_bot.values import Finding, Frozen, unless_empty

_REQUEST = "request.md"
_LINES_COMPARED = 5_000
_SHORT_LINES, _SHORT_CHARACTERS = 40, 2_500

_CHANGED = re.compile(r"^\+\+\+ (?:b/|\"b/)(.+?)\"?\s*$", re.MULTILINE)


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
    requirements: tuple[str, ...] = unless_empty(
        (), "what the numbers in risks and findings stand for, as Markdown"
    )
    overview: Overview = Overview()
    documents: tuple[ShownDocument, ...] = ()
    difference: str = ""
    in_thread: str = unless_empty("", "who has to approve in a thread, by rules on approvals")

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


_DECISIONS: dict[Reason | None, tuple[str, str]] = {
    None: ("question.approve_what_is_shown", "question.go_on_with_this_version"),
    Reason.ROUNDS_EXHAUSTED: ("question.rounds_are_used_up", "question.take_it_as_it_is"),
    Reason.INVALID_ARTIFACT: ("question.document_lacks_parts", "question.take_it_as_it_is"),
    Reason.UNREADABLE_VERDICT: ("question.verdict_cannot_be_read", "question.count_it_as_a_yes"),
    Reason.VERIFICATION_RED: ("question.verification_is_red", "question.go_on_red"),
    Reason.PROTECTED_PATHS: ("question.protected_paths", "question.apply_this_patch"),
    Reason.BUDGET: ("question.budget_is_used_up", "question.allow_as_much_again"),
    Reason.AGENT_FAILED: ("question.agent_gave_no_answer", ""),
    Reason.SETUP_FAILED: ("question.setup_failed", "question.go_on_without_it"),
    Reason.BASELINE: ("question.commands_tell_nothing", "question.judge_without_them"),
    Reason.NOTHING_TO_DO: ("question.nothing_is_to_be_done", "question.end_without_a_change"),
    Reason.UNVERIFIED_APPROVAL: ("question.approver_is_unknown", "question.approve_it_here"),
    Reason.TOOL_APPROVAL: ("question.agent_asks_for_calls", "question.make_these_calls"),
    Reason.OUTCOME_UNKNOWN: ("question.call_without_answer", "question.take_it_as_made"),
    Reason.DOUBTFUL_EVIDENCE: ("question.evidence_is_doubtful", "question.go_on_with_doubts"),
    Reason.CHECKS_RED: ("question.checks_are_red", "question.leave_the_pull_request"),
}
"""The sentences of a decision and of its yes, by the reason for which a person is asked."""
_REJECTIONS: dict[Reason | None, str] = {
    Reason.BASELINE: "question.run_them_once_more",
    Reason.NOTHING_TO_DO: "question.analyse_once_more",
    Reason.TOOL_APPROVAL: "question.make_no_call",
    Reason.OUTCOME_UNKNOWN: "question.it_was_not_made",
}
"""The sentence of a no, where it is another than the usual one."""


def open_question(run: Run, *, agents_read_files: bool = False) -> Question | None:
    """The question that is open, or None.

    `agents_read_files`: agents of a client read the documents themselves, so the request too may
    tell them what no person is shown. Our own prompts have the request without such text.
    """
    match run.action:
        case Checkpoint() as asked:
            return _checkpoint(run, asked, agents_read_files=agents_read_files)
        case HumanGate() as asked:
            return _to_do(run, asked)
        case _:
            return None


def gate_shown(run: Run, action: PersonAction, via: str) -> GateShown | None:
    """The report that this version of the question is shown now; None if it was the last shown."""
    if not isinstance(action, Checkpoint):
        return None
    before = run.state.gate.shown if run.state.gate is not None else ()
    if before and before[-1].digest == action.digest:
        return None
    key = f"shown-{uuid4().hex}"
    return GateShown(key=key, at=run.now(), gate=action.name, digest=action.digest, via=via)


def _checkpoint(run: Run, asked: Checkpoint, *, agents_read_files: bool) -> Question:
    persons = {one.number: one.text for one in person_requirements(run.state)}
    requirements = listed_requirements(run) | persons
    spoken = partial(with_requirement_words, requirements=requirements)
    documents = tuple(
        ShownDocument(name=file.name, text=_text(run, file.name, requirements), blob=file.blob)
        for file in asked.files
    )
    is_usual = asked.reason is None and "approve" in asked.options
    seen = overview(run, asked) if is_usual else Overview()
    what = run.state.title, _meaning(run, asked)[0], spoken(asked.subject)
    findings = asked.findings or _reviewed(run, asked)
    numbered = (*asked.risks, *seen.outline.risks, *(one.description for one in findings))
    data = QuestionData(
        gate=asked.name,
        decision=tuple(filter(None, what)),
        digest=asked.digest,
        risks=(
            *asked.risks,
            *_setup_of_patch(run),
            *_weakened_by_draft(run, asked),
            *_hidden(run, documents, but=() if agents_read_files else (_REQUEST,)),
        ),
        findings=findings,
        requirements=words_of_numbers(map(without_requirement_numbers, numbered), requirements),
        overview=seen.replace(outline=seen.outline.reworded(spoken)),
        documents=documents,
        difference=difference(run, asked),
        in_thread=_approvers_in_thread(run),
    )
    of_agent = Answer.ANSWER in asked.options
    label = run.pipeline.phase(asked.name).label
    if DRAFT in {file.name for file in asked.files}:
        label = say("question.with_draft", label=label)
    title = say("question.needs_your_answer") if of_agent else label
    return Question(title=title, data=data, actions=_choices(run, asked, seen))


def _approvers_in_thread(run: Run) -> str:
    asked = approval_case(run) if run.config.approvals else None
    if asked is None:
        return ""
    needs = needs_of(run.config.approvals, asked, read_code_owners(run.repository.root))
    said = [
        say(
            "question.so_many_of",
            count=one.count,
            names=listed(one.names) or say("words.with_admin", count=one.count),
        )
        for one in needs
    ]
    return say("question.takes_in_a_thread", needs=listed(said)) if needs else ""


def _choices(run: Run, asked: Checkpoint, seen: Overview) -> tuple[Choice, ...]:
    """Return the answers with their effects."""
    _, approve, reject = _meaning(run, asked)
    if defaults := [
        f"{decision.number}{decision.default.letter}" for decision in seen.outline.decisions
    ]:
        approve = say("question.and_choices", effect=approve, choices=listed(defaults))
    effects = {
        "approve": approve,
        "reject": reject,
        "answer": say("question.analyse_with_your_answer"),
        "post": say("question.post_this_summary"),
        "skip": say("question.post_nothing"),
        "abandon": say("question.end_the_run"),
    }
    return tuple(Choice(answer=name, effect=effects[name]) for name in (*asked.options, "abandon"))


def _hidden(
    run: Run, documents: tuple[ShownDocument, ...], *, but: tuple[str, ...]
) -> Iterator[str]:
    """Yield a risk for each document of the run with text that is not shown, whether the question
    shows it or not, but for some.
    """
    for document in documents:
        if document.hidden:
            yield say("question.hidden_text_is_shown", name=document.name, what=document.hidden)
    shown = {*but, *(document.name for document in documents)}
    for name in run.state.artifacts:
        raw = run.workspace.read_bytes(name) if name.endswith(".md") and name not in shown else None
        if raw is not None and (unseen := what_is_hidden(raw.decode("utf-8", "replace"))):
            path = f"{run.workspace.relative}/{name}"
            yield say("question.hidden_text_elsewhere", name=name, what=unseen, path=path)


def _text(run: Run, name: str, requirements: Mapping[str, str]) -> str:
    """Return a document for the question: all of it, or its beginning with a mark of the cut. What
    only agents know is told as people know it: the words of a requirement that another document
    numbers, and programs of the environment by their names.
    """
    text = run.workspace.read(name)
    if len(text) > MOST_CHARACTERS:
        path = f"{run.workspace.relative}/{name}"
        more = say("question.more_characters", count=len(text) - MOST_CHARACTERS, path=path)
        text = f"{text[:MOST_CHARACTERS]}\n\n[{more}]\n"
    if not name.endswith(".md"):
        return text
    own = numbered_requirements(text)
    others = {number: words for number, words in requirements.items() if number not in own}
    return with_requirement_words(without_environment(text), others)


def _meaning(run: Run, asked: Checkpoint) -> tuple[str, str, str]:
    """Return the decision, and the effects of yes and no."""
    if "post" in asked.options:
        return say("question.post_the_summary"), "", ""
    if asked.reason is Reason.ACTION_FAILED:
        step = run.pipeline.phase(asked.resume_at)
        return (
            say("question.could_not_be_done", step=step.label),
            say("question.go_on_without_document", document=step.writes)
            if isinstance(step, AgentPhase)
            else say("question.leave_it_out"),
            say("question.try_once_more", step=step.label),
        )
    if Answer.ANSWER in asked.options:
        return say("question.agent_asks_you"), say("question.end_without_a_change"), ""
    what, approve = _DECISIONS[asked.reason]
    reject = _REJECTIONS.get(asked.reason, "question.redo_it")
    return say(what), say(approve) if approve else "", say(reject)


def _reviewed(run: Run, asked: Checkpoint) -> tuple[Finding, ...]:
    """Return the findings of reviews among the shown files."""
    records = (run.state.artifacts.get(file.name) for file in asked.files)
    return tuple(finding for record in records if record is not None for finding in record.findings)


def _to_do(run: Run, asked: HumanGate) -> Question:
    task = run.state.task(asked.task)
    where = say(
        "question.task_of_run", task=asked.task, title=run.state.title, branch=run.state.branch
    )
    criteria = task.spec.acceptance if task is not None else ()
    done_when = tuple(say("question.done_when", what=criterion) for criterion in criteria)
    effects = {
        "done": say("question.you_did_it"),
        "skip": say("question.go_on_without_it"),
        "abandon": say("question.end_the_run"),
    }
    return Question(
        title=say("question.only_a_person_can_do_it"),
        data=QuestionData(gate=asked.phase, decision=(asked.title, where, *done_when), digest=""),
        actions=tuple(Choice(answer=option, effect=effects[option]) for option in asked.options),
    )


def difference(run: Run, asked: Checkpoint) -> str:
    """Return the changes of the shown files since the version shown before; at first empty."""
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
    decisions = state.decisions if asked.reason is None else ()
    answered = [decision.digest for decision in decisions if decision.gate == asked.name]
    seen = (*answered, *(showing.digest for showing in showings))
    return next((digest for digest in reversed(seen) if digest and digest != asked.digest), "")


def _commit_of(run: Run, asked: Checkpoint, digest: str) -> str | None:
    """The newest commit at which a version of the question was open."""
    path = f"{run.workspace.relative}/{STATE}"
    for commit in run.tree.commits(run.state.base_commit):
        with suppress(ValidationError):
            gate = State.model_validate_json(run.repository.read(commit.id, path) or b"").gate
            if gate is not None and gate.name == asked.name and gate.digest == digest:
                return commit.id
    return None


def _weakened_by_draft(run: Run, asked: Checkpoint) -> list[str]:
    """Return the tests that a draft deletes, skips or weakens and its design does not name, as
    risks.
    """
    if DRAFT not in {file.name for file in asked.files}:
        return []
    from forge_bot.git.commit_objects import commit_of_patch
    from forge_bot.runs.edit_checks.proof_by_tests import weakened_in

    base, patch = run.tree.head().commit, run.workspace.read_bytes(DRAFT) or b""
    with suppress(GitFailed):
        made = commit_of_patch(run.repository.root, base, patch)
        weakened = weakened_in(run, base, made).unnamed
        return [say("question.weakens", name=DRAFT, what=one) for one in weakened]
    return []


def _setup_of_patch(run: Run) -> Iterator[str]:
    """Yield the setup commands that run again with network after the patch of the open question was
    approved, as risks.
    """
    gate = run.state.gate
    if gate is None or gate.reason is not Reason.PROTECTED_PATHS:
        return
    from forge_bot.runs.project_commands.commit_profile import profile_at
    from forge_bot.runs.project_commands.installation import DEPENDENCY_FILES
    from forge_bot.runs.project_commands.setup_credentials import runs_nothing

    patches = (run.workspace.read(file.name) for file in gate.files if file.name.endswith(".patch"))
    names = {path.rpartition("/")[2] for patch in patches for path in _CHANGED.findall(patch)}
    if not any(fnmatch(name, known) for name in names for known in DEPENDENCY_FILES):
        return
    commit, scope = run.state.base_commit, run.state.flags.scope
    for command in profile_at(run.repository, commit, run.config, scope).commands.setup:
        if not runs_nothing(command.argv):
            yield say("question.setup_runs_again", command=" ".join(command.argv))
