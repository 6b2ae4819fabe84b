"""The request as it stood when somebody started the run: title, text and the comments of people who count. Never read again by itself."""

from pathlib import Path

from forge_bot import gate
from forge_bot.bot.thread import Thread
from forge_bot.engine.reports import Source
from forge_bot.gate import Has, read_json
from forge_bot.github_api import Comment, Issue
from forge_bot.runs.start import Draft, checked

_LONGEST_COMMENT = 20_000


def frozen(issue: Issue, thread: Thread, *, payload: Path | None = None, until: int | None = None, more: str = "") -> tuple[Draft, bool]:
    """The draft of a run, and whether the issue was changed after the event that started it; then the event's text counts.

    `payload` is the event's file, where the event is the start. Comments after the one with the id `until` are left out. `more` is what
    was said in the command itself. Raises TaskTooLarge.
    """
    told = _told(payload, issue.number)
    title, body = told if told is not None else (issue.title, issue.body)
    parts = [body.strip(), more.strip(), *_comments(thread, until)]
    source = Source(type="github_issue", id=str(issue.number), url=issue.url, author=issue.author.login)
    text = "\n\n".join(part for part in parts if part)
    draft = Draft(title=title.strip() or f"Issue {issue.number}", text=text, source=source, labels=issue.labels)
    return checked(draft), told is not None and told != (issue.title, issue.body)


def _told(payload: Path | None, number: int) -> tuple[str, str] | None:
    if payload is None or not payload.is_file():
        return None
    node = read_json(payload.read_bytes())
    issue = node["issue"]
    if issue.number("number") != number or issue.at("pull_request").exists:
        return None
    return issue.text("title"), issue.text("body")


def _comments(thread: Thread, until: int | None) -> list[str]:
    """Comments of people who may give commands, without those that hold one; each with its id, author, role and time."""
    found: list[str] = []
    for comment in thread.comments():
        if thread.own(comment) or (until is not None and comment.id >= until):
            continue
        if gate.parse(comment.body, thread.inputs.prefix, bare=thread.inputs.bare) or not thread.may(comment):
            continue
        found.append(_shown(comment, thread))
    return ["\n\n".join(["## Comments", *found])] if found else []


def _shown(comment: Comment, thread: Thread) -> str:
    standing = thread.standing(comment.author.login)
    role = (standing.name or standing.role.word) if isinstance(standing, Has) else "unknown"
    head = f"### {comment.author.login} ({role}), comment {comment.id}, {comment.created_at:%Y-%m-%d %H:%M} UTC"
    return f"{head}\n\n{comment.body.strip()[:_LONGEST_COMMENT]}"
