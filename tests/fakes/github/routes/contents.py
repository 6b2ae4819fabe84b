"""Files, read from and written to the bare repository."""

from pathlib import PurePosixPath

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.render import code
from tests.fakes.github.replies import Refused, Reply, not_found


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
