"""Files of people at an issue and at what they ask of its change, frozen when they ask: images
and texts that GitHub hosts. What cannot be shown to a model keeps the reason.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from forge_bot.agent.models.base import Image, reads_images
from forge_bot.engine.reports import FollowUpAsked
from forge_bot.forge import ATTACHED, AttachmentReader, NotFetched
from forge_bot.forge.plain_image import MOST_BYTES, NotAnImage, plain_image
from forge_bot.prompts.material import Delivery, InputFile
from forge_bot.prompts.untrusted import clean, clean_plain
from forge_bot.store.run_folder import read_request
from forge_bot.text_format import code_block, cut
from forge_bot.values import Attachment, Tier

if TYPE_CHECKING:
    from forge_bot.runs.run import Run

MOST_READ = 10
"""Attachments of a request that are fetched; more are named."""

_MOST_NAMED = 100
_MOST_TOGETHER = 8_000_000
_TEXT_BEGINNING, _TEXT_END = 10_000, 30_000
_FEW_WORDS = 25

_LOST = "its copy is not the one that was frozen"
_UNSEEN_RULE = (
    "\nDo not guess what an unseen one shows. What a design would rest on there, a person decides:"
    " a numbered question under `Decisions`."
)
_WEB_PAGE = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)


class FrozenFiles(NamedTuple):
    """Attachments of a request, and the bytes of those that are kept, by name."""

    attachments: tuple[Attachment, ...] = ()
    files: dict[str, bytes] = {}  # noqa: RUF012 - never written


def freeze_attachments(text: str, server: str, rendered: Callable[[], str]) -> FrozenFiles:
    """Fetch what a request names, with the rights that its rendered text gives."""
    reader = AttachmentReader(server, rendered)
    attachments, files = list[Attachment](), dict[str, bytes]()
    matches = ATTACHED.finditer(clean(text).text)
    shown = dict.fromkeys(match["image"] or match[0].rstrip(".,;") for match in matches)
    for number, address in enumerate(list(shown)[:_MOST_NAMED], 1):
        left = _MOST_TOGETHER - sum(map(len, files.values()))
        item = Attachment(label=_label(address, number), address=address)
        try:
            suffix, media_type, data = _fetched(reader, address, number, left)
        except (NotFetched, NotAnImage) as error:
            attachments.append(item.replace(unseen=str(error)))
            continue
        digest = hashlib.sha256(data).hexdigest()
        name = f"attachment-{digest[:12]}.{suffix}"
        files[name] = data
        attachments.append(item.replace(name=name, media_type=media_type, digest=digest))
    return FrozenFiles(tuple(attachments), files)


def _label(address: str, number: int) -> str:
    """Return a name for people: that of the file, if its address has one."""
    path = unquote(urlsplit(address).path)
    last = clean_plain(path.rpartition("/")[2]).text
    named = re.search(r"\.\w{1,8}$", last)
    return cut(last, 60) if named else f"attachment {number}"


def _fetched(
    reader: AttachmentReader, address: str, number: int, left: int
) -> tuple[str, str, bytes]:
    """Return what is kept of the attachment of this number. Raises NotFetched, NotAnImage."""
    if not ATTACHED.match(address):
        raise NotFetched("it is no attachment that GitHub hosts")
    if number > MOST_READ:
        raise NotFetched(f"only {MOST_READ} are read")
    return _kept(reader.read(address, min(MOST_BYTES, left)))


def _kept(data: bytes) -> tuple[str, str, bytes]:
    """Return what is kept of a file: the end of its name, its media type and its bytes. Its kind is
    told by its bytes. Raises NotAnImage.
    """
    if (image := plain_image(data)) is not None:
        return image.media_type.partition("/")[2], image.media_type, image.data
    try:
        text = clean_plain(data.decode("utf-8-sig")).text
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotAnImage("it is neither PNG, JPEG nor text")
    if _WEB_PAGE.match(text):
        raise NotAnImage("it is a web page")
    if not text.strip():
        raise NotAnImage("it is empty")
    return "txt", "text/plain", _shortened(text).encode()


def _shortened(text: str) -> str:
    """Return the beginning and the end of a long text."""
    left_out = len(text) - _TEXT_BEGINNING - _TEXT_END
    if left_out <= 0:
        return text
    return f"{text[:_TEXT_BEGINNING]}\n[… {left_out:,} characters left out …]\n{text[-_TEXT_END:]}"


def attachments_of(run: "Run") -> tuple[Attachment, ...]:
    """Return what the request attaches, and what is wanted newest of its change."""
    reports = [one for one in run.workspace.reports() if isinstance(one, FollowUpAsked)]
    return (*run.request.attachments, *(reports[-1].attachments if reports else ()))


def unseen(attachments: tuple[Attachment, ...], *, images: bool = True) -> tuple[Attachment, ...]:
    """Return the attachments that a model does not see, with the reasons."""
    blind = "" if images else "this model reads no images"
    looked_at = (item.replace(unseen=blind) if item.is_image else item for item in attachments)
    return tuple(item for item in looked_at if item.unseen)


def decision_needed(request_file: str | None) -> str:
    """Return what the plan of a request has to ask a person, as a phrase: where the request has
    hardly a word beside attachments that no model sees. Empty for any other.
    """
    request = read_request(request_file) if request_file is not None else None
    hidden = unseen(request.attachments) if request is not None else ()
    if request is None or not hidden:
        return ""
    words = re.sub(r"https?://\S+|\W+", " ", f"{request.title} {clean(request.text).text}")
    if len(words.split()) >= _FEW_WORDS:
        return ""
    names = ", ".join(item.label for item in hidden[:MOST_READ])
    return (
        f"the request has few words beside what no model sees ({names}): ask a person, as a"
        " numbered question, whether what you take it to show is right"
    )


def unseen_risks(run: "Run") -> tuple[str, ...]:
    """Return the risk that a design rests on what its model does not see, for the next question."""
    images = reads_images(run.config.model_for(Tier.STANDARD))
    labels = [item.label for item in unseen(run.request.attachments, images=images)]
    more = f" and {len(labels) - MOST_READ} more" if len(labels) > MOST_READ else ""
    return (f"its author did not see {', '.join(labels[:MOST_READ])}{more}",) if labels else ()


def images_for(run: "Run", model: str) -> tuple[tuple[Image, bytes], ...]:
    """Return the images of a run for a model that reads images. One whose bytes in the record
    are not those that were frozen is left out.
    """
    if not reads_images(model):
        return ()
    frozen = ((item, _bytes_of(run, item)) for item in attachments_of(run) if item.is_image)
    return tuple(
        (Image(label=item.label, media_type=item.media_type, digest=item.digest), data)
        for item, data in frozen
        if data is not None
    )


def attachment_inputs(run: "Run", model: str, delivery: Delivery) -> Iterator[InputFile]:
    """Yield what a prompt says of the attachments, and the texts among them. An agent that reads
    files reads images itself.
    """
    attachments, client = attachments_of(run), delivery == "files"
    if not attachments:
        return
    copies = {item.address: _bytes_of(run, item) for item in attachments}
    hidden = unseen(attachments, images=client or reads_images(model))
    why = {address: _LOST for address, data in copies.items() if data is None}
    why |= {item.address: item.unseen for item in hidden}
    standing = {address: f"unseen, since {reason}" for address, reason in why.items()}
    lines = [f"- {item.label}: {standing.get(item.address, 'shown')}" for item in attachments]
    lines += [_UNSEEN_RULE] if why else []
    text = "\n".join(lines)
    yield InputFile(name="attachments", text=text, kind="output", untrusted=True)
    for item in attachments:
        data = copies[item.address]
        if data is not None and not item.is_image:
            text = code_block(data.decode("utf-8", "replace"))
            yield InputFile(name=item.label, text=text, kind="output", untrusted=True)
        elif client and item.is_image:
            yield InputFile(name=item.name, text="")


def _bytes_of(run: "Run", item: Attachment) -> bytes | None:
    """Return the frozen bytes; None where the record has others, or none."""
    raw = run.workspace.read_bytes(item.name) if item.name else None
    known = raw is not None and hashlib.sha256(raw).hexdigest() == item.digest
    return raw if known else None
