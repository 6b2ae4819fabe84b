"""Find the GitHub repository for the address of a git remote."""

import re
from collections.abc import Mapping

from forge_bot.values import Frozen

_REMOTE = re.compile(
    r"(?:(?P<scheme>https?|ssh|git)://(?:[^/@]+@)?|(?:[^/@:]+@))"
    r"(?P<host>[a-z0-9.-]+(?::\d{1,5})?)[/:]"
    r"(?P<name>[a-z0-9][a-z0-9_-]{0,99}/(?!\.{1,2}$)[a-z0-9._-]{1,100}?)(?:\.git)?/?",
    re.ASCII | re.IGNORECASE,
)


class RepositoryAddress(Frozen):
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
    server = (environ.get("GITHUB_SERVER_URL") or "https://github.com").rstrip("/")
    if server.partition("://")[2].lower() == host:
        api = environ.get("GITHUB_API_URL") or (
            "https://api.github.com" if host == "github.com" else f"{server}/api/v3"
        )
        return RepositoryAddress(name=name, page=f"{server}/{name}", api=api.rstrip("/"))
    if host == "github.com":
        return RepositoryAddress(
            name=name, page=f"https://github.com/{name}", api="https://api.github.com"
        )
    if host == environ.get("GH_HOST", "").lower():
        return RepositoryAddress(
            name=name, page=f"https://{host}/{name}", api=f"https://{host}/api/v3"
        )
    return None
