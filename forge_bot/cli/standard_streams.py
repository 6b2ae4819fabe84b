"""Standard streams that cannot fail for small reasons, and text that cannot drive a terminal."""

import os
import re
import sys
from contextlib import suppress

# Characters that drive a terminal (C0 without tab and line feed, DEL, C1), that turn the direction
# in which a line is read (Unicode TR36, "Bidirectional Text Spoofing"), or that no encoding can
# write (halves of surrogate pairs).
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_HALF = re.compile("[\udc80-\udcff]")
_PICTURES = 0x2400
_DELETE, _C0_END = 0x7F, 0x20
"""Unicode's block of pictures for control characters, in the order of ASCII."""


class NobodyReads(BaseException):
    """Whoever read the output has gone, as `| head` does. As with Ctrl-C, nothing on the way may
    take it for a failure.
    """


def prepare_streams() -> None:
    """Let output go nowhere where a standard stream is closed, and have `?` for a sign that an
    encoding lacks.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # The stream lives as long as the process.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
        elif mode == "w":
            stream.reconfigure(errors="replace")


def flush_output() -> None:
    """Have on its way what was written. Raises NobodyReads now, so that the interpreter does not
    fail over it when it ends.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_output()
        raise NobodyReads from None


def silence_output() -> None:
    """Discard all later output to stdout."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def decode_word(text: str) -> str:
    """Words of the command line as text: UTF-8 whatever the locale says, and U+FFFD for bytes that
    are no UTF-8.
    """
    return os.fsencode(text).decode("utf-8", "replace") if _HALF.search(text) else text


def make_visible(text: str) -> str:
    """The text with characters that would drive a terminal replaced by signs that are only seen."""
    return _DRIVING.sub(_sign, text) if _DRIVING.search(text) else text


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == _DELETE:
        return "␡"
    return chr(_PICTURES + code) if code < _C0_END else "\ufffd"
