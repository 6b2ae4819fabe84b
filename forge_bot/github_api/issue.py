"""An issue behind its URL: read once, in our own words, with no surprise waits."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forge_bot.engine.values import Frozen
from forge_bot.errors import IssueUnavailable

if TYPE_CHECKING:
    from github import Github, GithubException

_SECONDS = 20
_FORBIDDEN = 403
_PARTS = 4  # owner, repository, "issues", number


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
    url: str
    state: str


def parse_issue_url(text: str, hosts: Sequence[str] = ("github.com",)) -> IssueRef | None:
    """The issue that the whole text is the URL of; None for anything else, pull requests and surrounding words included.

    A host beside `hosts` is taken for GitHub Enterprise if its path has the form of an issue's.
    """
    if not text or any(character.isspace() for character in text):
        return None
    url = urlsplit(text)
    parts = url.path.strip("/").split("/")
    if url.scheme not in {"http", "https"} or not url.hostname or len(parts) != _PARTS or parts[2] != "issues":
        return None
    owner, repository, _, number = parts
    if not number.isascii() or not number.isdigit() or int(number) == 0 or not owner or not repository:
        return None
    host = url.hostname.removeprefix("www.") if url.hostname.removeprefix("www.") in hosts else url.hostname
    return IssueRef(host=host, owner=owner, repository=repository, number=int(number))


def fetch_issue(ref: IssueRef, token: str | None, api_url: str | None = None) -> Issue:
    """Read an issue. `api_url` replaces the host's own API address. Raises IssueUnavailable with the precise reason."""
    from github import GithubException
    from requests.exceptions import RequestException

    client = _client(ref, token, api_url)
    where = f"{ref.owner}/{ref.repository}#{ref.number}"
    try:
        found = client.get_repo(f"{ref.owner}/{ref.repository}").get_issue(ref.number)
        if found.pull_request is not None:
            raise IssueUnavailable(f"{where} is a pull request, not an issue.", hint="Name an issue, or paste what is to be done.")
        return Issue(
            number=found.number,
            title=found.title or "",
            body=found.body or "",
            labels=tuple(label.name for label in found.labels),
            author=found.user.login if found.user else "ghost",
            url=found.html_url,
            state=found.state,
        )
    except GithubException as error:
        raise _unavailable(where, error) from error
    except (RequestException, OSError) as error:
        raise IssueUnavailable(f"{where} could not be read: GitHub did not answer ({type(error).__name__}).") from error
    except (AssertionError, TypeError, ValueError, AttributeError) as error:
        raise IssueUnavailable(f"{where} could not be read: the answer is not GitHub's.") from error
    finally:
        client.close()


def _client(ref: IssueRef, token: str | None, api_url: str | None) -> "Github":
    from github import Auth, Github

    own = "https://api.github.com" if ref.host == "github.com" else f"https://{ref.host}/api/v3"
    # No retries and no pauses of the library's own: a person waits at the terminal and can call again.
    return Github(
        auth=Auth.Token(token) if token else None,
        base_url=api_url or own,
        timeout=_SECONDS,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
    )


def _unavailable(where: str, error: "GithubException") -> IssueUnavailable:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        when = f" until {datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC" if reset.isdigit() else ""
        return IssueUnavailable(
            f"{where} could not be read: the rate limit is used up{when}.", hint="Set GITHUB_TOKEN for a higher limit, or wait."
        )
    why = {
        401: "the token is not accepted",
        _FORBIDDEN: "access is forbidden",
        404: "there is no such issue, or the token may not see it",
        410: "the issue was deleted",
        301: "the issue was moved",
    }.get(error.status, f"GitHub answered {error.status}")
    return IssueUnavailable(f"{where} could not be read: {why}.")
