"""Commits, branches and files in GitHub's JSON."""

import base64
from urllib.parse import quote

from tests.fakes.github.bare import Entry
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Repository

_KINDS = {"blob": "file", "tree": "dir", "commit": "submodule"}


def ref(url: str, repo: Repository, name: str, sha: str) -> Thing:
    """A reference. Its address says refs, though reading it asks for ref."""
    api = f"{url}/repos/{repo.full_name}/git"
    points = {"type": "commit", "sha": sha, "url": f"{api}/commits/{sha}"}
    return {"ref": name, "node_id": f"REF_{name}", "url": f"{api}/{quote(name)}", "object": points}


def commit(url: str, repo: Repository, sha: str) -> Thing:
    """A commit; its people have no account."""
    about, api = repo.bare.show(sha), f"{url}/repos/{repo.full_name}"
    page = f"{url}/{repo.full_name}/commit"
    author, committer = (
        {"name": name, "email": email, "date": date}
        for name, email, date in (about.author, about.committer)
    )
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": f"{api}/commits/{sha}",
        "html_url": f"{page}/{sha}",
        "comments_url": f"{api}/commits/{sha}/comments",
        "author": None,
        "committer": None,
        "commit": {
            "url": f"{api}/git/commits/{sha}",
            "author": author,
            "committer": committer,
            "message": about.message,
            "comment_count": 0,
            "tree": {"sha": about.tree, "url": f"{api}/git/trees/{about.tree}"},
        },
        "parents": [
            {"sha": parent, "url": f"{api}/commits/{parent}", "html_url": f"{page}/{parent}"}
            for parent in about.parents
        ],
    }


def branch(url: str, repo: Repository, name: str) -> Thing:
    """A branch with its newest commit."""
    own = f"{url}/repos/{repo.full_name}/branches/{quote(name)}"
    guard = repo.protections.get(name)
    return {
        "name": name,
        "commit": commit(url, repo, repo.bare.head(name)),
        "_links": {"self": own, "html": f"{url}/{repo.full_name}/tree/{quote(name)}"},
        "protected": guard is not None and not guard.ruleset,
        "protection": {"enabled": guard is not None and not guard.ruleset},
        "protection_url": f"{own}/protection",
    }


def rules(repo: Repository, name: str) -> list[Thing]:
    """The rules of rule sets that hold for a branch, which need not exist."""
    guard = repo.protections.get(name)
    if guard is None or not guard.ruleset:
        return []
    source = {
        "ruleset_id": 1,
        "ruleset_source_type": "Repository",
        "ruleset_source": repo.full_name,
    }
    if guard.signatures:
        return [{"type": "required_signatures", **source}]
    flags = (
        "dismiss_stale_reviews_on_push",
        "require_code_owner_review",
        "require_last_push_approval",
        "required_review_thread_resolution",
    )
    demands: Thing = {"required_approving_review_count": 0, **dict.fromkeys(flags, False)}
    return [{"type": "pull_request", "parameters": demands, **source}]


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
