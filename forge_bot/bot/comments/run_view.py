"""The view of a run that every comment is made from."""

from pydantic import Field

from forge_bot.bot.comments.reply import CommentReply, Markdown
from forge_bot.github_api.types import PullState
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.runs.question import Question


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
    removed: str = Field(
        default="", description="the sentences on what no model sees of the request"
    )

    pull_state: PullState = Field(
        default=PullState.OPEN, description="of the pull request, where somebody asked for it"
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
