"""Addresses: the repository that a git remote names; an issue, which is read by its URL without
long waits; and pages on which GitHub adds a note when another page links to them.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from forge_bot.errors import GitHubError, IssueUnavailable, NotOnGitHub
from forge_bot.forge.github.client import GitHub, connect
from forge_bot.forge.github.names import HOST, api_of, hosts_of, server_of, token_of
from forge_bot.forge.types import Issue
from forge_bot.sentences import hint_of

_URL = re.compile(
    r"https?://(?:www\.)?(?P<host>[a-z0-9.-]+(?::\d{1,5})?)"
    r"/(?P<owner>[a-z0-9][a-z0-9_-]{0,99})/(?P<repository>(?!\.{1,2}/)[a-z0-9._-]{1,100})"
    r"/issues/(?P<number>[1-9]\d{0,9})/?(?:[?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class IssueRef:
    """The place of an issue."""

    host: str
    owner: str
    repository: str
    number: int

    @property
    def url(self) -> str:
        """Return the page of the issue."""
        return f"https://{self.host}/{self.owner}/{self.repository}/issues/{self.number}"


def parse_issue_url(text: str, hosts: Sequence[str] = (HOST,)) -> IssueRef | None:
    """Return the issue whose URL is the whole text, else None.

    Pull requests and surrounding words give None. Only `hosts` count (with a port where one belongs
    to them): the caller's token is sent to the host found here.
    """
    match = _URL.fullmatch(text.strip())
    if match is None or match["host"].lower() not in {host.lower() for host in hosts}:
        return None
    return IssueRef(
        host=match["host"].lower(),
        owner=match["owner"],
        repository=match["repository"],
        number=int(match["number"]),
    )


def fetch_issue(ref: IssueRef, environ: Mapping[str, str]) -> Issue:
    """Read an issue, with the token and the address of the API that the environment names.

    Raises IssueUnavailable with the precise reason.
    """
    try:
        with _connect(ref, environ) as github:
            issue = github.issue(ref.number)
    except GitHubError as error:
        missing = isinstance(error, NotOnGitHub)
        raise IssueUnavailable(
            error.message, hint=None if missing else hint_of(error), details=error.details
        ) from None
    if issue.is_pull_request:
        raise IssueUnavailable(
            f"{ref.owner}/{ref.repository}#{ref.number} is a pull request, not an issue.",
            hint="Name an issue, or paste what is to be done.",
        )
    return issue


def rendered_issue(ref: IssueRef, environ: Mapping[str, str]) -> str:
    """Return the texts of an issue as HTML. Raises GitHubError."""
    with _connect(ref, environ) as github:
        return github.rendered(ref.number)


def comment_once(ref: IssueRef, text: str, environ: Mapping[str, str]) -> str:
    """Write a comment on an issue, unless one with the same text is there; return its URL. Raises
    GitHubError.
    """
    with _connect(ref, environ) as github:
        # A process that was killed after it wrote could not note that it did.
        there = (comment for comment in github.comments(ref.number) if _same(comment.body, text))
        return (next(there, None) or github.comment(ref.number, text)).url


def _same(body: str, text: str) -> bool:
    return body.replace("\r\n", "\n").strip() == text.strip()


def _connect(ref: IssueRef, environ: Mapping[str, str]) -> GitHub:
    api = api_of(f"https://{ref.host}", environ)
    return connect(f"{ref.owner}/{ref.repository}", token_of(environ), api, patience=0)


_REMOTE = re.compile(
    r"(?:(?P<scheme>https?|ssh|git)://(?:[^/@]+@)?|(?:[^/@:]+@))"
    r"(?P<host>[a-z0-9.-]+(?::\d{1,5})?)[/:]"
    r"(?P<name>[a-z0-9][a-z0-9_-]{0,99}/(?!\.{1,2}$)[a-z0-9._-]{1,100}?)(?:\.git)?/?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RepositoryAddress:
    """A repository: its page, its API and its name there."""

    name: str
    page: str
    api: str


def parse_remote(remote: str | None, environ: Mapping[str, str]) -> RepositoryAddress | None:
    """Return the GitHub repository of a remote's address; None for another host.

    Besides github.com, the hosts are those that GITHUB_SERVER_URL (with GITHUB_API_URL) and GH_HOST
    name: a token is sent nowhere else.
    """
    match = _REMOTE.fullmatch(remote or "")
    if match is None:
        return None
    host, name = match["host"].lower(), match["name"]
    server = server_of(environ)
    own = server.partition("://")[2].lower()
    if host not in {own, *hosts_of(environ)}:
        return None
    page = server if host == own else f"https://{host}"
    api = api_of(page, environ if host == own else None)
    return RepositoryAddress(name=name, page=f"{page}/{name}", api=api)


_THREAD = re.compile(
    r"^<?(?:https?:)?(?://)?(?P<host>[^/\s\u200b]+)/[^/\s]+/[^/\s]+/"
    r"(?:issues|pull|discussions|commits?)/+\w",
    re.IGNORECASE,
)
_KIND = re.compile(r"/(issues|pull|discussions|commits?)/", re.IGNORECASE)
_GITHUB = {HOST, f"www.{HOST}"}
_INERT_HOST = f"redirect.{HOST}"
"""GitHub's own host for links that leave no note on their target page."""


def points_at_thread(address: str) -> bool:
    """Return whether GitHub, public or self-hosted, could take the address for such a page.

    All spellings of an address are considered.
    """
    meant = re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", html.unescape(address))
    thread = _THREAD.match(unquote(meant))
    return thread is not None and (
        thread["host"].lower() in _GITHUB
        or (_THREAD.match(meant) is not None and thread["host"].lower() != _INERT_HOST)
    )


def inert_address(address: str) -> str:
    """Return an address that leads to the same page and leaves no note there."""
    opening = "<" if address.startswith("<") else ""
    meant = re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", html.unescape(address.removeprefix("<")))
    scheme, divider, rest = meant.partition("://")
    scheme, rest = (scheme, rest) if divider else ("https", meant.lstrip("/"))
    if not points_at_thread(meant):
        return f"{opening}{scheme}://{_encode(rest)}"
    host, _, path = rest.partition("/")
    if unquote(host).lower() in _GITHUB:
        return f"{opening}{scheme}://{_INERT_HOST}/{_encode(path)}"
    # Another server may be a GitHub too. A browser decodes %69 as i; a search for issue addresses
    # does not find it.
    plain = _encode(unquote(path))
    return f"{opening}{scheme}://{host}/" + _KIND.sub(
        lambda kind: f"/%{ord(kind[1][0]):02X}{kind[1][1:]}/", plain, count=1
    )


def _encode(path: str) -> str:
    return re.sub(r"[\s<>()\[\]\\@\"'`|$]", lambda sign: f"%{ord(sign[0]):02X}", path)
