"""What people attach to an issue: frozen with its request, shown to models that read it, and named
where none does.
"""

import hashlib
import json
import struct
import zlib

import pytest

from tests.bot.stage import Stage, heard
from tests.fakes.agents import AgentServer
from tests.fakes.sampled import sampled

WORDS = "It has to look as in what I attach here, which says it better than I could in words. " * 3


def png(red: int = 200) -> bytes:
    """A red point, with a note that nobody sees."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"tEXt", b"Author\0Owner at home"),
        (b"IDAT", zlib.compress(bytes([0, red, 0, 0]))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def attached(stage: Stage) -> dict[str, tuple[str, str]]:
    """Addresses of files of all kinds, each with what the thread says of it."""
    attach, foreign = stage.hub.attach, stage.hub.url.replace("127.0.0.1", "localhost")
    return {
        "image": (attach(png()), ""),
        "private": (attach(png(1), private=True), ""),
        "log": (attach(b"boom \xe2\x80\x8b<b>at</b> line 3\n", name="boot.log"), ""),
        "svg": (attach(b"<svg><script>x</script></svg>", name="a.svg"), ""),
        "page": (attach(b"<!DOCTYPE html><p>log in", name="b.png"), "b.png (it is a web page)"),
        "zip": (attach(b"PK\3\4 \xff", name="c.zip"), "c.zip (it is neither PNG, JPEG nor text)"),
        "video": (attach(b"\0\0\0\x20ftypmp42\xff"), "(it is neither PNG, JPEG nor text)"),
        "large": (
            attach(b"a" * 4_000_001, name="d.txt"),
            "d.txt (it has more than 4,000,000 bytes)",
        ),
        "gone": (
            f"{stage.hub.url}/user-attachments/assets/0",
            "(it was deleted, or this token may",
        ),
        "moved": (attach(b"", name="e.txt", moved=f"{foreign}/x"), "(it leads to localhost:"),
        "foreign": ("https://example.com/f.png", "(it is no attachment that GitHub hosts)"),
    }


def frozen(stage: Stage, names: list[str], words: str = WORDS) -> list[str]:
    """Start a run whose issue attaches these; return what is said of them and must be."""
    files = attached(stage)
    stage.issue.body = words + "\n\n".join(f"![]({files[name][0]})" for name in names)
    reasons = [reason for name in names if (reason := files[name][1])]
    if reasons:
        # Nothing else of this run would be asked about.
        stage.hub.add_label(stage.repo, stage.issue, "forge:auto", by="maint")
    assert stage.label().code == 0
    return reasons


@pytest.mark.parametrize(
    "names",
    sampled(
        [
            ["moved", "foreign"],
            ["image", "private", "log", "svg"],
            ["page", "zip", "video", "large", "gone"],
        ],
        3,
    ),
)
def test_what_is_attached_is_frozen_by_its_bytes_or_named_as_unseen(
    stage: Stage, names: list[str]
) -> None:
    reasons = frozen(stage, names)
    (question,) = stage.said("checkpoint")
    request = stage.document("request.md")
    bare = stage.repo.bare
    listed = [line.split() for line in bare.git("ls-tree", "-r", stage.branch).splitlines()]
    copies = [blob for _, _, blob, path in listed if "/attachment-" in path]
    assert len(copies) == len(names) - len(reasons)
    assert ("Models see what is attached" in question) is bool(copies)
    assert ("its author did not see" in question) is bool(reasons)
    for reason in reasons:
        assert reason in question
    for raw in map(bare.blob, copies):
        assert hashlib.sha256(raw).hexdigest() in request
        assert b"Owner" not in raw
    assert not stage.hub.findings


@pytest.mark.slow
def test_a_design_of_a_request_that_is_hardly_more_than_an_unseen_file_has_to_ask(
    stage: Stage,
) -> None:
    frozen(stage, ["video"], words="See this:\n\n")
    (question,) = stage.said("checkpoint")
    assert "The document lacks what the next phase needs" in question
    assert "few words beside what no model sees" in question
    stage.issue.body = f"{WORDS} ![]({stage.hub.attach(png())})"
    assert heard(stage.say("/refresh")).code == 0
    assert stage.document("request.md").count("media_type: image/png") == 1


@pytest.mark.slow
def test_models_see_the_same_bytes_in_each_job(stage: Stage) -> None:
    with AgentServer() as models:
        stage.environ |= {
            "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "key-of-the-test",
        }
        frozen(stage, ["image", "log", "video"])
        assert heard(stage.say("/approve")).code == 0
    shown = {
        json.dumps(part["source"])
        for question in models.questions
        for message in question.body["messages"]
        for part in message["content"]
        if part["type"] == "image"
    }
    assert len(shown) == 1
    first = json.dumps(models.questions[0].body, ensure_ascii=False)
    assert "boom <b>at</b> line 3" in first
    assert "unseen, since it is neither PNG, JPEG nor text" in first
