"""git over HTTP: clone and push through `git http-backend`, with GitHub's words for what is
refused.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.github.bare import BareRepository
from tests.fakes.github.people import Role, Token
from tests.fakes.github.replies import Refused, Reply
from tests.fakes.github.state import Repository

LARGEST = 100_000_000
_NO_WORKFLOWS = "refusing to allow {who} to create or update workflow `PATH` without `{what}`"


@dataclass(frozen=True)
class GitRequest:
    """A request to a repository's .git address."""

    method: str
    tail: str
    query: str
    body: bytes
    headers: dict[str, str]

    @property
    def pushing(self) -> bool:
        """Whether it belongs to a push."""
        return "git-receive-pack" in (self.tail, self.query.removeprefix("service="))


def install(bare: BareRepository) -> None:
    """Give the bare repository its pre-receive hook."""
    hook = bare.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    script = Path(__file__).parent / "push_rules.py"
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{script}"\n', encoding="utf-8")
    hook.chmod(0o755)


def admit(repo: Repository, token: Token | None, request: GitRequest) -> None:
    """Refuse who may not clone or push, with the status git understands."""
    if token is None and (repo.private or request.pushing):
        raise Refused(
            401, "Authentication required", headers={"WWW-Authenticate": 'Basic realm="GitHub"'}
        )
    level = "write" if request.pushing else "read"
    if token is not None and token.app:
        inside = token.repository == repo.id and token.holds("contents", level)
        allowed = inside or (not repo.private and not request.pushing)
    else:
        allowed = repo.role(token.user if token else None) >= (
            Role.WRITE if request.pushing else Role.READ
        )
    if not allowed:
        who = token.user.login if token else ""
        refused = Refused(
            404 if repo.private else 403, f"Permission to {repo.full_name}.git denied to {who}."
        )
        refused.reply.raw = f"remote: {refused}".encode()
        raise refused


def may_change_workflows(token: Token) -> str | bool:
    """True, or the reason of a refusal with PATH for the file. The token of Actions can never be
    given that permission.
    """
    if token.app:
        who, what, has = "a GitHub App", "workflows` permission", token.holds("workflows", "write")
    else:
        who, what, has = "a Personal Access Token", "workflow` scope", "workflow" in token.scopes
    return has or _NO_WORKFLOWS.format(who=who, what=what).rstrip("`")


def serve(
    repo: Repository, token: Token | None, request: GitRequest, *, largest: int = LARGEST
) -> Reply:
    """Hand the request to git and its answer back."""
    with tempfile.TemporaryDirectory() as folder:
        reasons = Path(folder) / "reasons.json"
        guarded = (
            {}
            if token and not token.app and repo.role(token.user) >= Role.ADMIN
            else repo.protections
        )
        rules = {
            "guarded": {name: found.kind for name, found in guarded.items()},
            "workflows": may_change_workflows(token) if token else True,
            "most": largest,
            "reasons": str(reasons),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=request.body,
            capture_output=True,
            check=True,
            env=_environment(repo, request, json.dumps(rules)),
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        said: dict[str, str] = (
            json.loads(reasons.read_text(encoding="utf-8")) if reasons.exists() else {}
        )
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    status = int(headers.pop("Status", "200").split()[0])
    return Reply(status, None, headers, raw=_reworded(body, said) if said else body)


def _environment(repo: Repository, request: GitRequest, rules: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_PROJECT_ROOT": str(repo.bare.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{request.tail}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_USER": "somebody",
        "REMOTE_ADDR": "127.0.0.1",
        "FAKE_GITHUB_RULES": rules,
    }


def _packets(data: bytes) -> list[bytes]:
    """The pkt-lines of a stream; a flush packet is the empty one (gitprotocol-common)."""
    found: list[bytes] = []
    at = 0
    while at < len(data):
        size = int(data[at : at + 4], 16)
        found.append(data[at + 4 : at + size] if size else b"")
        at += size or 4
    return found


def _packet(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data if data else b"0000"


def _reworded(body: bytes, reasons: dict[str, str]) -> bytes:
    """A receive-pack answer in which each refused reference has GitHub's reason. Band 1 carries the
    report, band 2 words for the person.
    """
    report = b"".join(packet[1:] for packet in _packets(body) if packet[:1] == b"\x01")
    lines: list[bytes] = []
    for packet in _packets(report):
        name = packet.decode().split(" ")[1] if packet.startswith(b"ng ") else ""
        lines.append(
            _packet(
                f"ng {name} {reasons.get(name, 'pre-receive hook declined')}\n".encode()
                if name
                else packet
            )
        )
    words = [packet for packet in _packets(body) if packet[:1] == b"\x02"]
    return b"".join(_packet(each) for each in [*words, b"\x01" + b"".join(lines), b""])
