"""The request at the time when somebody started the run: title, text, and the comments of people
who may give commands.

A run never reads the issue again by itself.
"""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.bot.thread import Thread
from forge_bot.gate.json_payload import read_json
from forge_bot.gate.people import Role
from forge_bot.github_api.types import Comment, Issue
from forge_bot.runs.request_draft import RequestDraft, checked, with_attachments
from forge_bot.values import Source

_LONGEST_COMMENT = 20_000


@dataclass(frozen=True)
class Given:
    """The command or label that a request is frozen for.

    `payload` is the file of its event, where the job was woken by it. `comment` is None for a
    label. `text` is what the command adds.
    """

    payload: Path | None = None
    comment: Comment | None = None
    text: str = ""


def snapshot_request(issue: Issue, thread: Thread, given: Given, server: str) -> RequestDraft:
    """Return the request: title, body and labels in the command's own event, or the present ones
    where that event is lost; and the earlier comments of people who may give commands. Comments
    that were edited do not count. What these attach is fetched from GitHub, whose address is
    `server`. Raises TaskTooLarge.
    """
    seen = _in_event(given.payload, issue)
    parts = [seen.body.strip(), given.text.strip(), _comments(thread, given.comment)]
    source = Source(
        type="github_issue", id=str(issue.number), url=issue.url, author=issue.author.login
    )
    draft = RequestDraft(
        title=seen.title.strip() or f"Issue {issue.number}",
        text="\n\n".join(filter(None, parts)),
        source=source,
        labels=seen.labels,
        issue_type=issue.type,
    )
    return with_attachments(checked(draft), server, lambda: thread.github.rendered(issue.number))


def _in_event(payload: Path | None, issue: Issue) -> Issue:
    """Return the issue as its event has it, if this is an event of it."""
    if payload is None or not payload.is_file():
        return issue
    seen = read_json(payload.read_bytes())["issue"]
    if seen.number("number") != issue.number or seen["pull_request"].exists:
        return issue
    labels = tuple(name for label in seen.items("labels") if (name := label.text("name")))
    return issue.replace(title=seen.text("title"), body=seen.text("body"), labels=labels)


def _comments(thread: Thread, until: Comment | None) -> str:
    """Return the comments before the command, but for those that are commands themselves."""
    shown = [
        _shown(comment, thread)
        for comment in thread.comments()
        if (until is None or comment.id < until.id)
        and not thread.own(comment)
        and not thread.begins_with_command(comment)
        and thread.may(comment)
    ]
    return "\n\n".join(["## Comments", *shown]) if shown else ""


def _shown(comment: Comment, thread: Thread) -> str:
    """Return a comment with its id, author, role and time."""
    membership = thread.membership(comment.author.login)
    role = membership.word if isinstance(membership, Role) else "unknown"
    head = (
        f"### {comment.author.login} ({role}), comment {comment.id},"
        f" {comment.created_at:%Y-%m-%d %H:%M} UTC"
    )
    return f"{head}\n\n{comment.body.strip()[:_LONGEST_COMMENT]}"
