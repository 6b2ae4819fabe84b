"""The comment on the pull request about what was asked of it: what it is while it is worked on, and
at its end the commits, the changed files and the renewed evidence.
"""

from collections import Counter

from forge_bot.bot.comments.next_step import standing
from forge_bot.bot.comments.reply import reply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.external_events import CHECK_ROUNDS, CHECKS
from forge_bot.engine.reports import FollowUpAsked
from forge_bot.interaction.check_table import commands
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.evidence_table import evidence
from forge_bot.interaction.fit_comment import Rows, compose
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.markers import Marker
from forge_bot.interaction.pull_request import requirement_words
from forge_bot.interaction.run_facts import footer
from forge_bot.prompts import escape
from forge_bot.runs.evidence_of_run import EVIDENCE
from forge_bot.values import Frozen, RunStatus

_MOST_WORDS = 2_000
"""Characters of somebody's words that are shown back."""

_MOST_ROWS = 10


class MadeCommit(Frozen):
    """A commit of a follow-up."""

    id: str
    subject: str
    files: tuple[str, ...]


class EndOfFollowUp(Frozen):
    """The result of a follow-up: its commits, the changed files, and the documents."""

    head: str
    commits: tuple[MadeCommit, ...]
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
        words=report.notes[:_MOST_WORDS],
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
    verification, home = view.state.verification, view.links.repository
    commits = [
        f"- [{escape.code(short(one.id))}]({home}/commit/{one.id}) {escape.line(one.subject)}"
        for one in end.commits
    ]
    proof = render(
        "parts.renewed",
        files=[*dict.fromkeys(file for one in end.commits for file in one.files)],
        head=short(end.head),
        statement=Markdown(view.links.named(EVIDENCE)),
        run=view.state.run,
        changed=bool(end.commits),
    )
    ran = [commands(verification.results, view.state.baseline)] if verification is not None else []
    table = evidence(view, end.documents, requirement_words(view.state, end.documents)).table
    return [Rows(commits, "checks.more_commits", room=4_000), proof, table, *ran]
