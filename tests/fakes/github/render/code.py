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
