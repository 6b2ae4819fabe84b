"""Pull requests between branches of one repository."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import pulls as render
from tests.fakes.github.render.reviews import review_comment
from tests.fakes.github.replies import Refused, Reply, not_found, unfit
from tests.fakes.github.routes.issues import TITLE_LIMIT, body_of, set_state
from tests.fakes.github.state import Issue, Pull, ReviewComment


def _found(call: Call) -> tuple[Issue, Pull]:
    issue = call.issue("pull_number")
    if issue.pull is None:
        raise not_found()
    return issue, issue.pull


def _says(message: str) -> Refused:
    return Refused(
        422,
        "Validation Failed",
        errors=[{"resource": "PullRequest", "code": "custom", "message": message}],
    )


@route("GET", R + "/pulls", "pull_requests=read")
def pulls(call: Call) -> Reply:
    """Pull requests, newest first, by state, head (owner:branch) and base."""
    state, head, base = (
        call.query.get("state", "open"),
        call.query.get("head", ""),
        call.query.get("base", ""),
    )
    found: list[Issue] = []
    for issue in sorted(call.repo.issues.values(), key=lambda issue: -issue.number):
        if (
            issue.pull is None
            or state not in {"all", issue.state}
            or base not in {"", issue.pull.base}
        ):
            continue
        owner = (issue.pull.fork or call.repo).owner.login
        # A head without an owner is no filter at all for GitHub.
        if ":" not in head or head.lower() == f"{owner}:{issue.pull.head}".lower():
            found.append(issue)
    return Reply(body=[render.short(call.hub.url, call.repo, issue) for issue in found], page=True)


@route("POST", R + "/pulls", "pull_requests=write", role=Role.WRITE)
def create_pull(call: Call) -> Reply:
    """A new pull request. GitHub wants two branches that exist, commits between them, and no other
    open one for the same two.
    """
    repo, given = call.repo, call.given()
    title, body = call.text("title", "PullRequest", limit=TITLE_LIMIT), body_of(call)
    head, base = (
        call.text("head", "PullRequest").removeprefix(f"{repo.owner.login}:"),
        call.text("base", "PullRequest"),
    )
    if (
        call.token is not None
        and call.token.user.login == "github-actions[bot]"
        and not repo.actions_may_open_pulls
    ):
        raise Refused(403, "GitHub Actions is not permitted to create or approve pull requests.")
    for name, branch in (("head", head), ("base", base)):
        if not repo.bare.head(branch):
            raise unfit("PullRequest", name)
    if not repo.bare.ahead(repo.bare.head(base), repo.bare.head(head)):
        raise _says(f"No commits between {base} and {head}")
    if any(
        each.pull
        and each.state == "open"
        and (each.pull.head, each.pull.base, each.pull.fork) == (head, base, None)
        for each in repo.issues.values()
    ):
        raise _says(f"A pull request already exists for {repo.owner.login}:{head}.")
    at = call.hub.clock.tick()
    pull = Pull(head, base, draft=bool(given.get("draft")), last_head=repo.bare.head(head))
    issue = Issue(
        call.hub.next_id(), repo.next_number(), title, body, call.someone, at, at, pull=pull
    )
    repo.issues[issue.number] = issue
    shown = render.whole(call.hub.url, repo, issue)
    return Reply(201, shown, {"Location": shown["url"]})


@route("GET", R + "/pulls/{pull_number}", "pull_requests=read")
def pull(call: Call) -> Reply:
    """One pull request."""
    return Reply(body=render.whole(call.hub.url, call.repo, _found(call)[0]))


@route("PATCH", R + "/pulls/{pull_number}", "pull_requests=write")
def change_pull(call: Call) -> Reply:
    """Title, text, state, base. Whether it is a draft cannot be changed here: that is GraphQL's."""
    (issue, found), given = _found(call), call.given()
    if not (issue.user is call.user or call.may(Role.WRITE, "pull_requests=write")):
        raise Refused(403, "Must have push access to repository")
    if "title" in given:
        issue.title = call.text("title", "PullRequest", limit=TITLE_LIMIT)
    if "body" in given:
        issue.body = body_of(call)
    if "base" in given:
        if not call.repo.bare.head(given["base"]):
            raise unfit("PullRequest", "base")
        found.base = given["base"]
    if "state" in given:
        set_state(call, issue, given["state"], None)
    issue.updated = call.hub.clock.tick()
    return Reply(body=render.whole(call.hub.url, call.repo, issue))


@route("POST", R + "/pulls/{pull_number}/requested_reviewers", "pull_requests=write")
def request_review(call: Call) -> Reply:
    """Collaborators are asked for a review; nobody is, if one of them is none or its author."""
    issue, found = _found(call)
    people = [call.hub.users.get(login.lower()) for login in call.given().get("reviewers", [])]
    asked = [person for person in people if person is not None and person is not issue.user]
    if len(asked) < len(people) or any(call.repo.role(one) < Role.TRIAGE for one in asked):
        return Reply(422)
    found.asked += [person for person in asked if person not in found.asked]
    return Reply(201, render.short(call.hub.url, call.repo, issue))


@route("POST", R + "/pulls/{pull_number}/comments/{comment_id}/replies", "pull_requests=write")
def reply_to_review(call: Call) -> Reply:
    """An answer in a thread of a review, to its first comment alone."""
    (issue, found), first = _found(call), call.params["comment_id"]
    thread = next((each for each in found.threads if str(each.comments[0].id) == first), None)
    if thread is None:
        raise not_found()
    body, at = call.text("body", "PullRequestReviewComment"), call.hub.clock.tick()
    comment = ReviewComment(call.hub.next_id(), call.someone, body, at)
    thread.comments.append(comment)
    shown = review_comment(call.hub.url, call.repo, issue, thread, comment)
    return Reply(201, shown, {"Location": shown["url"]})


@route("GET", R + "/pulls/{pull_number}/files", "pull_requests=read")
def files(call: Call) -> Reply:
    """What it changes."""
    return Reply(body=render.files(call.hub.url, call.repo, _found(call)[1]), page=True)
