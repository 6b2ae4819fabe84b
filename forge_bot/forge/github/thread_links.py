"""Addresses of issues, pull requests, discussions and commits.

GitHub adds a note to these pages when another page links to them.
"""

import html
import re
from urllib.parse import unquote

_THREAD = re.compile(
    r"^<?(?:https?:)?(?://)?(?P<host>[^/\s\u200b]+)/[^/\s]+/[^/\s]+/"
    r"(?:issues|pull|discussions|commits?)/+\w",
    re.IGNORECASE,
)
_KIND = re.compile(r"/(issues|pull|discussions|commits?)/", re.IGNORECASE)
_GITHUB = {"github.com", "www.github.com"}
_INERT_HOST = "redirect.github.com"
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
