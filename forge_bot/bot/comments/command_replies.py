"""Answers to commands in the thread that need more of the run than a sentence does, the comment on
what was asked of a pull request, and the reply to an error: the same in thread, summary and log.
"""

from collections import Counter
from math import ceil
from typing import NamedTuple

from forge_bot import errors
from forge_bot.bot.comments.reply import CommentReply, RunView, next_move, reply, standing
from forge_bot.bot.comments.tracking_comment import facts, phases
from forge_bot.engine.external_events import CHECK_ROUNDS, CHECKS
from forge_bot.engine.reports import FollowUpAsked
from forge_bot.engine.state import OpenGate
from forge_bot.errors import ForgeError, PermissionMissing, PushRefusal
from forge_bot.gate.arguments import names_version
from forge_bot.git.commit_history import CommitInfo
from forge_bot.interaction.check_table import commands
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links, short
from forge_bot.interaction.evidence_table import evidence
from forge_bot.interaction.fit_comment import Paper, Papers, Rows, compose
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.markers import Marker
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.pull_request import requirement_words
from forge_bot.interaction.remedy_words import advice_in_thread, remedy_for_people
from forge_bot.interaction.run_facts import footer
from forge_bot.prompts import escape
from forge_bot.remedies import Remedy
from forge_bot.runs.evidence_of_run import EVIDENCE
from forge_bot.runs.this_process import Outcome
from forge_bot.values import RunStatus

_MOST_SHOWN = 2_000
"""Characters of somebody's words that are shown back."""


def reply_with_state(name: str, view: RunView, **values: object) -> CommentReply:
    """Return a reply that says where the run stands."""
    given = {"now": standing(view), "branch": view.branch, "commands": view.commands}
    return reply(name, **(given | values))


def ended_already(view: RunView) -> CommentReply:
    """Return the reply to a command to a run that is over."""
    abandoned = view.state.current_phase_status is RunStatus.ABANDONED
    how = Markdown(next_move(view).text)
    return reply("ended_already", how=how, abandoned=abandoned, commands=view.commands)


def stale_approval(view: RunView, gate: OpenGate, *, given: str = "") -> CommentReply:
    """Return the reply to an approval of another text than the one that waits."""
    # The address is that of the question asked last, which may have shown an older version.
    is_newest = bool(gate.shown) and gate.shown[-1].digest == gate.digest
    return reply(
        "stale_approval",
        commands=view.commands,
        given=given,
        # A beginning that fits another version too names none: then the whole digest is asked for.
        digest=gate.digest if names_version(given, gate.digest) else short(gate.digest),
        question=view.links.question if is_newest else "",
    )


def shown_back(commands: CommandNames, *, line: str, words: str) -> CommentReply | None:
    """Show back what counted of a comment: the words of a person, and the `line` with text below it
    that was not read. Return None where there is nothing to show.
    """
    if not line and not words:
        return None
    return reply("taken", commands=commands, line=line, words=words[:_MOST_SHOWN])


def asked_for_status(view: RunView) -> CommentReply:
    """Return the state of the run, with its cost phase by phase."""
    move, table = next_move(view), compose([facts(view), phases(view)], 30_000)
    words = {"headline": move.headline, "detail": move.detail, "table": table}
    return reply("status", **{name: Markdown(text) for name, text in words.items()})


def cannot(commands: CommandNames, error: ForgeError) -> CommentReply:
    """Return the reply to a command that the run does not take now, in the words of the error."""
    return reply(
        "cannot",
        commands=commands,
        message=error.message,
        details=error.details[:20],
        advice=Markdown(advice_in_thread(error, commands)),
        status_named=remedy_for_people(error) == Remedy("show-status"),
    )


def answered(text: str, question: str) -> CommentReply:
    """Return a model's answer to a question about the run, below the question."""
    paper = Papers([Paper(name="answer", text=text, url="", open=True)])
    answer = Markdown(compose([paper], 40_000))
    return reply("answer", question=question[:_MOST_SHOWN], answer=answer)


def pull_request_by_hand(view: RunView, error: ForgeError, *, url: str) -> CommentReply:
    """Return how a person opens the pull request where GitHub did not let us, and what a maintainer
    can change for the next time.
    """
    is_missing = isinstance(error, PermissionMissing)
    return reply(
        "pull_request_by_hand",
        url=url,
        offered=view.offered,
        links=view.links,
        not_allowed=is_missing and bool(error.own_hint),
        lacking=error.details[0].replace("_", "-") if is_missing and error.details else "",
        message=error.message,
    )


_MOST_ROWS = 10


class EndOfFollowUp(NamedTuple):
    """The result of a follow-up: the head of the change, its commits, and the documents."""

    head: str
    commits: tuple[CommitInfo, ...]
    documents: dict[str, str]


def follow_up_comment(view: RunView, report: FollowUpAsked, end: EndOfFollowUp | None) -> str:
    """Return the comment. Its mark names the report: only what is recorded is answered."""
    abandoned = view.state.current_phase_status is RunStatus.ABANDONED
    taken = Counter((item.by, item.stranger) for item in report.items)
    first = reply(
        "follow_up",
        by=report.by,
        over=end is not None,
        abandoned=abandoned,
        words=report.notes[:_MOST_SHOWN],
        checks=report.checks,
        round=view.state.rounds.get(CHECKS, 0),
        most=CHECK_ROUNDS,
        taken=[(by, count, stranger) for (by, stranger), count in taken.items()],
        left=report.left,
        answered=end is not None and any(item.thread for item in report.items),
        commits=len(end.commits) if end is not None else 0,
        now=standing(view) if end is None or abandoned else "",
    )
    fields = {"occasion": "follow-up", "to": report.key, "over": "yes" if end is not None else ""}
    parts = _end(view, end) if end is not None and not abandoned else []
    mark = str(Marker(kind="reply", fields=fields))
    return compose([first.text, *parts, footer(view), mark], rows=_MOST_ROWS)


def _end(view: RunView, end: EndOfFollowUp) -> list[str | Rows]:
    """Return the commits, the files and the evidence."""
    verification = view.state.verification
    commits = [
        f"- {view.links.commit_link(one.id)} {escape.line(one.subject)}" for one in end.commits
    ]
    proof = render(
        "parts.renewed",
        files=[*dict.fromkeys(file.path for one in end.commits for file in one.files)],
        head=short(end.head),
        statement=Markdown(view.links.named(EVIDENCE)),
        run=view.state.run,
        changed=bool(end.commits),
    )
    ran = [commands(verification.results, view.state.baseline)] if verification is not None else []
    table = evidence(view, end.documents, requirement_words(view.state, end.documents)).table
    return [Rows(commits, "checks.more_commits", room=4_000), proof, table, *ran]


_KEY = "ANTHROPIC_API_KEY"
_PAUSES = {
    "rate-limited": "rate_limited",
    "cap": "cap_reached",
    "switched-off": "switched_off",
}
_NAMED: dict[type[ForgeError], str] = {
    errors.NoModelKey: "key_missing",
    errors.KeyRefused: "key_refused",
    errors.BatchUnderWay: "batch_under_way",
}
_REFUSED_PUSH = {
    PushRefusal.RULES: "branch_protected",
    PushRefusal.CREDENTIALS: "may_not_push",
}


def reply_to_error(
    error: ForgeError, links: Links, commands: CommandNames, branch: str = ""
) -> CommentReply:
    """The words for an error, with the way out."""
    given: dict[str, object] = {"links": links, "commands": commands, "message": error.message}
    seconds: int | None = 0
    match error:
        case errors.ModelUnavailable(trouble=trouble) if trouble.cause in _PAUSES:
            name, seconds = _PAUSES[trouble.cause], trouble.seconds
            given["until"] = in_time(seconds) if seconds is not None else ""
        case errors.RateLimited():
            name, seconds = "github_limited", error.seconds
            given["until"] = in_time(seconds)
        case errors.PushRefused(why=why) if why in _REFUSED_PUSH:
            name = _REFUSED_PUSH[why]
            given |= {"branch": error.branch or branch, "message": error.said}
        case _:
            name = next((name for kind, name in _NAMED.items() if isinstance(error, kind)), "")
            given["secret"] = (error.remedy.about if error.remedy is not None else "") or _KEY
    if not name:
        return failed(error, links, commands)
    return reply(name, **given).replace(seconds=ceil(seconds or 0))


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Return the reply to any other error of the registry, in its own words: a worker may have
    chosen them, so nothing in them is a link.
    """
    plain = reply(
        "failed",
        links=links,
        commands=commands,
        message=f"{error.message[:1].upper()}{error.message[1:]}",
        details=error.details[:10],
        advice=Markdown(advice_in_thread(error, commands)),
        resumes=error.remedy == Remedy("resume"),
        code=error.code,
    )
    return plain.replace(occasion=error.code.lower(), outcome=Outcome(error.exit_code))
