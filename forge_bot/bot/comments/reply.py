"""One message of the bot: its text, its form, and the outcome of the invocation."""

from typing import Literal

from pydantic import Field

from forge_bot.interaction import markers
from forge_bot.interaction.folded_sections import Tone, alert
from forge_bot.runs.outcome import Outcome
from forge_bot.values import Frozen

Reaction = Literal["eyes", "rocket", "confused", "+1"]
"""The receipt on the comment that is answered: seen, done, not done, taken."""


class CommentReply(Frozen):
    """Words for one occasion, complete and harmless, with the way out in them."""

    occasion: str
    headline: str = Field(description="one sentence; Markdown")
    detail: str = Field(
        default="", description="what to know and what to do; Markdown, may have paragraphs"
    )
    tone: Tone = "note"
    reaction: Reaction = "+1"
    seconds: int = Field(default=0, description="how long is to be waited, where that is known")
    outcome: Outcome | None = Field(
        default=None,
        description="set where this ends the invocation: state, comment and exit code agree",
    )

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


def reply(
    occasion: str,
    headline: str,
    detail: str = "",
    *,
    tone: Tone = "note",
    reaction: Reaction = "+1",
    outcome: Outcome | None = None,
) -> CommentReply:
    """Return the words for one occasion."""
    return CommentReply(
        occasion=occasion,
        headline=headline,
        detail=detail,
        tone=tone,
        reaction=reaction,
        outcome=outcome,
    )


def failure_reply(
    occasion: str,
    headline: str,
    detail: str,
    *,
    outcome: Outcome = Outcome.FAILED,
    tone: Tone = "caution",
) -> CommentReply:
    """Return the reply to something that went wrong."""
    return reply(occasion, headline, detail, tone=tone, reaction="confused", outcome=outcome)
