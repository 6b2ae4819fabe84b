"""The facts that every text about a run is made from: its pipeline, its state and where its
documents can be read.
"""

from pydantic import Field

from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links, short
from forge_bot.prompts import escape
from forge_bot.values import Frozen, PhaseId, Severity, Verdict


class RunFacts(Frozen):
    """One look at a run. The same facts give the same bytes."""

    pipeline: Pipeline
    state: State
    links: Links
    commands: CommandNames = CommandNames()
    patches: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description=(
            "approved patches by name, with the workflow files in them that a person has to push"
        ),
    )

    def label(self, phase: PhaseId) -> str:
        """A phase as people read it."""
        return escape.plain(self.pipeline.phase(phase).label)


VERDICTS = {
    Verdict.APPROVE: "approved",
    Verdict.APPROVE_WITH_NOTES: "approved with notes",
    Verdict.REVISE: "asks for another version",
    Verdict.PASS: "passed",
    Verdict.PASS_WITH_NOTES: "passed with notes",
    Verdict.FAIL: "failed",
    Verdict.UNREADABLE: "verdict unreadable",
}

ANSWERS = {
    "approve": "approved",
    "reject": "sent back",
    "done": "done",
    "skip": "skipped",
    "abandon": "abandoned",
}

HEAVIEST_FIRST = tuple(Severity)


def decided(decision: Decision) -> str:
    """An answer that counted, in a few words."""
    return (
        f"{ANSWERS.get(decision.answer, escape.plain(decision.answer))} by"
        f" {escape.code(decision.by)}"
    )


def footer(facts: RunFacts, *, with_time: bool = True) -> str:
    """Small print: which run, and on GitHub the time, the log, and how to speak to the bot."""
    state, links = facts.state, facts.links
    if not links.repository:
        return f"<sub>run {escape.code(state.run)}</sub>"
    parts = [
        *([f"as of {state.updated_at:%Y-%m-%d %H:%M} UTC"] if with_time else []),
        f"documents at [{escape.code(short(links.commit))}]({links.folder})",
        *([f"[log]({links.job})"] if links.job else []),
        f"run {escape.code(state.run)}",
        f"{escape.code(facts.commands.say('help'))} says what you can tell me",
    ]
    return f"<sub>{' · '.join(parts)}</sub>"
