"""The request at the time when somebody started the run: title, text, and the comments of people
who may give commands.

A run never reads the issue again by itself.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from forge_bot.bot.thread import Thread
from forge_bot.gate.json_payload import read_json
from forge_bot.gate.roles import KnownRole
from forge_bot.github_api.types import Comment, Issue, IssueEvent
from forge_bot.runs.request_draft import RequestDraft, checked
from forge_bot.settings.load_pipeline import RESERVED
from forge_bot.store.request import Request
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

    @property
    def until(self) -> int | None:
        """The id of the comment: later ones are left out."""
        return self.comment.id if self.comment is not None else None


@dataclass(frozen=True)
class RequestSnapshot:
    """A request. `edited`: the issue was edited since. `left_out` are comments that were edited and
    do not count.
    """

    draft: RequestDraft
    edited: bool
    left_out: tuple[Comment, ...]

    @property
    def doubtful(self) -> bool:
        """Return whether the thread shows a different text now, so that people should be told."""
        return self.edited or bool(self.left_out)


@dataclass(frozen=True)
class IgnoredLabel:
    """A label for a run that has no effect; `by` added it, empty if GitHub does not say who did."""

    name: str
    by: str


def snapshot_request(issue: Issue, thread: Thread, given: Given) -> RequestSnapshot | None:
    """Return the request at the time of the command; None if it was edited since and that text is
    unknown.

    The text in the command's own event counts. Without that event the present text counts, unless
    it was edited after the command. Raises TaskTooLarge.
    """
    told = _told(given.payload, issue.number)
    if told is None and _edited_since(_time_of(given, thread), thread):
        return None
    title, body = told if told is not None else (issue.title, issue.body)
    comments, left_out = _comments(thread, given.until)
    parts = [body.strip(), given.text.strip(), *comments]
    source = Source(
        type="github_issue", id=str(issue.number), url=issue.url, author=issue.author.login
    )
    text = "\n\n".join(part for part in parts if part)
    draft = RequestDraft(
        title=title.strip() or f"Issue {issue.number}",
        text=text,
        source=source,
        labels=issue.labels,
        issue_type=issue.type,
    )
    edited = told is not None and told != (issue.title, issue.body)
    return RequestSnapshot(checked(draft), edited, left_out)


def _told(payload: Path | None, number: int) -> tuple[str, str] | None:
    if payload is None or not payload.is_file():
        return None
    node = read_json(payload.read_bytes())
    issue = node["issue"]
    if issue.number("number") != number or issue.at("pull_request").exists:
        return None
    return issue.text("title"), issue.text("body")


def _time_of(given: Given, thread: Thread) -> datetime | None:
    """Return the time of the command; None if GitHub does not say."""
    if given.comment is not None:
        return given.comment.created_at
    added = _last_added(thread.events(), thread.inputs.label)
    return added.at if added is not None else None


def _edited_since(moment: datetime | None, thread: Thread) -> bool:
    """Return whether title or body were edited in the second of the command or later. Not knowing
    counts as edited.
    """
    if moment is None:
        return True
    body = thread.github.body_edited_at(thread.number)
    titles = (event.at for event in thread.events() if event.kind == "renamed")
    return any(at >= moment for at in (*titles, *([body] if body is not None else [])))


def counted_labels(
    issue: Issue, thread: Thread, pipelines: tuple[str, ...] = ()
) -> tuple[Issue, tuple[IgnoredLabel, ...]]:
    """Return the issue without the modifier labels of people who could not approve, and those
    labels. `pipelines` are the names that a label may choose.
    """
    known = {f"{thread.inputs.label}:{name}".casefold() for name in (*RESERVED, *pipelines)}
    ignored: list[IgnoredLabel] = []
    for label in issue.labels:
        if label.casefold() in known:
            added = _last_added(thread.events(), label)
            if added is None or not thread.may_label(added):
                ignored.append(IgnoredLabel(label, added.actor.login if added is not None else ""))
    names = {each.name for each in ignored}
    counted = tuple(label for label in issue.labels if label not in names)
    return issue.replace(labels=counted), tuple(ignored)


def labels_since(
    issue: Issue, thread: Thread, begun: datetime, pipelines: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the modifier labels of an issue that were put on after its run had begun."""
    known = {f"{thread.inputs.label}:{name}".casefold() for name in (*RESERVED, *pipelines)}
    there = [label for label in issue.labels if label.casefold() in known]
    added = ((label, _last_added(thread.events(), label)) for label in there)
    return tuple(label for label, event in added if event is not None and event.at > begun)


def says_other_text(issue: Issue, request: Request, added: Iterable[str]) -> bool:
    """Return whether title or body of an issue are others now than in its frozen request. `added`
    are texts of commands, of which one may stand below the body.
    """
    body, text = " ".join(issue.body.split()), " ".join(request.text.split())
    rest = text.removeprefix(body).partition("## Comments")[0].strip()
    same = text.startswith(body) and rest in {"", *(" ".join(each.split()) for each in added)}
    return not same or (bool(issue.title.strip()) and issue.title.strip() != request.title.strip())


def edition(issue: Issue) -> str:
    """Return a name for the present text of an issue."""
    return hashlib.sha256(f"{issue.title}\0{issue.body}".encode(errors="replace")).hexdigest()[:12]


def _last_added(events: tuple[IssueEvent, ...], label: str) -> IssueEvent | None:
    """Return the event that added a label of the issue; None if GitHub shows none."""
    last: IssueEvent | None = None
    for event in events:
        if event.label.casefold() == label.casefold() and event.kind in {"labeled", "unlabeled"}:
            last = event if event.kind == "labeled" else None
    return last


def _comments(thread: Thread, until: int | None) -> tuple[list[str], tuple[Comment, ...]]:
    """Return comments of people who may give commands, and the comments left out because they were
    edited.

    Comments with a command are not included. Each comes with its id, author, role and time.
    """
    found: list[str] = []
    left_out: list[Comment] = []
    for comment in thread.comments():
        if thread.own(comment) or (until is not None and comment.id >= until):
            continue
        if thread.commands(comment):
            continue
        if thread.may(comment):
            found.append(_shown(comment, thread))
        elif comment.edited and thread.may_have_written(comment):
            left_out.append(comment)
    return (["\n\n".join(["## Comments", *found])] if found else []), tuple(left_out)


def _shown(comment: Comment, thread: Thread) -> str:
    standing = thread.standing(comment.author.login)
    role = (standing.name or standing.role.word) if isinstance(standing, KnownRole) else "unknown"
    head = (
        f"### {comment.author.login} ({role}), comment {comment.id},"
        f" {comment.created_at:%Y-%m-%d %H:%M} UTC"
    )
    return f"{head}\n\n{comment.body.strip()[:_LONGEST_COMMENT]}"
