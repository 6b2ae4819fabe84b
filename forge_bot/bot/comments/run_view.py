"""What every comment is made from: one frozen look at a run."""

from pydantic import Field

from forge_bot.bot.comments.command_names import CommandNames
from forge_bot.bot.comments.commit_links import Links
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.values import Frozen, PhaseId, Severity, Verdict


class RunView(Frozen):
    """One look at a run. The same view gives the same bytes."""

    pipeline: Pipeline
    state: State
    links: Links
    commands: CommandNames = CommandNames()
    question: Question | None = Field(default=None, description="what is open, as every face gets it")
    estimate: str = Field(default="", description="plain words, for example `8 to 15 minutes, $0.40 to $0.90`")
    trouble: CommentReply | None = Field(default=None, description="what stands in the way of going on")
    removed: str = Field(default="", description="the sentence on hidden text that was taken out of the request")

    patches: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="approved patches by name, with the workflow files in them that a person has to push"
    )

    def label(self, phase: PhaseId) -> str:
        """A phase as people read it."""
        return escape.plain(self.pipeline.phase(phase).label)

    @property
    def branch(self) -> str:
        """The run's branch as a link."""
        return f"[{escape.code(self.state.branch)}]({self.links.branch(self.state.branch)})"


VERDICTS = {
    Verdict.APPROVE: "approved",
    Verdict.APPROVE_WITH_NOTES: "approved with notes",
    Verdict.REVISE: "asks for another version",
    Verdict.PASS: "passed",
    Verdict.PASS_WITH_NOTES: "passed with notes",
    Verdict.FAIL: "failed",
    Verdict.UNREADABLE: "verdict unreadable",
}

ANSWERS = {"approve": "approved", "reject": "sent back", "done": "done", "skip": "skipped", "abandon": "abandoned"}

HEAVIEST_FIRST = tuple(Severity)


def decided(decision: Decision) -> str:
    """An answer that counted, in a few words."""
    return f"{ANSWERS.get(decision.answer, escape.plain(decision.answer))} by {escape.code(decision.by)}"
