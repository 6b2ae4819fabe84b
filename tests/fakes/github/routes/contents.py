"""Files, read from and written to the bare repository."""

import base64
import binascii
from pathlib import PurePosixPath

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import code
from tests.fakes.github.replies import Refused, Reply, not_found, unfit

_MOST = 100_000_000


def _path(call: Call) -> str:
    path = call.params["path"].strip("/")
    if any(part in {"..", "."} for part in PurePosixPath(path).parts):
        raise Refused(422, "path contains a malformed path component")
    return path


@route("GET", R + "/contents/{path}", "contents=read")
def read(call: Call) -> Reply:
    """A file with its content, or the lines of a folder; the raw bytes when they are asked for."""
    path, ref = _path(call), call.query.get("ref", call.repo.bare.default_branch)
    sha = call.repo.bare.resolve(ref)
    if not sha:
        raise Refused(404, f"No commit found for the ref {ref}")
    found = call.repo.bare.entry(sha, path)
    if found is None:
        raise not_found()
    if found.type == "tree":
        entries = call.repo.bare.folder(sha, path)
        return Reply(
            body=[code.entry(call.hub.url, call.repo, ref, path, entry) for entry in entries]
        )
    if "raw" in call.headers.get("accept", ""):
        return Reply(
            raw=call.repo.bare.blob(found.sha),
            headers={"Content-Type": "application/vnd.github.raw; charset=utf-8"},
        )
    return Reply(body=code.file(call.hub.url, call.repo, ref, found))


@route("PUT", R + "/contents/{path}", "contents=write", role=Role.WRITE)
def write(call: Call) -> Reply:
    """Make or replace a file by a commit. Replacing needs the id of the content that is
    replaced.
    """
    repo, given, path = call.repo, call.given(), _path(call)
    branch, message = given.get("branch", repo.bare.default_branch), call.text("message", "Commit")
    old = repo.bare.head(branch)
    if not old:
        raise Refused(404, f"Branch {branch} not found")
    try:
        data = base64.b64decode(given.get("content", ""), validate=False)
    except (binascii.Error, TypeError):
        raise unfit("Content", "content") from None
    if len(data) > _MOST:
        raise Refused(422, "Sorry, the file is too large.")
    there = repo.bare.entry(old, path)
    if there is not None and given.get("sha") is None:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if (there.sha if there else None) != given.get("sha"):
        raise Refused(409, f"{path} does not match {given.get('sha')}")
    call.hub.guard_paths(call, [path])
    call.hub.guard_branch(call, branch, old, old)
    made = repo.bare.commit(
        branch, {path: data}, message, call.hub.signature(call.someone), call.hub.clock.tick()
    )
    entry = repo.bare.entry(made, path)
    assert entry is not None
    body = {
        "content": code.entry(call.hub.url, repo, branch, "", entry),
        "commit": code.git_commit(call.hub.url, repo, repo.bare.show(made)),
    }
    return Reply(200 if there else 201, body)
