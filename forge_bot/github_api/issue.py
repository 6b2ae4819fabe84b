"""An issue behind its URL: read once, in our own words, with no surprise waits."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from forge_bot.engine.values import Frozen
from forge_bot.errors import IssueUnavailable

if TYPE_CHECKING:
    from github import Github, GithubException

_SECONDS = 20
_URL = re.compile(
    r"https?://(?:www\.)?(?P<host>[a-z0-9.-]+(?::\d{1,5})?)"
    r"/(?P<owner>[a-z0-9][a-z0-9_-]{0,99})/(?P<repository>(?!\.{1,2}/)[a-z0-9._-]{1,100})"
    r"/issues/(?P<number>[1-9]\d{0,9})/?(?:[?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)
_LIMITED = frozenset({403, 429})


class IssueRef(Frozen):
    """Where an issue is."""

    host: str
    owner: str
    repository: str
    number: int


class Issue(Frozen):
    """What a request needs of an issue. Title and body are strangers' words."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: str
    author_association: str
    url: str
    state: str


class _Wire(BaseModel):
    """Part of what GitHub answers; it may add fields at any time, so unknown ones are passed over here."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _User(_Wire):
    login: str


class _Label(_Wire):
    name: str | None = None


class _Answer(_Wire):
    number: int
    title: str
    body: str | None = None
    labels: list[_Label | str] = []
    user: _User | None = None
    author_association: str = "NONE"
    html_url: str
    state: str
    pull_request: dict[str, object] | None = None


def parse_issue_url(text: str, hosts: Sequence[str] = ("github.com",)) -> IssueRef | None:
    """The issue that the whole text is the URL of; None for anything else, pull requests and surrounding words included.

    Only `hosts` count (with a port where one belongs to them): the caller's token goes to the host that is found here.
    """
    match = _URL.fullmatch(text.strip())
    if match is None or match["host"].lower() not in {host.lower() for host in hosts}:
        return None
    return IssueRef(host=match["host"].lower(), owner=match["owner"], repository=match["repository"], number=int(match["number"]))


def fetch_issue(ref: IssueRef, token: str | None, api_url: str | None = None) -> Issue:
    """Read an issue. `api_url` replaces the host's own API address. Raises IssueUnavailable with the precise reason."""
    from github import GithubException

    where = f"{ref.owner}/{ref.repository}#{ref.number}"
    client = _client(where, _clean(where, token), _address(where, ref, api_url))
    try:
        found = client.get_repo(f"{ref.owner}/{ref.repository}").get_issue(ref.number)
        return _issue(where, _Answer.model_validate(found.raw_data))
    except GithubException as error:
        raise _unavailable(where, error) from None
    except ValidationError:
        raise _strange(where) from None
    # requests' errors are OSErrors; some of them (a broken header) are ValueErrors as well.
    except OSError as error:
        raise IssueUnavailable(f"{where} could not be read: GitHub did not answer ({type(error).__name__}).") from None
    # PyGithub lets these out over an answer that is not shaped like GitHub's, and RuntimeError over a move to another host.
    except (RuntimeError, AssertionError, TypeError, ValueError, AttributeError):
        raise _strange(where) from None
    finally:
        client.close()


def _issue(where: str, answer: _Answer) -> Issue:
    if answer.pull_request is not None:
        raise IssueUnavailable(f"{where} is a pull request, not an issue.", hint="Name an issue, or paste what is to be done.")
    names = (label if isinstance(label, str) else label.name for label in answer.labels)
    return Issue(
        number=answer.number,
        title=answer.title,
        body=answer.body or "",
        labels=tuple(name for name in names if name),
        author=answer.user.login if answer.user else "ghost",
        author_association=answer.author_association,
        url=answer.html_url,
        state=answer.state,
    )


def _clean(where: str, token: str | None) -> str | None:
    token = (token or "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise IssueUnavailable(f"{where} was not asked for: GITHUB_TOKEN holds signs that no token has.", hint="Set it anew.")
    return token or None


def _address(where: str, ref: IssueRef, api_url: str | None) -> str:
    own = "https://api.github.com" if ref.host == "github.com" else f"https://{ref.host}/api/v3"
    if api_url is None:
        return own
    try:
        parts = urlsplit(api_url)
    except ValueError:
        parts = urlsplit("")
    # A token must not travel in the clear; loopback does not travel.
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"})):
        return api_url
    raise IssueUnavailable(f"{where} could not be read: {api_url!r} is no https address of an API.", hint="Correct GITHUB_API_URL.")


def _client(where: str, token: str | None, address: str) -> "Github":
    from github import Auth, Github

    # No retries and no pauses of the library's own: a person waits at the terminal and can call again.
    try:
        return Github(
            auth=Auth.Token(token) if token else None,
            base_url=address,
            timeout=_SECONDS,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
        )
    except (AssertionError, ValueError):
        raise IssueUnavailable(f"{where} could not be read: {address!r} is no address.", hint="Correct GITHUB_API_URL.") from None


def _strange(where: str) -> IssueUnavailable:
    return IssueUnavailable(f"{where} could not be read: the answer is not GitHub's.")


def _unavailable(where: str, error: "GithubException") -> IssueUnavailable:
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    said = f"{error.message or error.data}".lower()
    if error.status in _LIMITED and (headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers or "rate limit" in said):
        return IssueUnavailable(
            f"{where} could not be read: the rate limit is used up{_until(headers)}.",
            hint="Set GITHUB_TOKEN for a higher limit, or wait.",
        )
    why = {
        401: "the token is not accepted",
        403: "access is forbidden",
        404: "there is no such issue, or the token may not see it",
        410: "the issue was deleted, or issues are turned off there",
        301: "the issue was moved",
    }.get(error.status, f"GitHub answered {error.status}")
    return IssueUnavailable(f"{where} could not be read: {why}.")


def _until(headers: Mapping[str, str]) -> str:
    """When the limit ends: x-ratelimit-reset is in seconds since 1970, retry-after in seconds from now (GitHub REST, rate limits)."""
    reset, wait = headers.get("x-ratelimit-reset", ""), headers.get("retry-after", "")
    if headers.get("x-ratelimit-remaining") == "0" and re.fullmatch("[0-9]{1,11}", reset):
        return f" until {datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(reset)):%Y-%m-%d %H:%M} UTC"
    return f" for {wait} seconds" if re.fullmatch("[0-9]{1,6}", wait) else ""
