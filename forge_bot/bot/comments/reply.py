"""Material of comments: the facts of a run, and one message of the bot, with its text, its
form, and the outcome of the invocation.

A reply is a table of `replies.toml`: its `headline` and `detail` are Jinja templates, and `tone`,
`reaction` and `outcome` say how it is given.
"""

import re
from collections.abc import Callable, Iterator

from pydantic import Field

from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import Reason, State
from forge_bot.gate.github_names import WORKFLOWS
from forge_bot.github_api.types import Reaction
from forge_bot.interaction import markers
from forge_bot.interaction.fit_comment import Tone, alert
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.this_process import Outcome
from forge_bot.store import UnreadComment
from forge_bot.values import Frozen, TaskId

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


_PATH = re.compile(r"^(?:\+\+\+ b/|--- a/|rename (?:from|to) )(?P<path>.+)$", re.MULTILINE)


class RunView(RunFacts):
    """The facts of a run, with the open question and the current problem."""

    question: Question | None = Field(
        default=None, description="what is open, as every face gets it"
    )
    estimate: str = Field(
        default="", description="plain words, for example `8 to 15 minutes, $0.40 to $0.90`"
    )
    trouble: CommentReply | None = Field(
        default=None, description="what stands in the way of going on"
    )
    by_hand: tuple[str, ...] = Field(
        default=(), description="workflow files of the patch that waits, which only people can push"
    )
    awaited: tuple[str, ...] = Field(
        default=(), description="who has to approve yet by the rules of `approvals`, as Markdown"
    )
    removed: str = Field(
        default="", description="the sentences on what no model sees of the request"
    )

    unread: tuple[UnreadComment, ...] = Field(
        default=(), description="comments that are no part of the request"
    )
    target: str = Field(
        default="",
        description="the branch that the change goes to, where it is not the base branch",
    )

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


def _approved_patches(state: State) -> Iterator[str]:
    """Yield the names of the patches that were approved, in the order of the decisions."""
    for decision in state.decisions:
        if decision.reason is Reason.PROTECTED_PATHS and decision.answer == Answer.APPROVE:
            yield held_patch_name(decision.task or TaskId(""))


def patches_by_hand(
    state: State, read: Callable[[str], bytes | None]
) -> dict[str, tuple[str, ...]]:
    """Return the approved patches that have workflow files in them, with those files; `read` gives
    a document of the run.
    """
    workflows = {name: _workflows(read(name)) for name in _approved_patches(state)}
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
