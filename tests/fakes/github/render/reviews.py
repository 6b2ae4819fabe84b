"""Reviews and their threads, in GitHub's GraphQL and in its JSON."""

from collections.abc import Callable, Sequence

from tests.fakes.github.people import User
from tests.fakes.github.render import stamp
from tests.fakes.github.render.issues import association
from tests.fakes.github.render.people import user
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Issue, Pull, Repository, Review, ReviewComment, ReviewThread


def reviews(page: str, pull: Pull) -> Thing:
    """The connections of a pull request to its reviews; `page` begins the address of a comment."""
    latest = {each.user.login: each for each in pull.reviews if each.state != "COMMENTED"}
    return {
        "reviewThreads": _connection([_thread(page, each) for each in pull.threads]),
        "latestOpinionatedReviews": _connection([_review(page, x) for x in latest.values()]),
    }


def _connection(every: Sequence[Thing]) -> Callable[..., Thing]:
    """Nodes by pages, from the beginning or from the end."""

    def resolve(
        _info: object, first: int = 0, last: int = 0, after: str = "", **_more: object
    ) -> Thing:
        if not 0 < (first or last) <= 100:
            raise ValueError("one of first and last is from 1 to 100")
        start = int(after or 0)
        end = start + first if first else len(every)
        nodes = every[start:end] if first else every[-last:]
        about = {"endCursor": str(end), "hasNextPage": end < len(every)}
        return {"nodes": nodes, "pageInfo": about, "totalCount": len(every)}

    return resolve


def _actor(account: User | None) -> Thing | None:
    """An account; that of an app goes without `[bot]` here."""
    if account is None:
        return None
    login = account.login.removesuffix("[bot]")
    return {"__typename": account.type, "id": f"U_{account.id}", "login": login}


def _thread(page: str, thread: ReviewThread) -> Thing:
    return {
        "id": f"PRRT_{thread.comments[0].id}",
        "isResolved": thread.resolved,
        "isOutdated": thread.outdated,
        "path": thread.path,
        "line": None if thread.outdated else thread.line,
        "originalLine": thread.line,
        "comments": _connection([_comment(page, each) for each in thread.comments]),
    }


def _comment(page: str, comment: ReviewComment) -> Thing:
    return {
        "id": f"PRRC_{comment.id}",
        "fullDatabaseId": str(comment.id),
        "body": comment.body,
        "author": _actor(comment.user),
        "createdAt": stamp(comment.created),
        "lastEditedAt": stamp(comment.edited) if comment.edited is not None else None,
        "url": f"{page}{comment.id}",
        "diffHunk": "@@ -1 +1 @@\n-old\n+new",
        "isMinimized": comment.minimized is not None,
        "minimizedReason": comment.minimized,
    }


def _review(page: str, review: Review) -> Thing:
    return {
        "id": f"PRR_{review.id}",
        "fullDatabaseId": str(review.id),
        "body": review.body,
        "author": _actor(review.user),
        "state": review.state,
        "submittedAt": stamp(review.at),
        "lastEditedAt": None,
        "url": f"{page}{review.id}",
    }


def review_comment(
    url: str, repo: Repository, issue: Issue, thread: ReviewThread, comment: ReviewComment
) -> Thing:
    """A comment of a thread, as REST shows it."""
    pull = f"{url}/repos/{repo.full_name}/pulls/{issue.number}"
    own = f"{url}/repos/{repo.full_name}/pulls/comments/{comment.id}"
    page = f"{url}/{repo.full_name}/pull/{issue.number}#discussion_r{comment.id}"
    commit = issue.pull.last_head if issue.pull else ""
    return {
        "url": own,
        "pull_request_review_id": None,
        "id": comment.id,
        "node_id": f"PRRC_{comment.id}",
        "diff_hunk": "@@ -1 +1 @@",
        "path": thread.path,
        "commit_id": commit,
        "original_commit_id": commit,
        "in_reply_to_id": thread.comments[0].id,
        "user": user(url, comment.user) if comment.user else None,
        "body": comment.body,
        "created_at": stamp(comment.created),
        "updated_at": stamp(comment.created),
        "html_url": page,
        "pull_request_url": pull,
        "author_association": association(repo, comment.user),
        "_links": {"self": {"href": own}, "html": {"href": page}, "pull_request": {"href": pull}},
    }
