"""Fetch the end of a job's log from where GitHub keeps it, without the token."""

import re
from collections import deque
from http.client import HTTPResponse
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

_TIMEOUT = 20
_MOST = 50_000_000
_CHUNK = 65_536
_KEPT = 16_384
_LINES = 60
# Every line of a log begins with a timestamp; colours are ANSI sequences.
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def end_of_log(address: str, lines: int = _LINES) -> str:
    """Return the last lines of the log at a URL that GitHub gave.

    Return an empty text if the log cannot be read, since it is optional.
    """
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        return ""
    try:
        # The scheme was checked above, and no token is sent.
        with urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310
            data = _end(answer)
    except (OSError, URLError, ValueError):
        return ""
    text = _COLOUR.sub("", _STAMP.sub("", data.decode(errors="replace")))
    return "\n".join(text.splitlines()[-lines:])


def _end(answer: HTTPResponse) -> bytes:
    """Return the last bytes.

    Of a log beyond the size limit, return the last bytes that were read.
    """
    chunks: deque[bytes] = deque(maxlen=2)
    total = 0
    while total < _MOST and (chunk := answer.read(_CHUNK)):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)[-_KEPT:]
