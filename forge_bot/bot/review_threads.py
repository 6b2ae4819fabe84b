"""Take what reviews of a run's pull request ask for, say what is not taken, and answer each thread
once the work is done. A thread is never resolved: its people do that.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments.command_replies import EndOfFollowUp
from forge_bot.bot.comments.reply import reply
from forge_bot.bot.thread import Thread
from forge_bot.engine.reports import FollowUpAsked, ReviewItem
from forge_bot.errors import ConversationLocked, NotOnGitHub
from forge_bot.forge.types import Account, AccountKind, ReviewComment, Reviews
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.interaction.markers import read_marker
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import ReviewWords, Wanted
from forge_bot.sentences import listed, say
from forge_bot.values import RunStatus

MOST_TAKEN = 30
"""Threads and reviews that one task works on. The others are taken by the next command."""

_CRITERION = re.compile(
    r"^\s*[-*] \[(?P<met>[ xX])\] F-(?P<number>\d+)\b[:.,]?(?P<words>.*)$", re.MULTILINE
)


class _Found(NamedTuple):
    """Words of a review, when they were written last, and whether all who wrote them may give
    commands.
    """

    words: ReviewWords
    newest: datetime
    mine: bool


def follow_ups_of(run: Run) -> list[FollowUpAsked]:
    """Return what was asked of the run's change so far."""
    return [report for report in run.workspace.reports() if isinstance(report, FollowUpAsked)]


def take_reviews(run: Run, thread: Thread, asked_at: datetime | None = None) -> Wanted:
    """Return what nobody took yet of unresolved threads, of reviews that request changes, and of
    comments on the page by people who may give commands; and sentences on those that are left.

    What was written or edited after a command was read by nobody who gave it, so it is left.
    Without a command only what people who may give one wrote is taken.
    """
    known = {item.newest for report in follow_ups_of(run) for item in report.items}
    pull = thread.pull_of(run)
    reviews = thread.forge.reviews(pull)
    asked = [*_of_threads(thread, reviews), *_of_requests(thread, reviews)]
    page = [*_of_page(thread, pull)]
    new = [one for one in (*asked, *page) if one.words.item.newest not in known]
    # GitHub's times have whole seconds, and nobody reads what is written within the same one.
    read = [one for one in new if asked_at is None or one.newest < asked_at]
    fit = [one for one in read if one.mine or (asked_at is not None and one in asked)]
    left = (
        *_sentence("bot.review_late", [one for one in new if one not in read]),
        *_sentence("bot.review_foreign", [one for one in read if one not in fit]),
        *_sentence("bot.review_more", fit[MOST_TAKEN:]),
        *([say("bot.review_unread", count=reviews.unread)] if reviews.unread else []),
    )
    return Wanted(reviews=tuple(one.words for one in fit[:MOST_TAKEN]), left=left)


def requested_changes(
    thread: Thread, pull: int, asked: Sequence[FollowUpAsked]
) -> ReviewComment | None:
    """Return the newest review that requests changes, by somebody who may give commands, since
    reviews were taken; `asked` is what was asked of the run's change so far. A scheduled wake asks
    this of each open pull request.
    """
    last = max((report.at for report in asked if report.items), default=None)
    new = [
        review
        for review in thread.forge.reviews(pull).requests
        if (last is None or review.at > last) and thread.may_command(review.author)
    ]
    return max(new, key=lambda review: review.at, default=None)


def _sentence(name: str, left: Sequence[_Found]) -> list[str]:
    people = Counter(one.words.item.by for one in left)
    named = listed([f"{by} ({count})" for by, count in people.items()])
    return [say(name, people=named)] if left else []


def _of_threads(thread: Thread, reviews: Reviews) -> Iterator[_Found]:
    for there in reviews.threads:
        foreign = [comment for comment in there.comments if not thread.own(comment)]
        if there.resolved or not foreign:
            continue
        item = ReviewItem(
            by=foreign[0].author.login,
            path=there.path,
            line=there.line,
            thread=there.first,
            newest=foreign[-1].id,
        )
        words = ReviewWords(item=item, outdated=there.outdated, hunk=there.hunk, said=())
        yield _found(thread, words, foreign)


def _of_requests(thread: Thread, reviews: Reviews) -> Iterator[_Found]:
    for review in reviews.requests:
        if review.body.strip() and not thread.own(review):
            item = ReviewItem(by=review.author.login, newest=f"review:{review.id}")
            yield _found(thread, ReviewWords(item=item, said=()), [review])


def _of_page(thread: Thread, pull: int) -> Iterator[_Found]:
    """Yield the comments of people on the page that are no commands."""
    for comment in thread.comments(pull):
        person = comment.author.kind is AccountKind.PERSON
        if person and not thread.own(comment) and not thread.begins_with_command(comment):
            item = ReviewItem(by=comment.author.login, newest=f"comment-{comment.id}")
            said = ReviewComment(
                id=str(comment.id), author=comment.author, body=comment.body, at=comment.updated_at
            )
            yield _found(thread, ReviewWords(item=item, said=()), [said])


def _found(thread: Thread, words: ReviewWords, comments: Sequence[ReviewComment]) -> _Found:
    mine = all(thread.may_command(comment.author) for comment in comments)
    said = tuple((_named(thread, comment.author), comment.body) for comment in comments)
    words = words.replace(item=words.item.replace(stranger=not mine), said=said)
    return _Found(words, max(comment.at for comment in comments), mine)


def _named(thread: Thread, account: Account) -> str:
    may = thread.may_command(account)
    return account.login if may else f"{account.login}, who may give no commands here"


# -- the answers
# --------------------------------------------------------------------------------------------------


def answer_threads(
    run: Run, report: FollowUpAsked, end: EndOfFollowUp, links: Links, writer: CommentWriter
) -> None:
    """Answer in each thread that a follow-up took, once: with the commit, or with the reason."""
    thread = writer.thread
    pull, taken = thread.pull_of(run), [item for item in report.items if item.thread]
    there = {one.first: one for one in thread.forge.reviews(pull).threads} if taken else {}
    for number, item in enumerate(report.items, 1):
        if item.thread not in there:
            continue
        ours = [comment for comment in there[item.thread].comments if thread.own(comment)]
        marks = [mark for comment in ours if (mark := read_marker(comment.body)) is not None]
        if not any(mark.fields.get("to") == report.key for mark in marks):
            text = _answer(run, report, number, end, links)
            with suppress(NotOnGitHub, ConversationLocked):
                thread.forge.reply_in_review(pull, item.thread, text)


def _answer(run: Run, report: FollowUpAsked, number: int, end: EndOfFollowUp, links: Links) -> str:
    """Return the answer in a thread, in the words of the implementer's report."""
    item = report.items[number - 1]
    task = next((task for task in run.state.tasks if task.origin == report.artifact), None)
    names = run.pipeline.task_documents(task.spec.id) if task is not None else ()
    said = _CRITERION.finditer(run.artifact(names[0]) or "") if names else iter(())
    criterion = next((match for match in said if int(match["number"]) == number), None)
    abandoned = run.state.current_phase_status is RunStatus.ABANDONED
    kept = abandoned or (criterion is not None and criterion["met"] == " ")
    commits = [
        one for one in end.commits if any(file.path == item.path for file in one.files)
    ] or list(end.commits)
    commit = commits[-1].id if commits and not kept else ""
    return reply(
        "review_answer",
        commit=Markdown(links.commit_link(commit) if commit else ""),
        abandoned=abandoned,
        words=criterion["words"].strip() if criterion is not None else "",
        report=Markdown(links.named(names[0]) if names else ""),
    ).comment(report.key)
