"""One message of the bot: its text, its form, and the outcome of the invocation."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from forge_bot.interaction import markers
from forge_bot.interaction.folded_sections import Tone, alert
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import listed, say
from forge_bot.values import Frozen

Reaction = Literal["eyes", "rocket", "confused", "+1"]
"""The receipt on the comment that is answered: seen, done, not done, taken."""
_MOST_FILES = 5


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


def reply_of(
    table: str,
    occasion: str = "",
    reaction: Reaction = "+1",
    *,
    tone: Tone = "note",
    outcome: Outcome | None = None,
    **values: object,
) -> CommentReply:
    """Return the reply whose `headline` and `detail` stand in a table of sentences. The table is
    named like the occasion, unless one has several.
    """
    name = occasion or table.rpartition(".")[2].replace("_", "-")
    headline, detail = (say(f"{table}.{part}", **values) for part in ("headline", "detail"))
    return reply(name, headline, detail, tone=tone, reaction=reaction, outcome=outcome)


def refusal_of(
    table: str, *, tone: Tone = "note", outcome: Outcome | None = None, **values: object
) -> CommentReply:
    """Return the reply to what is not done, from a table of sentences."""
    return reply_of(table, "", "confused", tone=tone, outcome=outcome, **values)


def failure_of(
    table: str,
    occasion: str = "",
    *,
    outcome: Outcome = Outcome.FAILED,
    tone: Tone = "caution",
    **values: object,
) -> CommentReply:
    """Return the reply to something that went wrong, from a table of sentences."""
    return reply_of(table, occasion, "confused", tone=tone, outcome=outcome, **values)


def first_files(paths: Sequence[str]) -> str:
    """Return the first paths as code, and how many more there are."""
    named = [escape.code(path) for path in paths[:_MOST_FILES]]
    if (more := len(paths) - _MOST_FILES) > 0:
        named.append(say("words.more_files", count=more))
    return listed(named)
