"""git over HTTP: clone and push as `git http-backend` serves them, with GitHub's words for what is
refused. Its part is done here, for a run is many pushes and each would be four processes more.
"""

import gzip
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
_MOST_BY_ZLIB = 1032
"""Bytes that one compressed byte can stand for (zlib's technical details)."""
_SERVICES = ("git-upload-pack", "git-receive-pack")
_HOOK = """#!/bin/sh
# Where no branch is guarded and nothing can be too large, only workflow files are looked for here.
pushed= commits=
while read -r old new ref; do
  pushed="$pushed$old $new $ref
"
  commits="$commits $new"
done
if [ -n "$FAKE_GITHUB_SMALL" ]; then
  for new in $commits; do
    case "$new" in *[!0]*) ;; *) continue ;; esac
    found=$(git log -1 --full-history --format=%H "$new" --not --all -- .github/workflows) || exit 1
    [ -z "$found" ] || FAKE_GITHUB_SMALL=
  done
  [ -z "$FAKE_GITHUB_SMALL" ] || exit 0
fi
printf '%s' "$pushed" | exec "{python}" -I -S "{rules}"
"""
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
        return self.service == "git-receive-pack"

    @property
    def service(self) -> str:
        """What is asked for, or asked about."""
        return self.query.removeprefix("service=") if self.asks_first else self.tail

    @property
    def asks_first(self) -> bool:
        """Whether it is the first request, which asks for the references."""
        return self.tail == "info/refs"


def install(bare: BareRepository) -> None:
    """Give the bare repository its pre-receive hook."""
    hook = bare.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    script = Path(__file__).parent / "push_rules.py"
    hook.write_text(_HOOK.format(python=sys.executable, rules=script), encoding="utf-8")
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
    if request.pushing and repo.archived:
        # git shows the words of an answer that is plain text.
        plain = {"Content-Type": "text/plain"}
        archived = Refused(403, "This repository was archived so it is read-only.", headers=plain)
        archived.reply.raw = str(archived).encode()
        raise archived


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
    if request.service not in _SERVICES:
        # GitHub's answer to clients that ask for single files (git-http-backend(1): dumb protocol).
        raise Refused(403, "Please upgrade your git client.")
    packed = request.headers.get("content-encoding") == "gzip"
    body = gzip.decompress(request.body) if packed else request.body
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
        small = not guarded and len(body) * _MOST_BY_ZLIB < largest
        done = subprocess.run(
            [
                "git",
                # After each push, git would look in one more process whether to pack.
                *("-c", "receive.autogc=false"),
                request.service.removeprefix("git-"),
                "--stateless-rpc",
                *(["--advertise-refs"] if request.asks_first else []),
                str(repo.bare.path),
            ],
            input=body,
            capture_output=True,
            check=True,
            env=_environment(request, json.dumps(rules), small=small),
        )
        said: dict[str, str] = (
            json.loads(reasons.read_text(encoding="utf-8")) if reasons.exists() else {}
        )
    kind = "advertisement" if request.asks_first else "result"
    headers = {
        "Content-Type": f"application/x-{request.service}-{kind}",
        "Cache-Control": "no-cache, max-age=0, must-revalidate",
    }
    if not request.asks_first:
        return Reply(200, None, headers, raw=_reworded(done.stdout, said) if said else done.stdout)
    # The second version of the protocol has no line about the service (gitprotocol-http(5)).
    newer = not request.pushing and "version=2" in request.headers.get("git-protocol", "")
    begin = b"" if newer else _packet(f"# service={request.service}\n".encode()) + _packet(b"")
    return Reply(200, None, headers, raw=begin + done.stdout)


def _environment(request: GitRequest, rules: str, *, small: bool) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "GIT_COMMITTER_NAME": "somebody",
        "GIT_COMMITTER_EMAIL": "somebody@http.127.0.0.1",
        "FAKE_GITHUB_RULES": rules,
        "FAKE_GITHUB_SMALL": "yes" if small else "",
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
