"""The request at the time when somebody started the run: title, text, and the comments of people
who may give commands.

A run never reads the issue again by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice

from forge_bot.bot.thread import Thread
from forge_bot.errors import BadOption
from forge_bot.forge import COMMENT_LINK, issue_of_event
from forge_bot.forge.types import AccountKind, Comment, Issue, Role
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.request_draft import RequestDraft, checked, with_attachments
from forge_bot.store.run_folder import UnreadComment
from forge_bot.values import source_of_issue

_LONGEST_COMMENT = 20_000
_MOST_UNREAD = 200


@dataclass(frozen=True)
class Given:
    """The command or label that a request is frozen for.

    `payload` is the file of its event, where the job was woken by it. `comment` is None for a
    label. `text` is what the command adds, `links` lead to comments that it takes in, and `taken`
    was taken in before.
    """

    payload: str = ""
    comment: Comment | None = None
    text: str = ""
    links: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


def snapshot_request(issue: Issue, thread: Thread, given: Given, server: str) -> RequestDraft:
    """Return the request: title, body and labels in the command's own event, or the present ones
    where that event is lost; and the earlier comments of people who may give commands. Comments
    that were edited do not count. What these attach is fetched from GitHub, whose address is
    `server`. Raises TaskTooLarge, and BadOption for a comment that cannot be taken in.
    """
    seen = _in_event(given.payload, issue)
    chosen = [_linked(link, thread, given.comment) for link in given.links]
    sections = (*given.taken, *(_taken(one, thread, given.comment) for one in chosen))
    taken = tuple(dict.fromkeys(sections))
    parts = [
        seen.body.strip(),
        given.text.strip(),
        _comments(thread, given.comment),
        *(["## Comments of others that were taken in", *taken] if taken else []),
    ]
    draft = RequestDraft(
        title=seen.title.strip() or f"Issue {issue.number}",
        text="\n\n".join(filter(None, parts)),
        source=source_of_issue(issue.number, issue.url, issue.author.login),
        labels=seen.labels,
        issue_type=issue.type,
        taken=taken,
        unread=_unread(thread, given.comment, taken),
    )
    return with_attachments(checked(draft), server, lambda: thread.forge.rendered(issue.number))


def _in_event(payload: str, issue: Issue) -> Issue:
    """Return the issue as its event has it, if this is an event of it."""
    seen = issue_of_event(payload)
    if seen is None or seen.number != issue.number:
        return issue
    return replace(issue, title=seen.title, body=seen.body, labels=seen.labels)


def _comments(thread: Thread, until: Comment | None) -> str:
    """Return the comments of people who may give commands."""
    shown = [
        f"### {_head(comment, thread)}\n\n{comment.body.strip()[:_LONGEST_COMMENT]}"
        for comment in _before(thread, until)
        if thread.may(comment)
    ]
    return "\n\n".join(["## Comments", *shown]) if shown else ""


def _before(thread: Thread, until: Comment | None) -> Iterator[Comment]:
    """Yield the comments before the command, but for those that are commands themselves."""
    for comment in thread.comments():
        before = until is None or comment.id < until.id
        if before and not thread.own(comment) and not thread.begins_with_command(comment):
            yield comment


def _head(comment: Comment, thread: Thread) -> str:
    """Return a comment's author, role, id and time."""
    membership = thread.membership(comment.author.login)
    role = membership.word if isinstance(membership, Role) else "unknown"
    return (
        f"{comment.author.login} ({role}), comment {comment.id},"
        f" {comment.created_at:%Y-%m-%d %H:%M} UTC"
    )


# -- comments of people who may give no commands
# --------------------------------------------------------------------------------------------------


def _unread(
    thread: Thread, until: Comment | None, taken: tuple[str, ...]
) -> tuple[UnreadComment, ...]:
    """Return people's comments that are no part of the request."""
    heads = {section.partition("\n")[0] for section in taken}
    unread = (
        UnreadComment(author=comment.author.login, url=comment.url, edited=comment.edited)
        for comment in _before(thread, until)
        if comment.author.kind is AccountKind.PERSON
        and not thread.may(comment)
        and not any(f", comment {comment.id}, " in head for head in heads)
    )
    return tuple(islice(unread, _MOST_UNREAD))


def _linked(link: str, thread: Thread, command: Comment | None) -> Comment:
    """Return the comment that a link leads to. Raises BadOption for one that is not to be taken
    in.
    """
    match = COMMENT_LINK.fullmatch(link)
    here = match is not None and (match["name"].casefold(), int(match["issue"])) == (
        thread.forge.name.casefold(),
        thread.number,
    )
    wanted = int(match["comment"]) if match is not None and here else 0
    comment = next((one for one in thread.comments() if one.id == wanted), None)
    if comment is None or thread.own(comment):
        raise _not_taken(link, "it is no comment of a person on this issue")
    if command is not None and comment.updated_at > command.created_at:
        raise _not_taken(link, "it was edited after you named it")
    return comment


def _not_taken(link: str, why: str) -> BadOption:
    hint = "Name a comment of this issue as it stands now; the time beside its author is its link."
    return BadOption(f"That comment was not taken in: {why}.", hint=hint, details=(link,))


def _taken(comment: Comment, thread: Thread, command: Comment | None) -> str:
    """Return a stranger's comment with its digest, as code: only the words that a reader is shown,
    and none of them is a heading of the request.
    """
    by = f", taken in by {command.author.login}" if command is not None else ""
    digest = sha256(comment.body.encode("utf-8", "surrogatepass")).hexdigest()
    words = escape.fenced(clean(comment.body.strip()[:_LONGEST_COMMENT]).text)
    return f"### {_head(comment, thread)}{by}, sha256 {digest[:12]}\n\n{words}"
