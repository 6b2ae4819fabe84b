"""The part of GitHub's GraphQL that we use, executed over GitHub's own schema: fields, types and
enumerations are checked by that.
"""

import gzip
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

# graphql-core says `tuple` and `list` without their items in that function's signature.
from graphql import (
    ExecutionResult,
    GraphQLSchema,
    build_schema,
    graphql_sync,  # pyright: ignore[reportUnknownVariableType]
)

from tests.fakes.github.people import Token
from tests.fakes.github.replies import Refused, Reply, Thing, mapping
from tests.fakes.github.resolvers import Denied, Root

if TYPE_CHECKING:
    from tests.fakes.github.world import World

FILE = Path(__file__).parent / "schema.graphql.gz"

# The fields that stay in the reduced copy; scripts/github-description reads this. Other types that
# these lead to stay whole.
FIELDS = {
    "Query": {"id", "repository", "viewer"},
    "Mutation": {"markPullRequestReadyForReview"},
    "MarkPullRequestReadyForReviewPayload": {"clientMutationId", "pullRequest"},
    "Node": {"id"},
    "Minimizable": {"isMinimized", "minimizedReason"},
    "PullRequest": {
        *("id", "databaseId", "number", "title", "body", "state", "url"),
        *("isDraft", "headRefName", "headRefOid", "baseRefName"),
        *("reviewThreads", "latestOpinionatedReviews"),
    },
    "PullRequestReviewThreadConnection": {"nodes", "pageInfo", "totalCount"},
    "PullRequestReviewThread": {
        *("id", "isResolved", "isOutdated", "path", "line", "originalLine", "comments")
    },
    "PullRequestReviewCommentConnection": {"nodes", "totalCount"},
    "PullRequestReviewComment": {
        *("id", "fullDatabaseId", "body", "author", "createdAt", "lastEditedAt", "url"),
        *("diffHunk", "isMinimized", "minimizedReason"),
    },
    "PullRequestReviewConnection": {"nodes", "totalCount"},
    "PullRequestReview": {
        *("id", "fullDatabaseId", "body", "author", "state", "submittedAt", "lastEditedAt", "url")
    },
    "PageInfo": {"endCursor", "hasNextPage"},
    "Actor": {"login"},
    "Bot": {"id", "databaseId", "login"},
    "Repository": {
        *("id", "databaseId", "name", "nameWithOwner", "url"),
        *("isPrivate", "isArchived", "pullRequest"),
    },
    "User": {"id", "databaseId", "login"},
}


@cache
def schema() -> GraphQLSchema:
    """The reduced copy, built once in a process."""
    return build_schema(gzip.decompress(FILE.read_bytes()).decode(), assume_valid=True)


def answer(hub: "World", token: Token | None, body: Any) -> Reply:
    """Execute a document. Errors come with status 200, as GitHub sends them."""
    if token is None:
        raise Refused(401, "This endpoint requires you to be authenticated.")
    given = mapping(body)
    if not isinstance(given.get("query"), str):
        raise Refused(400, "A query attribute must be specified and must be a string.")
    done = graphql_sync(
        schema(), given["query"], Root(hub, token).fields, variable_values=given.get("variables")
    )
    return Reply(200, _formatted(done))


def _formatted(done: ExecutionResult) -> Thing:
    errors: list[Thing] = []
    for error in done.errors or []:
        cause = error.original_error
        kind = {"type": cause.kind} if isinstance(cause, Denied) else {}
        errors.append({**kind, **error.formatted})
    return {"data": done.data, **({"errors": errors} if errors else {})}


def misfits(done: Thing) -> list[str]:
    """Errors that mean that a document does not fit the schema, or that the fake broke: those
    without GitHub's type.
    """
    return [
        f"graphql: {error['message']}" for error in done.get("errors", []) if "type" not in error
    ]
