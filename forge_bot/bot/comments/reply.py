"""One message of the bot: its text, its form, and the outcome of the invocation.

A reply is a table of `replies.toml`: its `headline` and `detail` are Jinja templates, and `tone`,
`reaction` and `outcome` say how it is given.
"""

from pydantic import Field

from forge_bot.github_api.pygithub import Reaction
from forge_bot.interaction import markers
from forge_bot.interaction.fit_comment import Tone, alert
from forge_bot.interaction.markdown_templates import render
from forge_bot.runs.invocation_end import Outcome
from forge_bot.values import Frozen

_FORMS = ("headline", "detail", "tone", "reaction", "outcome")


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
