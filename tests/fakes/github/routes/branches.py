"""Branches and what guards them."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import code
from tests.fakes.github.replies import Refused, Reply, Thing


def _missing() -> Refused:
    return Refused(404, "Branch not found")


@route("GET", R + "/branches", "contents=read")
def branches(call: Call) -> Reply:
    """All branches; `protected` chooses among them."""
    wanted = call.query.get("protected")
    lines: list[Thing] = []
    for name, sha in call.repo.bare.refs("refs/heads").items():
        branch = name.removeprefix("refs/heads/")
        if wanted is None or (wanted == "true") == (branch in call.repo.protections):
            lines.append(code.branch_line(call.hub.url, call.repo, branch, sha))
    return Reply(body=lines, page=True)


@route("GET", R + "/branches/{branch}", "contents=read")
def branch(call: Call) -> Reply:
    """One branch."""
    if not call.repo.bare.head(call.params["branch"]):
        raise _missing()
    return Reply(body=code.branch(call.hub.url, call.repo, call.params["branch"]))


@route("GET", R + "/branches/{branch}/protection", "administration=read", role=Role.ADMIN)
def protection(call: Call) -> Reply:
    """Branch protection, for those who administrate."""
    name = call.params["branch"]
    found = call.repo.protections.get(name)
    if not call.repo.bare.head(name):
        raise _missing()
    if found is None or found.ruleset:
        raise Refused(404, "Branch not protected")
    own = f"{call.hub.url}/repos/{call.repo.full_name}/branches/{name}/protection"
    reviews = {
        "url": f"{own}/required_pull_request_reviews",
        "dismiss_stale_reviews": False,
        "require_code_owner_reviews": False,
    }
    body: Thing = {
        "url": own,
        "required_pull_request_reviews": {**reviews, "required_approving_review_count": 1},
    }
    body["enforce_admins"] = {"url": f"{own}/enforce_admins", "enabled": False}
    for word in ("required_linear_history", "allow_force_pushes", "allow_deletions"):
        body[word] = {"enabled": False}
    return Reply(body=body)


@route("GET", R + "/rules/branches/{branch}", "metadata=read")
def rules(call: Call) -> Reply:
    """The rules of rule sets that hold for a branch; branch protection is not among them."""
    found = call.repo.protections.get(call.params["branch"])
    if found is None or not found.ruleset:
        return Reply(body=[], page=True)
    source = {
        "ruleset_source_type": "Repository",
        "ruleset_source": call.repo.full_name,
        "ruleset_id": 73,
    }
    if found.signatures:
        return Reply(body=[{"type": "required_signatures", **source}], page=True)
    reviews: Thing = {
        "required_approving_review_count": 1,
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
    }
    reviews |= {"require_last_push_approval": False, "required_review_thread_resolution": False}
    lines: list[Thing] = [
        {"type": "deletion"},
        {"type": "non_fast_forward"},
        {"type": "pull_request", "parameters": reviews},
    ]
    if found.required_checks:
        wanted = {
            "strict_required_status_checks_policy": False,
            "required_status_checks": [{"context": c} for c in found.required_checks],
        }
        lines.append({"type": "required_status_checks", "parameters": wanted})
    return Reply(body=[{**line, **source} for line in lines], page=True)
