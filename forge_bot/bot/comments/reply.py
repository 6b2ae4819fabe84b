"""Material of comments: the facts of a run; one message of the bot, with its text, its form, and
the outcome of the invocation; and the first part of every comment, which says where the run stands
and whether somebody has to act.

A reply is a table of `replies.toml`: its `headline` and `detail` are Jinja templates, and `tone`,
`reaction` and `outcome` say how it is given.
"""

import re
from collections.abc import Callable

from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.phases import GatePhase, PublishPhase, TaskReviewPhase, TasksPhase
from forge_bot.engine.process_documents import UNNEEDED
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import OpenGate, Reason, State
from forge_bot.forge import WORKFLOWS, number_of
from forge_bot.forge.types import Reaction
from forge_bot.interaction import markers
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Tone, alert
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import say
from forge_bot.store.run_folder import UnreadComment
from forge_bot.values import Frozen, NothingToDo, RunStatus, TaskId

_FORMS = ("headline", "detail", "tone", "reaction", "outcome")


class CommentReply(Frozen):
    """Words for one occasion, complete and harmless, with the way out in them."""

    occasion: str
    headline: str
    """One sentence; Markdown."""
    detail: str = ""
    """What to know and what to do; Markdown, may have paragraphs."""
    tone: Tone = "note"
    reaction: Reaction = "+1"
    seconds: int = 0
    """How long is to be waited, where that is known."""
    outcome: Outcome | None = None
    """Set where this ends the invocation: state, comment and exit code agree."""

    @property
    def text(self) -> str:
        """The words, for a thread, a summary or a log."""
        return f"**{self.headline}**" + (f"\n\n{self.detail}" if self.detail else "")

    def comment(self, to: str = "") -> str:
        """A comment of its own; `to` names the comment it answers."""
        return f"{self.text}\n\n{markers.reply(self.occasion, to)}\n"

    def alert(self) -> str:
        """A coloured box, for the top of another comment."""
        return alert(self.tone, self.text)


def reply(name: str, /, **values: object) -> CommentReply:
    """Return the reply of a table of `replies.toml`, with these values in its words."""
    words: dict[str, str] = {form: render(f"replies.{name}.{form}", **values) for form in _FORMS}
    outcome = words.pop("outcome")
    return CommentReply.model_validate(
        {form: text for form, text in words.items() if text}
        | {
            "occasion": name.replace("_", "-"),
            "outcome": Outcome[outcome.upper()] if outcome else None,
        }
    )


_PATH = re.compile(r"^(?:\+\+\+ b/|--- a/|rename (?:from|to) )(?P<path>.+)$", re.MULTILINE)


class RunView(RunFacts):
    """The facts of a run, with the open question and the current problem."""

    question: Question | None = None
    """What is open, as every face gets it."""
    estimate: str = ""
    """Plain words, for example `8 to 15 minutes, $0.40 to $0.90`."""
    trouble: CommentReply | None = None
    """What stands in the way of going on."""
    by_hand: tuple[str, ...] = ()
    """Workflow files of the patch that waits, which only people can push."""
    awaited: tuple[str, ...] = ()
    """Who has to approve yet by the rules of `approvals`, as Markdown."""
    removed: str = ""
    """The sentences on what no model sees of the request."""
    unread: tuple[UnreadComment, ...] = ()
    """Comments that are no part of the request."""
    target: str = ""
    """The branch that the change goes to, where it is not the base branch."""

    def compare(self, branch: str) -> str:
        """The page with the change of a branch."""
        return self.links.compare(self.target or self.state.base_branch, branch)

    @property
    def branch(self) -> Markdown:
        """The run's branch, as a link to its newest commit."""
        return Markdown(f"[{escape.code(self.state.branch)}]({self.links.tree})")

    @property
    def offered(self) -> str:
        """The branch that is offered for merge."""
        return self.state.pull_request_branch or self.state.branch


def patches_by_hand(
    state: State, read: Callable[[str], bytes | None]
) -> dict[str, tuple[str, ...]]:
    """Return the approved patches that have workflow files in them, with those files; `read` gives
    a document of the run.
    """
    approved = [
        held_patch_name(decision.task or TaskId(""))
        for decision in state.decisions
        if decision.reason is Reason.PROTECTED_PATHS and decision.answer == Answer.APPROVE
    ]
    workflows = {name: _workflows(read(name)) for name in approved}
    return {name: paths for name, paths in workflows.items() if paths}


def workflows_that_wait(state: State, read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """Return the workflow files of the patch that a person is asked about now."""
    gate = state.gate
    if gate is None or gate.reason is not Reason.PROTECTED_PATHS:
        return ()
    return _workflows(read(held_patch_name(gate.task or TaskId(""))))


def _workflows(patch: bytes | None) -> tuple[str, ...]:
    text = (patch or b"").decode("utf-8", "replace")
    paths = {match["path"] for match in _PATH.finditer(text)}
    return tuple(sorted(path for path in paths if path.startswith(f"{WORKFLOWS}/")))


def next_move(view: RunView) -> CommentReply:
    """Return the next step: the end, else a problem, else a question, else the work."""
    match view.state.current_phase_status:
        case RunStatus.COMPLETED:
            return _completed(view)
        case RunStatus.ABANDONED:
            return _abandoned(view)
        case RunStatus.IN_PROGRESS | RunStatus.AWAITING_HUMAN:
            if view.trouble is not None:
                return _in_trouble(view, view.trouble)
            return _asked(view, view.state.gate) if view.state.gate is not None else _working(view)


def _in_trouble(view: RunView, trouble: CommentReply) -> CommentReply:
    """Return the problem, followed by the question that is still open."""
    if view.state.gate is None:
        return trouble
    asked = _asked(view, view.state.gate)
    return trouble.replace(detail=f"{trouble.detail}\n\n**{asked.headline}** {asked.detail}")


def pull_request_link(view: RunView) -> Markdown:
    """Return the pull request, at the beginning of a sentence or cell, as a link with its number if
    the address has one.
    """
    address = view.state.pull_request
    if number := number_of(address):
        return Markdown(f"[{say('words.pull_request_begins', number=number)}]({address})")
    return Markdown(f"[{say('words.the_pull_request_begins')}]({address})")


def _completed(view: RunView) -> CommentReply:
    state, verification = view.state, view.state.verification
    if state.nothing_to_do is not None:
        return _unneeded(view, state.nothing_to_do)
    checked = verification.requirements if verification is not None else None
    return reply(
        "completed",
        pull_request=pull_request_link(view),
        opened=bool(state.pull_request),
        offered=view.offered,
        compare=view.compare(view.offered),
        red=verification is not None and verification.red,
        notes=checked.said if checked is not None else (),
    )


def _unneeded(view: RunView, reason: NothingToDo) -> CommentReply:
    """Return the end of a run that changed nothing, with its evidence."""
    summary = view.pipeline.summary
    return reply(
        "unneeded",
        why=Markdown(UNNEEDED[reason.why]),
        evidence=Markdown(escape.document(reason.evidence).text),
        summary=Markdown(view.links.named(summary)) if summary else "",
    ).replace(occasion="completed")


def _abandoned(view: RunView) -> CommentReply:
    last = view.state.decisions[-1] if view.state.decisions else None
    by = last.by if last is not None and last.answer == "abandon" else ""
    return reply("abandoned", branch=view.branch, by=by, commands=view.commands)


# -- a question
# --------------------------------------------------------------------------------------------------


def _asked(view: RunView, gate: OpenGate) -> CommentReply:
    begin = asked_for(view, gate)
    return reply(
        "waiting",
        commands=view.commands,
        request=Markdown(f"{begin[:1].lower()}{begin[1:]}"),
        exceptional=gate.reason is not None,
        over_budget=gate.reason is Reason.BUDGET,
        more=view.commands.raise_budget(view.state.budget),
        subject=gate.subject,
        question=view.links.question,
        options=gate.options,
        digest=short(gate.digest),
    )


def asked_for(view: RunView, gate: OpenGate) -> str:
    """Return the request to a person, in one sentence."""
    if "done" in gate.options:
        return say("progress.asked_for.person")
    if gate.is_question_of_agent:
        return say("question.needs_your_answer")
    phase = view.pipeline.phase(gate.name)
    if isinstance(phase, GatePhase):
        names = [file.name for file in gate.files] or list(phase.shows)
        return say("progress.asked_for.reading", document=escape.code(names[0]))
    decision = view.question.data.decision if view.question is not None else ()
    sentence = next(iter(decision[1:]), "")
    return escape.line(sentence) if sentence else say("progress.asked_for.decision")


# -- the work
# --------------------------------------------------------------------------------------------------


def _working(view: RunView) -> CommentReply:
    state = view.state
    phase = view.pipeline.phase(state.current_phase)
    by_task = isinstance(phase, TasksPhase | TaskReviewPhase)
    return reply(
        "working",
        label=Markdown(view.label(phase.id)),
        delivered=isinstance(phase, PublishPhase),
        settled=sum(task.settled for task in state.tasks),
        count=len(state.tasks) if by_task else 0,
    )


def standing(view: RunView) -> Markdown:
    """Return the state of the run in one or two sentences."""
    move = next_move(view)
    return Markdown(f"{move.headline} {move.detail.partition(chr(10))[0]}".strip())
