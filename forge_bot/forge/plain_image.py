"""Copy an image without its metadata: only the chunks and segments that its pixels need. Nothing is
decoded, so an image that declares more pixels than it has room for costs nothing.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

MOST_BYTES = 4_000_000
"""Bytes of one file; of an image providers take a little more."""

MOST_PIXELS_A_SIDE = 8_000

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers of JPEG without a length: they stand between the bytes of a scan."""

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_TABLES = frozenset({0xC4, 0xDB, 0xDD, _SCAN})
_ADOBE = 0xEE
"""The segment that says how colours are coded, of 12 bytes; others of its number are metadata."""


class NotAnImage(Exception):
    """The bytes are no image that can be shown, as a phrase: `it is a web page`."""


class PlainImage(NamedTuple):
    """An image without metadata."""

    media_type: str
    data: bytes
    width: int
    height: int


def plain_image(data: bytes) -> PlainImage | None:
    """Return the image without its metadata; None for bytes that begin like no image. Its kind is
    told by its bytes. Raises NotAnImage for one that is too large or does not parse.
    """
    if not data.startswith((_PNG, _JPEG)):
        return None
    if len(data) > MOST_BYTES:
        raise NotAnImage(f"it has {len(data):,} bytes; {MOST_BYTES:,} are the most")
    try:
        image = _copy_png(data) if data.startswith(_PNG) else _copy_jpeg(data)
    except (IndexError, ValueError):
        raise NotAnImage("it is damaged") from None
    if not (image.width and image.height):
        raise NotAnImage("it is damaged")
    if max(image.width, image.height) > MOST_PIXELS_A_SIDE:
        raise NotAnImage(f"it says that it has {image.width:,} × {image.height:,} pixels")
    return image


def _copy_png(data: bytes) -> PlainImage:
    chunks = list(_png_chunks(data))
    kinds = [kind for kind, _ in chunks]
    header = chunks[0][1]
    if kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or b"IDAT" not in kinds or len(header) != 25:  # noqa: PLR2004 - 13 bytes, and 12 around them
        raise ValueError
    kept = b"".join(chunk for kind, chunk in chunks if kind in _PNG_KEPT)
    width, height = _big(header[8:12]), _big(header[12:16])
    return PlainImage("image/png", _PNG + kept, width, height)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks by kind, up to the last one; what follows it is no part of the image."""
    at, kind = len(_PNG), b""
    while kind != b"IEND":
        end = at + 12 + _big(_part(data, at, 4))
        chunk = _part(data, at, end - at)
        kind = chunk[4:8]
        if zlib.crc32(chunk[4:-4]) != _big(chunk[-4:]):
            raise ValueError
        yield kind, chunk
        at = end


def _copy_jpeg(data: bytes) -> PlainImage:
    kept, at, width, height, scans = [data[:2]], 2, 0, 0, 0
    while (marker := _marker(data, at)) != _END:
        size = _big(_part(data, at + 2, 2))
        segment = _part(data, at, 2 + size)
        end = at + len(segment)
        if marker in _FRAMES:
            height, width = _big(segment[5:7]), _big(segment[7:9])
        if marker == _SCAN:
            scans, end = scans + 1, _end_of_scan(data, end)
        adobe = marker == _ADOBE and segment[4:9] == b"Adobe" and size == 14  # noqa: PLR2004 - with its own two
        if marker in _FRAMES | _TABLES or adobe:
            kept.append(data[at:end])
        at = end
    if not scans:
        raise ValueError
    return PlainImage("image/jpeg", b"".join(kept) + b"\xff\xd9", width, height)


def _marker(data: bytes, at: int) -> int:
    if data[at] != 0xFF or data[at + 1] in _BARE | {_START, 0xFF, 0}:  # noqa: PLR2004 - begins each marker
        raise ValueError
    return data[at + 1]


def _end_of_scan(data: bytes, at: int) -> int:
    """Return the place of the next marker that is no part of the scan."""
    while True:
        at = data.index(b"\xff", at)
        if data[at + 1] not in _BARE | {0}:
            return at
        at += 2


def _part(data: bytes, at: int, size: int) -> bytes:
    """Return so many bytes. Raises ValueError where there are fewer."""
    part = data[at : at + size]
    if len(part) != size:
        raise ValueError
    return part


def _big(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
