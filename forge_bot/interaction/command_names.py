"""The commands of the bot as this repository writes them: with the prefix that is
configured, short where that is allowed.
"""

from pydantic import Field

from forge_bot.engine.budget import Budget
from forge_bot.interaction.commit_links import short
from forge_bot.sentences import say
from forge_bot.values import Frozen

SHORT = frozenset({"approve", "reject", "answer", "done", "skip", "abandon", "ask"})
"""Answers to a question, and asking something first: shown without the prefix. The others are shown
with it, since other bots listen too."""


class CommandNames(Frozen):
    """The spelling of commands here."""

    prefix: str = Field(default="/forge", pattern=r"^[/@!.][A-Za-z][A-Za-z0-9_-]*$")
    short: bool = Field(default=True, description="whether answers count without the prefix")
    repeat: str = Field(
        default="",
        description="what has to be said once more, where that is not a retry of the run",
    )
    by_timer: bool = Field(
        default=False, description="whether what goes away by itself is tried again by itself"
    )

    woken: bool = Field(
        default=False, description="whether the scheduled workflow lets paused runs go on"
    )
    asks: bool = Field(default=True, description="whether a model is there to answer a question")

    @property
    def again(self) -> str:
        """Return the command that tries again."""
        return self.repeat or self.say("retry")

    def say(self, word: str, *rest: str) -> str:
        """The command as somebody types it."""
        begin = f"/{word}" if self.short and word in SHORT else f"{self.prefix} {word}"
        return " ".join([begin, *rest])

    def raise_budget(self, budget: Budget) -> str:
        """The command that allows more, by example: of the limit that is nearer to its end."""
        cap, most = budget.cap, budget.token_cap
        tokens = most is not None and (cap is None or budget.tokens * cap > budget.spent * most)
        return self.say("continue", "200000 tokens") if tokens else self.form("continue")

    def form(self, word: str, digest: str = "") -> str:
        """The command with what goes with it: the version that waits, or an example."""
        notes = f"<{say('words.what_should_be_different')}>"
        rest = {
            "approve": short(digest) or "3f9c2a1",
            "reject": notes,
            "answer": f"<{say('words.your_answer')}>",
            "retry": f"phase-3 {notes}",
            "continue": "+$5",
            "ask": f"<{say('words.your_question')}>",
        }
        return self.say(word, *filter(None, [rest.get(word)]))
