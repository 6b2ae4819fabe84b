"""Read the reviews of a pull request: their threads, and the reviews that request changes. Only
GraphQL tells whether a thread is resolved.
"""

from collections.abc import Callable
from datetime import datetime

from pydantic import Field

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import GHOST, Account, account_named
from forge_bot.values import Frozen

MOST_PAGES = 10
"""Pages of a hundred threads each."""

_QUERY = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes {
        isResolved isOutdated path line originalLine
        first: comments(first: 1) { nodes { fullDatabaseId diffHunk } }
        comments(last: 50) { nodes { ...words createdAt isMinimized } }
      }
    }
    latestOpinionatedReviews(first: 100) {
      nodes { fullDatabaseId body author { __typename login } state submittedAt lastEditedAt url }
    }
  } }
}
fragment words on PullRequestReviewComment {
  fullDatabaseId body author { __typename login } lastEditedAt
}
"""


class ReviewComment(Frozen):
    """A comment in a thread, or the text of a review. The body is untrusted."""

    id: str
    author: Account
    body: str
    at: datetime = Field(description="when it was written or last edited")
    url: str = ""


class ReviewThread(Frozen):
    """A thread, without hidden comments."""

    resolved: bool
    first: int = Field(description="the id of its first comment, which replies belong to")
    path: str
    line: int | None
    outdated: bool
    hunk: str
    comments: tuple[ReviewComment, ...]


class Reviews(Frozen):
    """What reviews of a pull request say now. `unread` counts the threads beyond the bound."""

    threads: tuple[ReviewThread, ...] = ()
    requests: tuple[ReviewComment, ...] = ()
    unread: int = 0


Ask = Callable[[str, dict[str, str | int | None]], object]


def read_reviews(ask: Ask, name: str, number: int) -> Reviews:
    """Return the reviews of a pull request; `ask` asks GraphQL with variables."""
    owner, _, short = name.partition("/")
    threads, pull, after = list[Node](), Node(), ""
    for _page in range(MOST_PAGES):
        place = {"owner": owner, "name": short, "number": number}
        answer = ask(_QUERY, {**place, "after": after or None})
        pull = Node(answer).at("data", "repository", "pullRequest")
        threads += pull.items("reviewThreads", "nodes")
        after = pull.text("reviewThreads", "pageInfo", "endCursor")
        if not pull.true("reviewThreads", "pageInfo", "hasNextPage"):
            break
    read = map(_thread, threads)
    return Reviews(
        threads=tuple(thread for thread in read if thread.comments),
        requests=tuple(
            _comment(node, "submittedAt")
            for node in pull.items("latestOpinionatedReviews", "nodes")
            if node.text("state") == "CHANGES_REQUESTED"
        ),
        unread=max((pull.number("reviewThreads", "totalCount") or 0) - len(threads), 0),
    )


def _thread(node: Node) -> ReviewThread:
    first = next(iter(node.items("first", "nodes")), Node())
    return ReviewThread(
        resolved=node.true("isResolved"),
        first=int(first.text("fullDatabaseId") or 0),
        path=node.text("path"),
        line=node.number("line") or node.number("originalLine"),
        outdated=node.true("isOutdated"),
        hunk=first.text("diffHunk"),
        comments=tuple(
            _comment(comment, "createdAt")
            for comment in node.items("comments", "nodes")
            if not comment.true("isMinimized")
        ),
    )


def _comment(node: Node, written: str) -> ReviewComment:
    login, bot = node.text("author", "login"), node.text("author", "__typename") == "Bot"
    return ReviewComment(
        id=node.text("fullDatabaseId"),
        # GraphQL names the account of an app without `[bot]`.
        author=account_named(f"{login}[bot]" if bot else login) or GHOST,
        body=node.text("body"),
        url=node.text("url"),
        at=datetime.fromisoformat(node.text("lastEditedAt") or node.text(written)),
    )
