"""Answers to what people say in the thread: one constructor for each occasion, each with the way
out.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.next_step import next_move, pull_request_link
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import facts
from forge_bot.engine.state import Decision, OpenGate
from forge_bot.errors import ForgeError
from forge_bot.gate.help import help_text
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import compose
from forge_bot.interaction.folded_sections import Paper, papers
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.interaction.run_facts import decided
from forge_bot.prompts import escape
from forge_bot.remedies import ShowStatus
from forge_bot.runs.steps.finding_issues import ISSUES, IssueResult
from forge_bot.sentences import listed
from forge_bot.values import PhaseId
from forge_bot.wording import several


def no_run(commands: CommandNames, *, label: str) -> CommentReply:
    """A command where nothing was begun."""
    begin = (
        f"Put the label {escape.code(label)} on this issue, or say {escape.code(commands.prefix)},"
        " and I will begin."
    )
    return CommentReply(
        occasion="no-run", headline="No run has begun here yet.", detail=begin, reaction="confused"
    )


def already_running(view: RunView) -> CommentReply:
    """A start where a run is under way."""
    detail = (
        f"It is on {view.branch}: {_now(view)} To begin anew, end it first with"
        f" `{view.commands.say('abandon')}`."
    )
    return CommentReply(
        occasion="already-running",
        headline="A run for this issue is under way already.",
        detail=detail,
        reaction="confused",
    )


def ended_already(view: RunView) -> CommentReply:
    """A command to a run that is over."""
    detail = (
        f"{next_move(view).text}\n\nTo begin another one, put the label on again or say"
        f" {escape.code(view.commands.prefix)}."
    )
    return CommentReply(
        occasion="ended-already",
        headline="This run is over, so nothing was changed.",
        detail=detail,
        reaction="confused",
    )


# -- answers that do not count
# --------------------------------------------------------------------------------------------------


def nothing_to_answer(view: RunView, *, answer: str) -> CommentReply:
    """An answer while no question is open."""
    where = f"`{view.commands.say('status')}` says where I am."
    detail = (
        f"Nothing has happened. {_now(view)} When I need a decision, I ask in a comment of its own;"
        f" {where}"
    )
    headline = f"There is nothing to {escape.plain(answer, 20)} just now."
    return CommentReply(
        occasion="nothing-to-answer", headline=headline, detail=detail, reaction="confused"
    )


def stale_approval(view: RunView, gate: OpenGate, *, given: str = "") -> CommentReply:
    """An approval of another text than the one that waits."""
    named = (
        f"It names {escape.code(given, 16)}, but"
        if given
        else "It came before the newest version was shown:"
    )
    where = (
        f"[Read it]({view.links.question}), and"
        if view.links.question
        else "Read it in the newest question, and"
    )
    answer = (
        f"if you agree, answer\n\n```text\n{view.commands.say('approve', short(gate.digest))}\n```"
    )
    return CommentReply(
        occasion="stale-approval",
        headline="That approval does not count: it was for another version.",
        detail=(
            f"{named} {escape.code(short(gate.digest))} is what waits now. Nothing has happened."
            f" {where} {answer}"
        ),
        tone="warning",
        reaction="confused",
    )


def already_answered(view: RunView, decision: Decision) -> CommentReply:
    """A second answer to the same question."""
    headline = f"{view.label(decision.gate)} was answered already: {decided(decision)}."
    back = (
        f"`{view.commands.say('retry', _phase_before(view, decision.gate))}` goes back, with your"
        " notes on the lines below it."
    )
    return CommentReply(
        occasion="already-answered",
        headline=headline,
        detail=f"The first answer counts. {_now(view)} {back}",
        reaction="confused",
    )


def not_offered(view: RunView, gate: OpenGate, *, answer: str) -> CommentReply:
    """An answer that the open question does not take."""
    offered = [
        f"`{view.commands.form(option, gate.digest)}`"
        for option in dict.fromkeys((*gate.options, "abandon"))
    ]
    headline = f"The open question does not take {escape.code(answer, 30)}."
    return CommentReply(
        occasion="not-offered",
        headline=headline,
        detail=f"It takes {listed(offered, 'words.or')}.",
        reaction="confused",
    )


def notes_missing(commands: CommandNames) -> CommentReply:
    """A rejection without a reason."""
    return CommentReply(
        occasion="notes-missing",
        headline="What should be different?",
        detail=(
            "With nothing to go by, the next version would be a guess. Please say"
            f" `{commands.form('reject')}` on one line; what stands in the lines below it counts"
            " too."
        ),
        reaction="confused",
    )


# -- being told, and asked
# --------------------------------------------------------------------------------------------------


def asked_for_help(view: RunView | None, commands: CommandNames) -> CommentReply:
    """Everything that can be said, in the words of the grammar; before it, where the run stands."""
    now = f"{_now(view)}\n\n" if view is not None else ""
    table = help_text(commands.prefix, bare=commands.short)
    return CommentReply(occasion="help", headline="What you can tell me", detail=f"{now}{table}")


def asked_for_status(view: RunView) -> CommentReply:
    """Return the state of the run."""
    return CommentReply(
        occasion="status",
        headline=next_move(view).headline,
        detail=f"{next_move(view).detail}\n\n{facts(view)}",
    )


def asked_for_cost(view: RunView) -> CommentReply:
    """Return the cost of the run, phase by phase."""
    return CommentReply(
        occasion="cost",
        headline="What it has cost so far",
        detail=compose([facts(view), phases(view)], 30_000).rstrip(),
    )


def resumed(view: RunView, *, by: str) -> CommentReply:
    """A run goes on after it had stopped."""
    detail = f"{_now(view)} Nothing that was answered before is asked or paid for again."
    return CommentReply(
        occasion="resumed",
        headline=f"Going on, as {escape.code(by)} said.",
        detail=detail,
        reaction="rocket",
    )


def cannot(commands: CommandNames, error: ForgeError) -> CommentReply:
    """A command that the run does not take now, in the words of the error."""
    status = (
        ""
        if isinstance(error.remedy, ShowStatus)
        else f" `{commands.say('status')}` says where the run stands."
    )
    detail = f"{advice_in_thread(error, commands)}{status}"
    return CommentReply(
        occasion="cannot",
        headline=escape.line(error.message, 300),
        detail=detail,
        reaction="confused",
    )


def answered(text: str) -> CommentReply:
    """Return a model's answer to a question about the run."""
    return CommentReply(
        occasion="answer",
        headline="An answer, from the run's model; nothing was changed by it.",
        detail=compose(
            [papers([Paper(name="answer", text=text, url="", open=True)])], 40_000
        ).rstrip(),
    )


def fixing(view: RunView, *, checks: Sequence[str], round_: int, most: int) -> CommentReply:
    """Checks of the pull request failed, and the run works on them, or asks a person after the last
    round.
    """
    named = listed([escape.code(name, 60) for name in checks[:5]])
    if round_ > most:
        headline, detail = (
            "The checks are still red, so I ask.",
            f"{named} failed after {several(most, 'round')}. {_now(view)}",
        )
    else:
        headline, detail = (
            "I am working on the failed checks.",
            f"{named} failed; this is round {round_} of at most {most}. {_now(view)}",
        )
    return CommentReply(occasion="fixing", headline=headline, detail=detail, reaction="rocket")


def updated(view: RunView, *, base: str, conflicts: Sequence[str]) -> CommentReply:
    """The base branch was merged into the run; `conflicts` are files that both changed
    differently.
    """
    name = escape.code(base, 60)
    if conflicts:
        named = listed([escape.code(path, 100) for path in conflicts[:5]])
        return CommentReply(
            occasion="updated",
            headline=f"{name} and this run changed the same lines, so I solve that first.",
            detail=(
                f"It is about {named}. A task brings both together; I ask if that fails."
                f" {_now(view)}"
            ),
            reaction="rocket",
        )
    return CommentReply(
        occasion="updated",
        headline=f"{name} is merged into this run.",
        detail=f"What was approved stands. {_now(view)}",
        reaction="rocket",
    )


def no_fix(view: RunView, *, checks: Sequence[str]) -> CommentReply:
    """No check of the pull request failed in a way that another change could mend."""
    if not checks:
        return CommentReply(
            occasion="no-fix",
            headline="No check of the pull request has failed.",
            detail=(
                "Nothing was changed. To have a phase done again, name it:"
                f" `{view.commands.say('retry', _example(view))}`."
            ),
        )
    named = listed([escape.code(name, 80) for name in checks[:5]])
    detail = (
        f"{named}: that is the runner's trouble, not this change's. Run the check again on"
        f" {pull_request_link(view, begins=False)}."
    )
    return CommentReply(
        occasion="no-fix",
        headline="There is nothing in the failed checks that I could mend.",
        detail=detail,
    )


def _example(view: RunView) -> str:
    """The phase that people go back to most: the one whose document is approved first."""
    plan = view.pipeline.approved_first
    return plan.id if plan is not None else view.pipeline.speaking[0].id


def used_up(commands: CommandNames) -> CommentReply:
    """There is more to do, and no worker comes any more in this run of the workflow."""
    return CommentReply(
        occasion="used-up",
        headline="This workflow run ends here, and there is more to do.",
        detail=f"Everything so far lies on the branch. `{commands.say('retry')}` goes on.",
        tone="important",
    )


def pull_request_by_hand(view: RunView, *, url: str, said: str) -> CommentReply:
    """GitHub did not let us open the pull request."""
    detail = (
        f"GitHub's words: {escape.code(said, 300)}. [Open it with one click]({url}); everything"
        f" lies on {escape.code(view.offered)}."
    )
    return CommentReply(
        occasion="pull-request-by-hand",
        headline="I could not open the pull request myself.",
        detail=detail,
        tone="warning",
    )


def issues_opened(results: Sequence[IssueResult]) -> CommentReply:
    """The issues for findings, opened now or there already."""
    lines = [
        f"- [{escape.plain(each.title)}]({each.url})" + ("" if each.opened else " was there")
        for each in results
    ]
    opened = sum(each.opened for each in results)
    headline = f"I opened {several(opened, 'issue')}." if opened else "Each finding has its issue."
    return CommentReply(occasion="issues-opened", headline=headline, detail="\n".join(lines))


def issues_by_hand(view: RunView, *, said: str) -> CommentReply:
    """GitHub did not let us open the issues."""
    detail = (
        f"GitHub's words: {escape.code(said, 300)}. They are in {view.links.named(ISSUES)}, to be"
        " opened by hand. Once I may, another audit opens them."
    )
    return CommentReply(
        occasion="issues-by-hand",
        headline="I could not open the issues myself.",
        detail=detail,
        tone="warning",
    )


def pull_request_over(view: RunView, *, merged: bool) -> CommentReply:
    """The pull request was merged or closed, and there are commits that it does not have."""
    compare = view.links.compare(view.state.base_branch, view.state.branch)
    detail = (
        f"{pull_request_link(view)} was {'merged' if merged else 'closed'} before my last commits,"
        f" so they are not in it, and I did not touch its branch. They are on {view.branch}:"
        f" [look at them]({compare})."
    )
    return CommentReply(
        occasion="pull-request-over",
        headline=f"The pull request was {'merged' if merged else 'closed'} in the meantime.",
        detail=detail,
        tone="warning",
    )


def people_in_conflict(view: RunView, *, files: Sequence[str], aside: str) -> CommentReply:
    """People changed the pull request's branch in another way than the run did."""
    branch = escape.code(view.offered)
    named = listed([escape.code(path) for path in files[:5]])
    more = f" and {several(len(files) - 5, 'more file')}" if len(files) > 5 else ""  # noqa: PLR2004 - as many as are named
    detail = (
        f"Both changed {named}{more}, each in another way. I did not touch {branch}; my newest"
        f" commits are on {escape.code(aside)} ([look at them]"
        f"({view.links.compare(view.offered, aside)})). This joins them, and I go on from what you"
        f" push:\n\n```text\ngit fetch\ngit switch {view.offered}\ngit pull\n"
        f"git merge origin/{aside}\n```"
    )
    return CommentReply(
        occasion="people-in-conflict",
        headline=f"Your commits on {branch} and my newest ones contradict each other.",
        detail=detail,
        tone="warning",
    )


def _now(view: RunView) -> str:
    move = next_move(view)
    return f"{move.headline} {move.detail.partition(chr(10))[0]}".strip()


def _phase_before(view: RunView, gate: PhaseId) -> str:
    phase = view.pipeline.phase(gate)
    return getattr(phase, "sends_back_to", "") or view.state.current_phase
