"""Drafts of requests: words, or an issue on GitHub, made storable and not too long."""

import os
import re
from collections.abc import Callable, Mapping

from pydantic import Field

from forge_bot.errors import EmptyTask, IssueUnavailable, TaskTooLarge
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.store.request import UnreadComment
from forge_bot.values import Attachment, Frozen, Source

LONGEST_TASK = 100_000
"""Characters of a request. What is longer belongs into a file of the repository."""


LONGEST_TITLE = 80


class RequestDraft(Frozen):
    """A request, before anything is decided about it."""

    title: str
    text: str
    source: Source = Source()
    labels: tuple[str, ...] = ()
    issue_type: str = Field(default="", description="the tracker's type of the issue, as `Bug`")
    attachments: tuple[Attachment, ...] = ()
    taken: tuple[str, ...] = ()
    unread: tuple[UnreadComment, ...] = ()
    files: Mapping[str, bytes] = Field(
        default={}, repr=False, description="the copies of attachments, by name"
    )

    @property
    def words(self) -> str:
        """Title and text, each word once: the title of words is their first line."""
        return (
            self.text
            if self.text.startswith(self.title.rstrip(" …"))
            else f"{self.title}\n{self.text}"
        )


def draft_from_words(task: str, *, token: str | None, api_url: str | None) -> RequestDraft:
    """The draft for a task in words, or for an issue by its URL. Raises EmptyTask,
    IssueUnavailable, TaskTooLarge, IssueUnavailable.
    """
    if (
        task.strip().startswith(("http://", "https://"))
        and (draft := _of_issue(task.strip(), token, api_url)) is not None
    ):
        return checked(draft)
    text = task.replace("\r\n", "\n").replace("\0", "").strip()
    if len(re.sub(r"\W", "", text)) < len("fix"):
        raise EmptyTask("The task is empty, or too short to mean anything.")
    return checked(RequestDraft(title=_title(text), text=text))


def draft_from(
    title: str, text: str, source: Source, labels: tuple[str, ...], issue_type: str = ""
) -> RequestDraft:
    """The draft for an issue that somebody else has read. Raises EmptyTask, TaskTooLarge."""
    words = text.replace("\r\n", "\n").replace("\0", "").strip()
    if not title.strip() and not words:
        raise EmptyTask("The issue has neither a title nor a text.")
    return checked(
        RequestDraft(
            title=title.strip() or _title(words),
            text=words,
            source=source,
            labels=labels,
            issue_type=issue_type.strip(),
        )
    )


def _of_issue(url: str, token: str | None, api_url: str | None) -> RequestDraft | None:
    from forge_bot.github_api.issue import fetch_issue, parse_issue_url, rendered_issue

    ref = parse_issue_url(url, _hosts())
    if ref is None and not re.search(r"\s", url):
        raise _no_issue(url)
    if ref is None:
        return None
    issue = fetch_issue(ref, token, api_url)
    source = Source(
        type="github_issue", id=str(issue.number), url=issue.url, author=issue.author.login
    )
    draft = RequestDraft(
        title=issue.title.strip() or f"Issue {issue.number}",
        text=issue.body,
        source=source,
        labels=issue.labels,
        issue_type=issue.type,
    )
    server = issue.url.partition(f"/{ref.owner}/")[0]
    return with_attachments(draft, server, lambda: rendered_issue(ref, token, api_url))


def post_to(url: str, text: str, token: str, api_url: str | None) -> str:
    """Post a comment to the issue at an address, once, and return the comment's address. Raises
    IssueUnavailable, GitHubError.
    """
    from forge_bot.github_api.issue import comment_once, parse_issue_url

    ref = parse_issue_url(url, _hosts())
    if ref is None:
        raise _no_issue(url)
    return comment_once(ref, text, token, api_url)


def poster(environ: Mapping[str, str]) -> Callable[[str, str], str] | None:
    """Return a function that posts a text to an issue by address; None without a GitHub token."""
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        return None
    return lambda url, text: post_to(url, text, token, environ.get("GITHUB_API_URL"))


def _hosts() -> tuple[str, ...]:
    """Return the hosts that a token may be sent to: only those in the user's own environment."""
    return tuple(host for host in ("github.com", os.environ.get("GH_HOST", "")) if host)


def _no_issue(url: str) -> IssueUnavailable:
    if re.search(r"/pull/\d+", url):
        return IssueUnavailable(
            f"{url} is a pull request, not an issue.",
            hint="Name an issue, or say in words what is to be done.",
        )
    return IssueUnavailable(
        f"{url} is no issue of github.com.",
        hint=(
            "Paste the text of the issue as the task. For an issue on GitHub Enterprise set "
            "GH_HOST to its host."
        ),
    )


def checked(draft: RequestDraft) -> RequestDraft:
    """The draft, made storable, if it is not too long. Raises TaskTooLarge."""
    draft = draft.replace(title=_storable(draft.title), text=_storable(draft.text))
    if len(draft.text) > LONGEST_TASK:
        raise TaskTooLarge(
            f"The task has {len(draft.text):,} characters; {LONGEST_TASK:,} are the most."
        )
    return draft


def with_attachments(draft: RequestDraft, server: str, rendered: Callable[[], str]) -> RequestDraft:
    """The draft with what its text attaches, fetched from GitHub, whose address is `server`."""
    from forge_bot.runs.attachments import freeze_attachments

    frozen = freeze_attachments(draft.text, server, rendered)
    return draft.replace(attachments=frozen.attachments, files=frozen.files)


def title_of_run(title: str) -> str:
    """Return the title that a run has from that of its request: without invisible characters, which
    documents of a run may not hold.
    """
    return clean_plain(title).text.strip() or title


def _storable(text: str) -> str:
    """The text without what no file can hold: JSON, in which issues come, can spell NUL and halves
    of characters.
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text.replace("\0", ""))


def _title(text: str) -> str:
    line = next(line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[:LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") + " …"
