"""The facts that every text about a run is made from: its pipeline, its state and where its
documents can be read.
"""

from pydantic import Field

from forge_bot.engine.gates import AUTO, SCRIPT, UNASKED
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links, short
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.values import Frozen, PhaseId, Severity, Verdict


class RunFacts(Frozen):
    """The facts of a run at one time. The same facts give the same bytes."""

    pipeline: Pipeline
    state: State
    links: Links
    commands: CommandNames = CommandNames()
    record: str = Field(default="", description="a commit of the run's record, where it is known")
    patches: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description=(
            "approved patches by name, with the workflow files in them that a person has to push"
        ),
    )

    def label(self, phase: PhaseId) -> str:
        """A phase as people read it."""
        return escape.plain(self.pipeline.phase(phase).label)


_VERDICTS = {
    Verdict.APPROVE: "words.approved",
    Verdict.APPROVE_WITH_NOTES: "words.approved_with_notes",
    Verdict.REVISE: "words.asks_for_another_version",
    Verdict.PASS: "words.passed",
    Verdict.PASS_WITH_NOTES: "words.passed_with_notes",
    Verdict.FAIL: "words.failed",
    Verdict.UNREADABLE: "words.verdict_unreadable",
}

_ANSWERS = {
    "approve": "words.approved",
    "reject": "words.sent_back",
    "answer": "words.answered",
    "retry": "words.sent_back",
    "update": "words.updated",
    "change": "words.asked_for_more",
    "done": "words.done",
    "skip": "words.skipped",
    "abandon": "words.abandoned",
}

HEAVIEST_FIRST = tuple(Severity)


def verdict_words(verdict: Verdict | None) -> str:
    """Return a verdict in a few words; empty without one."""
    return say(_VERDICTS[verdict]) if verdict is not None else ""


def decided(decision: Decision) -> str:
    """An answer that counted, in a few words."""
    named = _ANSWERS.get(decision.answer)
    answer = say(named) if named is not None else escape.plain(decision.answer)
    if decision.via == UNASKED:
        return say("words.answered_by_nobody", answer=answer)
    if decision.via == AUTO:
        return say("words.answered_by_auto", answer=answer)
    if decision.via == SCRIPT:
        return say("words.answered_by_script", answer=answer, by=escape.code(decision.by))
    return say("words.answered_by", answer=answer, by=escape.code(decision.by))


def footer(facts: RunFacts, *, with_time: bool = True) -> str:
    """Small print: which run, and on GitHub the time, the log, and how to speak to the bot."""
    state, links = facts.state, facts.links
    if not links.repository:
        return f"<sub>{say('words.run', run=escape.code(state.run))}</sub>"
    commit = escape.code(short(links.commit))
    parts = [
        *([say("words.as_of", time=state.updated_at)] if with_time else []),
        *([say("words.documents_at", commit=commit, folder=links.folder)] if links.commit else []),
        *([f"[{say('words.log')}]({links.job})"] if links.job else []),
        say("words.run", run=escape.code(state.run)),
        say("words.help_says", help=escape.code(facts.commands.say("help"))),
    ]
    return f"<sub>{' · '.join(parts)}</sub>"
