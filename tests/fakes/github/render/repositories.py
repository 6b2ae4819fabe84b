"""Repositories in GitHub's JSON, from the short form inside other things to the whole page."""

from tests.fakes.github.people import Role, User
from tests.fakes.github.render import stamp
from tests.fakes.github.render.people import user
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Repository

_PLAIN = (
    *(
        "contributors",
        "deployments",
        "downloads",
        "events",
        "forks",
        "hooks",
        "languages",
        "merges",
        "stargazers",
    ),
    *("subscribers", "subscription", "tags", "teams"),
)
_TEMPLATES = {
    "archive": "{archive_format}{/ref}",
    "assignees": "assignees{/user}",
    "blobs": "git/blobs{/sha}",
    "branches": "branches{/branch}",
    "collaborators": "collaborators{/collaborator}",
    "comments": "comments{/number}",
    "commits": "commits{/sha}",
    "compare": "compare/{base}...{head}",
    "contents": "contents/{+path}",
    "git_commits": "git/commits{/sha}",
    "git_refs": "git/refs{/sha}",
    "git_tags": "git/tags{/sha}",
    "issue_comment": "issues/comments{/number}",
    "issue_events": "issues/events{/number}",
    "issues": "issues{/number}",
    "keys": "keys{/key_id}",
    "labels": "labels{/name}",
    "milestones": "milestones{/number}",
    "notifications": "notifications{?since,all,participating}",
    "pulls": "pulls{/number}",
    "releases": "releases{/id}",
    "statuses": "statuses/{sha}",
    "trees": "git/trees{/sha}",
}


def short(url: str, repo: Repository) -> Thing:
    """A repository as it stands in other things."""
    own, page = f"{url}/repos/{repo.full_name}", f"{url}/{repo.full_name}"
    return {
        "id": repo.id,
        "node_id": f"R_{repo.id}",
        "name": repo.name,
        "full_name": repo.full_name,
        "owner": user(url, repo.owner),
        "private": repo.private,
        "html_url": page,
        "description": None,
        "fork": False,
        "url": own,
        **{f"{part}_url": f"{own}/{part}" for part in _PLAIN},
        **{f"{part}_url": f"{own}/{rest}" for part, rest in _TEMPLATES.items()},
    }


def permissions(role: Role) -> dict[str, bool]:
    """What somebody may do, in the five words of the API."""
    return {
        word: role >= least
        for word, least in zip(
            ("pull", "triage", "push", "maintain", "admin"), list(Role)[1:], strict=True
        )
    }


def middle(url: str, repo: Repository) -> Thing:
    """A repository with its settings and counts, as webhooks and pull requests carry it."""
    page, made = f"{url}/{repo.full_name}", stamp(repo.created)
    unfinished = sum(issue.state == "open" and not issue.deleted for issue in repo.issues.values())
    counts = dict.fromkeys(
        ("forks_count", "stargazers_count", "watchers_count", "forks", "watchers", "size"), 0
    )
    return {
        **short(url, repo),
        "git_url": page.replace("http://", "git://") + ".git",
        "ssh_url": f"git@localhost:{repo.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        **dict.fromkeys(("mirror_url", "homepage", "language", "license")),
        **counts,
        "default_branch": repo.bare.default_branch,
        "open_issues_count": unfinished,
        "open_issues": unfinished,
        "is_template": False,
        "topics": [],
        "has_issues": repo.has_issues,
        **dict.fromkeys(("has_projects", "has_wiki", "has_downloads"), True),
        **dict.fromkeys(
            ("has_pages", "has_discussions", "disabled", "web_commit_signoff_required"), False
        ),
        "allow_forking": True,
        "archived": repo.archived,
        "visibility": "private" if repo.private else "public",
        **dict.fromkeys(("pushed_at", "created_at", "updated_at"), made),
    }


def whole(url: str, repo: Repository, viewer: User | None) -> Thing:
    """A repository by itself; what the viewer may do stands in it when there is one."""
    about = {**middle(url, repo), "subscribers_count": 0, "network_count": 0}
    return {**about, "permissions": permissions(repo.role(viewer))} if viewer else about
