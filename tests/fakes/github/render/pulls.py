"""Pull requests in GitHub's JSON: the code in them is read from the bare repository at every
request.
"""

from tests.fakes.github.render import stamp
from tests.fakes.github.render.issues import association, label
from tests.fakes.github.render.people import user
from tests.fakes.github.render.repositories import middle
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Issue, Pull, Repository


def head_of(repo: Repository, pull: Pull) -> str:
    """The commit a pull request stands at; the last known one when its branch is gone or it is
    closed, or it lies in a fork.
    """
    if pull.fork is not None:
        return pull.last_head
    return repo.bare.head(pull.head) or pull.last_head


def short(url: str, repo: Repository, issue: Issue) -> Thing:
    """A pull request as it stands in lists."""
    assert issue.pull is not None
    pull, links = issue.pull, _links(url, repo, issue)
    merged = stamp(pull.merged) if pull.merged else None
    return {
        **{f"{name}_url": address for name, address in links.items() if name != "self"},
        "url": links["self"],
        "id": issue.id,
        "node_id": f"PR_{issue.id}",
        "number": issue.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": user(url, issue.user or repo.owner),
        "body": issue.body,
        "labels": [label(url, repo, each) for each in issue.labels],
        **dict.fromkeys(("milestone", "assignee", "auto_merge", "active_lock_reason")),
        "created_at": stamp(issue.created),
        "updated_at": stamp(issue.updated),
        "closed_at": stamp(issue.closed) if issue.closed else None,
        "merged_at": merged,
        "merge_commit_sha": pull.merge_commit or None,
        **{name: [] for name in ("assignees", "requested_teams")},
        "requested_reviewers": [user(url, asked) for asked in pull.asked],
        "head": _end(url, pull.fork or repo, pull.head, head_of(repo, pull)),
        "base": _end(url, repo, pull.base, repo.bare.head(pull.base)),
        "_links": {
            name: {"href": address}
            for name, address in links.items()
            if name not in {"diff", "patch"}
        },
        "author_association": association(repo, issue.user),
        "draft": pull.draft,
    }


def whole(url: str, repo: Repository, issue: Issue) -> Thing:
    """A pull request by itself, with its counts."""
    assert issue.pull is not None
    pull = issue.pull
    base, head = repo.bare.head(pull.base), head_of(repo, pull)
    changes = repo.bare.changes(base, head)
    return {
        **short(url, repo, issue),
        "merged": pull.merged is not None,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "draft" if pull.draft else "unknown",
        "merged_by": None,
        "comments": len(issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(repo.bare.ahead(base, head)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def _end(url: str, repo: Repository, branch: str, sha: str) -> Thing:
    about = {"label": f"{repo.owner.login}:{branch}", "ref": branch, "sha": sha}
    return {**about, "user": user(url, repo.owner), "repo": middle(url, repo)}


def _links(url: str, repo: Repository, issue: Issue) -> dict[str, str]:
    assert issue.pull is not None
    api, page = f"{url}/repos/{repo.full_name}", f"{url}/{repo.full_name}/pull/{issue.number}"
    own = f"{api}/pulls/{issue.number}"
    return {
        "self": own,
        "html": page,
        "diff": f"{page}.diff",
        "patch": f"{page}.patch",
        "issue": f"{api}/issues/{issue.number}",
        "commits": f"{own}/commits",
        "comments": f"{api}/issues/{issue.number}/comments",
        "review_comments": f"{own}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "statuses": f"{api}/statuses/{head_of(repo, issue.pull)}",
    }


def files(url: str, repo: Repository, pull: Pull) -> list[Thing]:
    """The files a pull request changes, with their patches."""
    base, head = repo.bare.head(pull.base), head_of(repo, pull)
    api, page = f"{url}/repos/{repo.full_name}", f"{url}/{repo.full_name}"
    found: list[Thing] = []
    for change in repo.bare.changes(base, head):
        about: Thing = {"sha": change.sha, "filename": change.path, "status": change.status}
        about |= {
            "additions": change.additions,
            "deletions": change.deletions,
            "changes": change.additions + change.deletions,
        }
        about |= {
            "blob_url": f"{page}/blob/{head}/{change.path}",
            "raw_url": f"{page}/raw/{head}/{change.path}",
        }
        about["contents_url"] = f"{api}/contents/{change.path}?ref={head}"
        found.append({**about, "patch": change.patch} if change.patch else about)
    return found
