"""Commits, branches and files in GitHub's JSON."""

import base64
from urllib.parse import quote

from tests.fakes.github.bare import Commit, Entry
from tests.fakes.github.people import User
from tests.fakes.github.render.people import user
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Repository

_UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}
_KINDS = {"blob": "file", "tree": "dir", "commit": "submodule"}


def _who(person: tuple[str, str, str]) -> Thing:
    return dict(zip(("name", "email", "date"), person, strict=True))


def _parents(url: str, repo: Repository, found: Commit, kind: str) -> list[Thing]:
    api, page = f"{url}/repos/{repo.full_name}/{kind}", f"{url}/{repo.full_name}/commit"
    return [
        {"sha": sha, "url": f"{api}/{sha}", "html_url": f"{page}/{sha}"} for sha in found.parents
    ]


def git_commit(url: str, repo: Repository, found: Commit) -> Thing:
    """A commit as git has it."""
    api, page = f"{url}/repos/{repo.full_name}/git", f"{url}/{repo.full_name}/commit/{found.sha}"
    return {
        "sha": found.sha,
        "node_id": f"C_{found.sha}",
        "url": f"{api}/commits/{found.sha}",
        "html_url": page,
        "author": _who(found.author),
        "committer": _who(found.committer),
        "message": found.message,
        "tree": {"sha": found.tree, "url": f"{api}/trees/{found.tree}"},
        "parents": _parents(url, repo, found, "git/commits"),
        "verification": _UNSIGNED,
    }


def commit(url: str, repo: Repository, found: Commit, author: User | None = None) -> Thing:
    """A commit as GitHub shows it."""
    own = f"{url}/repos/{repo.full_name}/commits/{found.sha}"
    inner = git_commit(url, repo, found)
    kept = {
        name: inner[name] for name in ("author", "committer", "message", "tree", "verification")
    }
    return {
        "url": own,
        "sha": found.sha,
        "node_id": inner["node_id"],
        "html_url": inner["html_url"],
        "comments_url": f"{own}/comments",
        "commit": {**kept, "url": inner["url"], "comment_count": 0},
        "author": user(url, author) if author else None,
        "committer": user(url, author) if author else None,
        "parents": _parents(url, repo, found, "commits"),
    }


def ref(url: str, repo: Repository, name: str, sha: str) -> Thing:
    """A reference. Its address says refs, though reading it asks for ref."""
    api = f"{url}/repos/{repo.full_name}/git"
    points = {"type": "commit", "sha": sha, "url": f"{api}/commits/{sha}"}
    return {"ref": name, "node_id": f"REF_{name}", "url": f"{api}/{quote(name)}", "object": points}


def protection_of(url: str, repo: Repository, branch: str) -> Thing:
    """What a branch asks of changes, in the short form of a branch's page."""
    found = repo.protections.get(branch)
    guarded = found is not None and not found.ruleset
    contexts = list(found.required_checks) if found else []
    checks: Thing = {
        "enforcement_level": "non_admins" if guarded else "off",
        "contexts": contexts,
        "checks": [],
    }
    own = f"{url}/repos/{repo.full_name}/branches/{branch}"
    about: Thing = {"protected": found is not None, "protection_url": f"{own}/protection"}
    return {**about, "protection": {"enabled": guarded, "required_status_checks": checks}}


def branch(url: str, repo: Repository, name: str) -> Thing:
    """A branch by itself."""
    links = {
        "self": f"{url}/repos/{repo.full_name}/branches/{name}",
        "html": f"{url}/{repo.full_name}/tree/{name}",
    }
    head = commit(url, repo, repo.bare.show(repo.bare.head(name)))
    return {"name": name, "commit": head, "_links": links, **protection_of(url, repo, name)}


def branch_line(url: str, repo: Repository, name: str, sha: str) -> Thing:
    """A branch in a list."""
    at = {"sha": sha, "url": f"{url}/repos/{repo.full_name}/commits/{sha}"}
    return {"name": name, "commit": at, **protection_of(url, repo, name)}


def entry(url: str, repo: Repository, ref_name: str, folder: str, found: Entry) -> Thing:
    """A file or folder as it stands in a list."""
    path = f"{folder}/{found.path}" if folder else found.path
    api, kind = f"{url}/repos/{repo.full_name}", _KINDS[found.type]
    links = {
        "self": f"{api}/contents/{quote(path)}?ref={quote(ref_name, safe='')}",
        "git": f"{api}/git/{'trees' if kind == 'dir' else 'blobs'}/{found.sha}",
        "html": (
            f"{url}/{repo.full_name}/{'tree' if kind == 'dir' else 'blob'}/{ref_name}/{quote(path)}"
        ),
    }
    return {
        "type": kind,
        "size": found.size,
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": found.sha,
        "url": links["self"],
        "git_url": links["git"],
        "html_url": links["html"],
        "download_url": (
            f"{url}/{repo.full_name}/raw/{ref_name}/{quote(path)}" if kind == "file" else None
        ),
        "_links": links,
    }


def file(url: str, repo: Repository, ref_name: str, found: Entry) -> Thing:
    """A file with its content, in base64 with lines of sixty signs as GitHub has it."""
    text = base64.b64encode(repo.bare.blob(found.sha)).decode()
    lines = "".join(f"{text[at : at + 60]}\n" for at in range(0, len(text), 60))
    return {**entry(url, repo, ref_name, "", found), "encoding": "base64", "content": lines}
