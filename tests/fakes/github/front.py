"""The front door: a request is recognised, judged, carried out, logged and held against the
description.
"""

import json
import re
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from tests.fakes.github import authorisation, graphql, routes, smart_http
from tests.fakes.github.calls import Call, Route, matching
from tests.fakes.github.description import description
from tests.fakes.github.exchanges import Exchange
from tests.fakes.github.people import Token
from tests.fakes.github.replies import Refused, Reply, Thing, moved, not_found
from tests.fakes.github.serving import entity_tag, paged, query_of
from tests.fakes.github.smart_http import GitRequest

if TYPE_CHECKING:
    from tests.fakes.github.hub import FakeGitHub

_GIT = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")
_BY_ID = re.compile(r"/repositories/(\d+)(/.*)?")
_ATTACHED = re.compile(r"/(user-attachments|stored|private-user-images/1)/(.+)")
_LOG = re.compile(r"/logs/(\d+)/(\d+)")
assert routes.__all__, "importing the routes registers them"


def handle(
    hub: "FakeGitHub", method: str, path: str, query: str, body: bytes, headers: dict[str, str]
) -> Reply | None:
    """Answer one request; None breaks the connection off."""
    path = path.removeprefix("/api/v3") if path.startswith("/api/v3/") else path
    fault = hub.faults.striking(f"{method} {path}")
    if fault and fault.first:
        fault.first()
    if fault and fault.hang:
        hub.closing.wait()
        return None
    if fault and fault.reset and not fault.after:
        hub.log(
            Exchange(
                method,
                path,
                query_of(query),
                _json(body),
                0,
                None,
                {},
                None,
                headers.get("authorization"),
            )
        )
        return None
    if match := _GIT.fullmatch(path):
        if fault and fault.reply and not fault.after:
            return fault.reply
        reply = _git(
            hub,
            match[1],
            match[2],
            GitRequest(method, match[3], query, body, headers),
            headers.get("authorization", ""),
        )
        return fault.reply if fault and fault.reply else reply
    with hub.lock:
        if match := _ATTACHED.fullmatch(path):
            return _attachment(hub, match[1], match[2], headers)
        if match := _LOG.fullmatch(path):
            return _stored_log(hub, int(match[1]), int(match[2]), headers)
        reply = _rest(
            hub, method, path, query_of(query), _json(body), headers, fault.reply if fault else None
        )
    return None if fault and fault.reset else reply


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")


def _git(
    hub: "FakeGitHub", owner: str, name: str, request: GitRequest, authorization: str
) -> Reply:
    try:
        token = authorisation.identify(hub.tokens, authorization)
        repo = hub.found(owner, name)
        smart_http.admit(repo, token, request)
    except Refused as refused:
        return refused.reply
    return smart_http.serve(repo, token, request, largest=hub.largest_file)


def _stored_log(hub: "FakeGitHub", repo_id: int, job: int, headers: dict[str, str]) -> Reply:
    """A log at its own host, which takes nobody's token."""
    if "authorization" in headers:
        hub.findings.append("a token was sent to the host of the logs")
        return Reply(
            403,
            None,
            {"Content-Type": "application/xml"},
            raw=b"<Error><Code>AuthenticationFailed</Code></Error>",
        )
    log = hub.repositories[repo_id].checks[job].log or ""
    return Reply(200, None, {"Content-Type": "text/plain; charset=utf-8"}, raw=log.encode())


def _attachment(hub: "FakeGitHub", host: str, place: str, headers: dict[str, str]) -> Reply:
    """A file of a text: its address leads to where it is stored, and takes nobody's token."""
    if "authorization" in headers:
        hub.findings.append("a token was sent to the host of attachments")
    if elsewhere := hub.attached_elsewhere.get(place):
        return Reply(302, None, {"Location": elsewhere}, raw=b"")
    raw = hub.attached.get(re.sub(r"^assets/|^1-|(?<=\d)\.png$", "", place))
    if raw is None or place in hub.attached_privately:
        return Reply(404, None, {"Content-Type": "text/html"}, raw=b"<!DOCTYPE html>Not Found")
    if host == "user-attachments":
        return Reply(302, None, {"Location": f"/stored/{place}"}, raw=b"")
    return Reply(200, None, {"Content-Type": "image/png"}, raw=raw)


def _rest(
    hub: "FakeGitHub",
    method: str,
    path: str,
    query: dict[str, str],
    body: Any,
    headers: dict[str, str],
    instead: Reply | None,
) -> Reply:
    token: Token | None = None
    route: Route | None = None
    try:
        token = authorisation.identify(hub.tokens, headers.get("authorization", ""))
        _count(hub, token, path)
        if path in {"/graphql", "/api/graphql"}:
            reply = instead or _graphql(hub, token, body)
        else:
            call = _recognised(hub, method, path, query, body, token, headers)
            route = call.route
            reply = instead or _carried_out(call, path)
    except Refused as refused:
        reply = instead or refused.reply
    reply = _dressed(hub, reply, token, headers, route)
    exchange = Exchange(
        method,
        path,
        query,
        body,
        reply.status,
        reply.body,
        reply.headers,
        token.user.login if token else None,
        headers.get("authorization"),
    )
    hub.log(exchange)
    if route is not None and instead is None:
        hub.findings += description().check(route, exchange)
    return reply


def _graphql(hub: "FakeGitHub", token: Token | None, body: Any) -> Reply:
    reply = graphql.answer(hub, token, body)
    hub.findings += graphql.misfits(reply.body)
    return reply


def _count(hub: "FakeGitHub", token: Token | None, path: str) -> None:
    asked = token or hub.nobody
    if path == "/rate_limit":
        return
    if asked.used >= asked.limit:
        raise Refused(403, f"API rate limit exceeded for user ID {asked.user.id}.")
    asked.used += 1


def _recognised(
    hub: "FakeGitHub",
    method: str,
    path: str,
    query: dict[str, str],
    body: Any,
    token: Token | None,
    headers: dict[str, str],
) -> Call:
    if match := _BY_ID.fullmatch(path):
        repo = hub.repositories.get(int(match[1]))
        if repo is None:
            raise not_found()
        path = f"/repos/{repo.full_name}{match[2] or ''}"
    route, params = matching(method, path)
    if route is None:
        hub.findings.append(f"{method} {path}: the fake has no such operation")
        raise not_found()
    return Call(hub, route, params, query, body, token, headers)


def _carried_out(call: Call, path: str) -> Reply:
    authorisation.admit(call)
    if (
        "repo" in call.params
        and f"{call.params['owner']}/{call.params['repo']}".lower() in call.repo.former
    ):
        rest = path.split("/", 4)[4:]
        raise moved(
            301 if call.route.method == "GET" else 307,
            "/".join([f"{call.hub.url}/repositories/{call.repo.id}", *rest]),
        )
    reply = call.route.handler(call)
    own = (
        path
        if "repo" not in call.params
        else f"/repositories/{call.repo.id}/{'/'.join(path.split('/')[4:])}"
    )
    own = path if path.startswith("/repositories/") else own
    return paged(reply, call.hub.url + own, call.query)


def _dressed(
    hub: "FakeGitHub",
    reply: Reply,
    token: Token | None,
    headers: dict[str, str],
    route: Route | None,
) -> Reply:
    """The answer with the headers that GitHub gives to every one; 304 where the caller has it
    already.
    """
    tag = entity_tag(reply) if reply.status == 200 else ""
    if tag and headers.get("if-none-match") == tag:
        (token or hub.nobody).used -= 1
        reply = Reply(304, None, {})
    limit: Thing = hub.limit_of(token)
    about = {
        "Date": formatdate(hub.clock.seconds, usegmt=True),
        "X-GitHub-Media-Type": "github.v3; format=json",
    }
    about |= {
        "Content-Type": "application/json; charset=utf-8",
        "X-GitHub-Request-Id": f"{len(hub.exchanges):04X}:1",
    }
    about |= {f"X-RateLimit-{name.capitalize()}": str(limit[name]) for name in limit}
    about |= {"ETag": tag} if tag else {}
    if token is not None and not token.app:
        about["X-OAuth-Scopes"] = ", ".join(token.scopes)
    if route is not None and route.accepted:
        about["X-Accepted-GitHub-Permissions"] = route.accepted
    given = {name.lower() for name in reply.headers}
    kept = {name: value for name, value in about.items() if name.lower() not in given}
    return Reply(reply.status, reply.body, {**kept, **reply.headers}, raw=reply.raw)
