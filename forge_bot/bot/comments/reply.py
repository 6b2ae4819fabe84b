"""One message of the bot: its text, its form, and the outcome of the invocation.

A reply is a table of `replies.toml`: its `headline` and `detail` are Jinja templates, and `tone`,
`reaction` and `outcome` say how it is given.
"""

import os
from collections.abc import Callable, Sequence
from functools import cache

from jinja2 import Environment, FunctionLoader, StrictUndefined
from pydantic import Field

from forge_bot.github_api.pygithub import Reaction
from forge_bot.interaction import markers
from forge_bot.interaction.fit_comment import Tone, alert
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import VARIABLE, find_sentence, listed
from forge_bot.text_format import code_block
from forge_bot.values import Frozen

_MOST_NAMES = 5
_FORMS = ("headline", "detail", "tone", "reaction", "outcome")


class Markdown(str):
    """Words that are Markdown already. Any other value in a reply is shown as plain words."""

    __slots__ = ()


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
    templates = _templates(os.environ.get(VARIABLE, ""))
    words = {form: _rendered(templates, f"{name}.{form}", values) for form in _FORMS}
    outcome = words.pop("outcome")
    return CommentReply.model_validate(
        {form: text for form, text in words.items() if text}
        | {
            "occasion": name.replace("_", "-"),
            "outcome": Outcome[outcome.upper()] if outcome else None,
        }
    )


def _rendered(templates: Environment, name: str, values: dict[str, object]) -> str:
    return templates.get_template(name).render(values).strip()


@cache
def _templates(_language: str) -> Environment:
    """Return the templates of one language."""
    # The templates are our own; what is Markdown escapes what is put into it.
    templates = Environment(  # noqa: S701
        loader=FunctionLoader(_template),
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    filters: dict[str, Callable[..., str]] = {
        "as_is": Markdown,
        "plain": _markdown(escape.plain),
        "line": _markdown(escape.line),
        "code": _markdown(escape.code),
        "codes": _markdown(_codes),
        "block": _markdown(code_block),
        "fenced": _markdown(escape.fenced),
    }
    templates.filters.update(filters)
    return templates


def _template(name: str) -> str:
    try:
        return str(find_sentence(f"replies.{name}")[1])
    except KeyError:
        return ""


def _markdown(escaped: Callable[..., str]) -> Callable[..., Markdown]:
    return lambda *given: Markdown(escaped(*given))


def _harmless(value: object) -> str:
    return value if isinstance(value, Markdown) else escape.plain(str(value))


def _codes(names: Sequence[str], row: str = "words.and") -> str:
    """Return the first names as code, and how many more there are."""
    shown = [escape.code(name, 100) for name in names]
    return listed(shown, row, _MOST_NAMES)
