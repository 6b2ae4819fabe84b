"""Issues, comments, labels and reactions in GitHub's JSON."""

import re
from collections import Counter
from urllib.parse import quote

from tests.fakes.github.people import Role, User
from tests.fakes.github.render import stamp
from tests.fakes.github.render.people import user
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Comment, Issue, Label, Reaction, Repository

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def label(url: str, repo: Repository, found: Label) -> Thing:
    """A label."""
    return {
        "id": found.id,
        "node_id": f"LA_{found.id}",
        "url": f"{url}/repos/{repo.full_name}/labels/{quote(found.name, safe='')}",
        "name": found.name,
        "description": found.description,
        "color": found.color,
        "default": False,
    }


def association(repo: Repository, person: User | None) -> str:
    """How the author belongs to the repository. GitHub's own word is not to be trusted for
    permission: private members show as NONE.
    """
    if person is repo.owner:
        return "OWNER"
    return "COLLABORATOR" if person and repo.role(person) > Role.READ else "NONE"


def reaction(url: str, found: Reaction) -> Thing:
    """One reaction."""
    about = {
        "id": found.id,
        "node_id": f"REA_{found.id}",
        "user": user(url, found.user),
        "content": found.content,
    }
    return {**about, "created_at": stamp(found.at)}


def rollup(address: str, found: list[Reaction]) -> Thing:
    """The reactions to one thing, counted."""
    counted = Counter(each.content for each in found)
    return {
        "url": f"{address}/reactions",
        "total_count": len(found),
        **{word: counted[word] for word in REACTIONS},
    }


def app(url: str, slug: str) -> Thing | None:
    """The app that something was sent through; None for a person's own hand."""
    if not slug:
        return None
    about: Thing = {
        "id": 7,
        "slug": slug,
        "node_id": "A_7",
        "owner": user(url, User(7, "app-owner")),
        "name": slug,
        "description": None,
    }
    about |= {
        "external_url": f"{url}/{slug}",
        "html_url": f"{url}/apps/{slug}",
        "permissions": {"issues": "write"},
        "events": [],
    }
    return {**about, "created_at": stamp(0), "updated_at": stamp(0)}


def comment(url: str, repo: Repository, found: Comment) -> Thing:
    """A comment."""
    own = f"{url}/repos/{repo.full_name}/issues/comments/{found.id}"
    page = f"{url}/{repo.full_name}/{found.issue.kind}/{found.issue.number}"
    return {
        "url": own,
        "html_url": f"{page}#issuecomment-{found.id}",
        "issue_url": f"{url}/repos/{repo.full_name}/issues/{found.issue.number}",
        "id": found.id,
        "node_id": f"IC_{found.id}",
        "user": user(url, found.user) if found.user else None,
        "created_at": stamp(found.created),
        "updated_at": stamp(found.updated),
        "body": found.body,
        "author_association": association(repo, found.user),
        "reactions": rollup(own, found.reactions),
        "performed_via_github_app": app(url, found.via_app),
    }


def rendered(url: str, body: str) -> str:
    """A text as GitHub renders it: images have addresses that open for some minutes."""
    signed = rf'<img src="{url}/private-user-images/1/1-\1.png?jwt=for-a-while&amp;v=1">'
    return re.sub(rf"!\[[^\]]*\]\({url}/user-attachments/assets/([\w-]+)\)", signed, body)


def pull_link(url: str, repo: Repository, issue: Issue) -> Thing:
    """What tells that an issue is a pull request."""
    page, pull = f"{url}/{repo.full_name}/pull/{issue.number}", issue.pull
    merged = stamp(pull.merged) if pull and pull.merged else None
    links = {
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": merged,
    }
    return {"url": f"{url}/repos/{repo.full_name}/pulls/{issue.number}", **links}


def issue(url: str, repo: Repository, found: Issue) -> Thing:
    """An issue, or a pull request seen as one."""
    own = f"{url}/repos/{repo.full_name}/issues/{found.number}"
    about: Thing = {
        "url": own,
        "repository_url": f"{url}/repos/{repo.full_name}",
        "labels_url": own + "/labels{/name}",
        "comments_url": f"{own}/comments",
        "events_url": f"{own}/events",
        "html_url": f"{url}/{repo.full_name}/{found.kind}/{found.number}",
        "id": found.id,
        "node_id": f"PR_{found.id}" if found.pull else f"I_{found.id}",
        "number": found.number,
        "title": found.title,
        "user": user(url, found.user) if found.user else None,
        "labels": [label(url, repo, each) for each in found.labels],
        "state": found.state,
        "locked": found.locked,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(found.comments),
        "created_at": stamp(found.created),
        "updated_at": stamp(found.updated),
        "closed_at": stamp(found.closed) if found.closed else None,
        "author_association": association(repo, found.user),
        "active_lock_reason": found.lock_reason,
        "body": found.body,
        "closed_by": None,
        "reactions": rollup(own, found.reactions),
        "timeline_url": f"{own}/timeline",
        "performed_via_github_app": None,
        "state_reason": found.state_reason,
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
    }
    return (
        {**about, "draft": found.pull.draft, "pull_request": pull_link(url, repo, found)}
        if found.pull
        else about
    )
