"""Fetch what people attach to an issue from the hosts where GitHub keeps it, without a token. An
image of a private repository has an address in the issue's rendered text that opens it for some
minutes, which GitHub shows to who may read the issue.
"""

import html
import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin, urlsplit

from forge_bot.errors import GitHubError
from forge_bot.forge.github.gate_client import staying_opener
from forge_bot.forge.github.names import HOST
from forge_bot.forge.plain_image import MOST_BYTES

if TYPE_CHECKING:
    from http.client import HTTPResponse

_HOSTS = frozenset(
    {
        "user-images.githubusercontent.com",
        "private-user-images.githubusercontent.com",
        "objects.githubusercontent.com",
        "github-production-user-asset-6210df.s3.amazonaws.com",
        "github-production-repository-file-5c1aeb.s3.amazonaws.com",
    }
)
"""Where github.com keeps attachments, beside its own address."""

ATTACHED = re.compile(
    r"https?://[^\s()<>\[\]\"'`/]+/(?:(?:user-attachments|[\w.-]+/[\w.-]+)/(?:assets|files)/"
    r"|(?<=user-images\.githubusercontent\.com/))[\w./%+~?=&;-]+"
    r"|!\[\]\((?P<image>[^\s()<>]+)\)"
)
"""The address of a file that was dropped into a text on GitHub, or of any image; as `clean` writes
them."""

_ASSET = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REDIRECTS = 3
_MOVED = frozenset({301, 302, 303, 307, 308})
_SECONDS = 30.0
_BLOCK = 1 << 16


class NotFetched(Exception):
    """The reason why a file could not be had, as a phrase: `it is gone`."""


class AttachmentReader:
    """Reads attachments of one issue. `server` is GitHub's own address. `rendered` gives the
    issue's text and comments as HTML.
    """

    def __init__(self, server: str, rendered: Callable[[], str]) -> None:
        self._server = urlsplit(server)
        self._rendered = rendered
        self._opener = staying_opener()

    def read(self, address: str, most: int = MOST_BYTES) -> bytes:
        """Return the bytes of an attachment, at most so many. Raises NotFetched."""
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        until, place = time.monotonic() + _SECONDS, self._signed(address)
        for _ in range(_REDIRECTS + 1):
            try:
                self._check(place)
                # The hosts are those above, over https.
                request = Request(place, headers={"User-Agent": "forge-bot"})  # noqa: S310
                with self._opener.open(request, timeout=10) as reply:
                    return _read(cast("HTTPResponse", reply), most, until)
            except HTTPError as error:
                with error:
                    if error.code not in _MOVED:
                        raise NotFetched(_refusal(error.code)) from None
                    place = urljoin(place, error.headers.get("Location", ""))
            except (OSError, ValueError, HTTPException) as error:
                raise NotFetched(f"it could not be fetched ({type(error).__name__})") from None
        raise NotFetched("it leads from one address to the next")

    def _check(self, address: str) -> None:
        """Raise NotFetched for an address where GitHub keeps no attachments."""
        place, own = urlsplit(address), self._server
        host, server = place.netloc.lower(), own.netloc.lower()
        if (place.scheme, host) == (own.scheme, server):
            return
        if place.scheme != "https" or host not in _HOSTS or server != HOST:
            raise NotFetched(
                f"it leads to {host[:100] or 'no address'}, where GitHub keeps no attachments"
            )

    @cached_property
    def _html(self) -> str:
        try:
            return html.unescape(self._rendered())
        except GitHubError:
            return ""

    def _signed(self, address: str) -> str:
        """Return the address that opens an asset, from the rendered text; the same without one."""
        asset = _ASSET.search(address)
        if asset is None:
            return address
        signed = re.search(
            rf"https?://[^\s\"'<>]*{asset[0]}[^\s\"'<>]*[?&]jwt=[^\s\"'<>]+", self._html
        )
        return signed[0] if signed else address


def _read(reply: "HTTPResponse", most: int, until: float) -> bytes:
    too_large = f"it has more than {most:,} bytes"
    if (reply.length or 0) > most:
        raise NotFetched(too_large)
    data = bytearray()
    while block := reply.read(_BLOCK):
        data += block
        if len(data) > most:
            raise NotFetched(too_large)
        if time.monotonic() > until:
            raise NotFetched(f"it did not come within {_SECONDS:.0f} seconds")
    return bytes(data)


def _refusal(status: int) -> str:
    if status in {401, 403, 404, 410}:
        return "it was deleted, or this token may not read it"
    return f"GitHub answered {status} for it"
