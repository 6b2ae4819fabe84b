"""GitHub's hosts, paths, pages and variables of people and servers. Standard library only; another
forge has other ones.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote

HOST = "github.com"
DOWNLOAD_HOSTS = (
    *(HOST, f"api.{HOST}", f"codeload.{HOST}", "raw.githubusercontent.com"),
    *("objects.githubusercontent.com", "release-assets.githubusercontent.com"),
)
"""The hosts that packages and toolchains are downloaded from."""

FOLDER = ".github"
"""The folder of a repository with what GitHub reads."""
WORKFLOWS = f"{FOLDER}/workflows"
GUIDE_FOLDERS = (f"{FOLDER}/", "", "docs/")
"""The folders in which GitHub searches for guides and templates, in its order."""
CODE_OWNERS = tuple(f"{folder}CODEOWNERS" for folder in GUIDE_FOLDERS)
"""Where the owners of paths stand; the first file that is there counts."""

OWN_ADDRESS = f"forge-bot@users.noreply.{HOST}"
"""The address in commits of forge-bot itself."""

COMMENT_ANCHOR = "#issuecomment-"
"""In every address of a comment."""
COMMENT_LINK = re.compile(
    r"https?://[^/\s]+/(?P<name>[^/\s]+/[^/\s]+)/(?:issues|pull)/(?P<issue>\d{1,9})"
    rf"{COMMENT_ANCHOR}(?P<comment>\d{{1,15}})"
)
"""The address of a comment."""

_NUMBER = re.compile(r"/(?:issues|pull)/(\d+)/?")


def number_of(address: str) -> int:
    """Return the number of the issue or pull request at an address; 0 without one."""
    match = _NUMBER.search(address)
    return int(match[1]) if match is not None and match.end() == len(address) else 0


PAGES = {
    "file": "blob/{commit}/{path}",
    "folder": "tree/{commit}/{path}",
    "commit": "commit/{commit}",
    "branches": "branches",
    "issue": "issues/{number}",
    "pull request": "pull/{number}",
    "comparison": "compare/{base}...{branch}?expand=1",
    "settings": "settings/actions",
    "secrets": "settings/secrets/actions",
    "labels": "labels",
}
"""The pages of a repository, below its own address."""

PULL_PAGE = r"https?://\S+/pull/"
"""The address of a pull request before its number, as a regular expression."""


def page_of(repository: str, page: str, **parts: str) -> str:
    """Return the address of a page of `PAGES`, in the repository at this address."""
    quoted = {name: quote(part) for name, part in parts.items()}
    return f"{repository}/{PAGES[page].format(**quoted)}".rstrip("/")


ADDRESSES = ("GITHUB_SERVER_URL", "GITHUB_API_URL")
"""Variables with the addresses of the server."""


LOGIN_VARIABLE = "GITHUB_TOKEN"
CREDENTIALS = r"GITHUB_TOKEN|GH_TOKEN|ACTIONS_\w+"
"""Variables with tokens, as a regular expression."""


def token_of(environ: Mapping[str, str]) -> str | None:
    """Return the token of a job, or of the person at a terminal."""
    return environ.get(LOGIN_VARIABLE) or environ.get("GH_TOKEN")


def server_of(environ: Mapping[str, str]) -> str:
    """Return the address of the server."""
    return (environ.get("GITHUB_SERVER_URL") or f"https://{HOST}").rstrip("/")


def hosts_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that a token may be sent to: only those in the user's own environment."""
    return tuple(host for host in (HOST, environ.get("GH_HOST", "").lower()) if host)


def api_of(server: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the address of the API of a server, unless the environment names it."""
    named = (environ or {}).get("GITHUB_API_URL", "")
    usual = f"https://api.{HOST}" if server == f"https://{HOST}" else f"{server}/api/v3"
    return (named or usual).rstrip("/")
