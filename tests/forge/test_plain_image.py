"""Images lose their metadata and keep their pixels; what is none, or damaged, is refused.

`images.json` has images of each kind, 31 × 17 pixels, that say "Owner at home" where nobody sees it,
and the beginning of the digest of each copy. Pillow 12 made them, and decodes the copies to the same
pixels.
"""

import base64
import hashlib
import json
import re
import struct
import zlib
from pathlib import Path

import pytest

from forge_bot.forge.plain_image import MOST_BYTES, NotAnImage, plain_image

MADE = json.loads(Path(__file__).with_name("images.json").read_text())
IMAGES = {kind: base64.b64decode(made["image"]) for kind, made in MADE.items()}
SECRET = b"Owner at home"


@pytest.mark.parametrize("kind", IMAGES)
def test_a_copy_has_the_pixels_and_nothing_else(kind: str) -> None:
    copy = plain_image(IMAGES[kind])
    assert copy is not None
    assert hashlib.sha256(copy.data).hexdigest().startswith(MADE[kind]["copy"])
    assert (copy.width, copy.height) == (31, 17)
    assert SECRET in IMAGES[kind]
    assert SECRET not in copy.data
    assert plain_image(copy.data) == copy


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, 40_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (bomb(50_000), r"50,000 × 40,000 pixels"),
        (bomb(0), "damaged"),
        (IMAGES["png"][:80], "damaged"),
        (IMAGES["png"].replace(b"IDAT", b"IDAU"), "damaged"),
        (IMAGES["jpeg"][:500], "damaged"),
        (IMAGES["jpeg"][:60], "damaged"),
        (b"\xff\xd8\xff\xd9", "damaged"),
        (IMAGES["png"] + b"\0" * MOST_BYTES, "bytes"),
    ],
)
def test_what_does_not_parse_or_is_too_large_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(NotAnImage, match=re.escape(why)):
        plain_image(raw)


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.7", b"<svg/>", b"RIFF1234WAVE", b"\x89PNG"])
def test_what_begins_like_no_image_is_none(raw: bytes) -> None:
    assert plain_image(raw) is None
