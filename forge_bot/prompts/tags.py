"""Read the HTML of a page with html5lib's tokenizer and record the place of everything it finds.

The tokenizer collects names, values and comments character by character into strings, which takes
quadratic time on hostile input, and turns numbers of any length into integers, which fails. Here
only places matter, so strings are kept short.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from html5lib._inputstream import HTMLUnicodeInputStream
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import digits, hexDigits, replacementCharacters, tokenTypes

LONGEST_VALUE = 2000
_LONGEST_NAME = 64
_LAST_CODE = 0x10FFFF
_TAGS = (tokenTypes["StartTag"], tokenTypes["EndTag"])
_COMMENTS = (tokenTypes["Comment"], tokenTypes["Doctype"])


class Attribute(NamedTuple):
    """An attribute as written, with the space before it; entities in its value are not decoded.

    A value longer than LONGEST_VALUE is cut to one character more than that.
    """

    name: str
    value: str
    start: int
    end: int


class Tag(NamedTuple):
    """A start or end tag, between two offsets of the page."""

    name: str
    closes: bool
    start: int
    end: int
    attributes: tuple[Attribute, ...]


class HtmlComment(NamedTuple):
    """A comment, or markup that HTML reads as one: `<?…>`, `<!…>`, `</ …>`."""

    start: int
    end: int


class Entity(NamedTuple):
    """A character reference and its character."""

    start: int
    end: int
    content: str


class Unfinished(NamedTuple):
    """A tag that the end of the page cuts off; browsers show nothing of it."""

    start: int
    end: int


Found = Tag | HtmlComment | Entity | Unfinished


class _Stream(HTMLUnicodeInputStream):
    """The whole page as one chunk, so that a place is one subtraction."""

    # The library chose this name.
    _defaultChunkSize = 1 << 30  # noqa: N815


class _Tokenizer(HTMLTokenizer):
    # The library chose these names.
    def consumeNumberEntity(self, isHex: bool | None) -> str:  # noqa: N802, N803
        """Read a number entity as the library does, for numbers of any length."""
        written = (
            self.stream.charsUntil(hexDigits if isHex else digits, opposite=True).lstrip("0") or "0"
        )
        code = (
            int(written, 16 if isHex else 10)
            if len(written) <= len(str(_LAST_CODE))
            else _LAST_CODE + 1
        )
        after = self.stream.char()
        if after != ";":
            self.stream.unget(after)
        if code in replacementCharacters:
            return replacementCharacters[code]
        return (
            "\ufffd"
            if code > _LAST_CODE or chr(code).encode("utf-8", "ignore") == b""
            else chr(code)
        )

    # The library chose these names.
    def processEntityInAttribute(self, allowedChar: str | None) -> None:  # noqa: N802, N803
        """Leave entities in attribute values as written."""
        del allowedChar
        self.open_token["data"][-1][1] += "&"

    @property
    def open_token(self) -> dict[str, Any]:
        """The tag or comment that is being read."""
        return cast("dict[str, Any]", self.currentToken or {})


class Tags:
    """The elements of a page in their order; words are left out."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._tokenizer = _Tokenizer("")
        self._tokenizer.stream = _Stream(page)
        self._tokenizer.stream.readChunk()
        self._tokenizer.tokenQueue = deque()
        self._tokenizer.temporaryBuffer = ""
        self._started = 0
        self._open: dict[str, Any] = {}
        self._attributes: list[tuple[list[str], int]] = []

    def __iter__(self) -> Iterator[Found]:
        tokenizer = self._tokenizer
        resting = (tokenizer.dataState, tokenizer.rawtextState)
        more = True
        while more:
            state, place = tokenizer.state, self._place()
            more = tokenizer.state()
            if state in resting:
                self._started = place
                tokenizer.tokenQueue.clear()
                continue
            self._note_attributes()
            self._keep_short()
            if tokenizer.state in resting:
                yield from self._found(in_entity=state == tokenizer.entityDataState)

    def read_as_text(self) -> None:
        """Take the following text as plain text up to the end tag of the last start tag.

        Browsers do so in `<style>`.
        """
        self._tokenizer.state = self._tokenizer.rawtextState

    def _place(self) -> int:
        stream = self._tokenizer.stream
        return len(self._page) - (stream.chunkSize - stream.chunkOffset)

    def _found(self, *, in_entity: bool) -> Iterator[Found]:
        place, queue = self._place(), cast("deque[dict[str, Any]]", self._tokenizer.tokenQueue)
        tokens = [token for token in queue if token["type"] != tokenTypes["ParseError"]]
        queue.clear()
        for token in tokens:
            if token["type"] in _TAGS:
                yield self._tag(token, place)
            elif token["type"] in _COMMENTS:
                yield HtmlComment(self._started, place)
            elif in_entity:
                yield Entity(self._started, place, token["data"])
        if not tokens and place == len(self._page):
            yield Unfinished(self._started, place)

    def _note_attributes(self) -> None:
        """Record where an attribute begins, and leave only that one to the tokenizer.

        The tokenizer compares each name with all before.
        """
        token = self._tokenizer.open_token
        if token is not self._open:
            self._open, self._attributes = token, []
        attributes = token.get("data")
        if isinstance(attributes, list) and attributes:
            written = cast("list[list[str]]", attributes)
            if not self._attributes or self._attributes[-1][0] is not written[-1]:
                self._attributes.append((written[-1], self._place() - 1))
            del written[:-1]

    def _keep_short(self) -> None:
        token = self._open
        for key in ("name", "publicId", "systemId"):
            if token.get(key):
                token[key] = token[key][:_LONGEST_NAME]
        if isinstance(token.get("data"), str):
            token["data"] = ""
        if self._attributes:
            attribute = self._attributes[-1][0]
            attribute[:] = attribute[0][:_LONGEST_NAME], attribute[1][: LONGEST_VALUE + 1]
        self._tokenizer.temporaryBuffer = self._tokenizer.temporaryBuffer[:_LONGEST_NAME]

    def _tag(self, token: dict[str, Any], end: int) -> Tag:
        bounds = [start for _, start in self._attributes[1:]] + [
            end - 1 - bool(token["selfClosing"])
        ]
        attributes: list[Attribute] = []
        for ((name, value), start), bound in zip(self._attributes, bounds, strict=False):
            written = self._page[start:bound].rstrip(" \n\t")
            first = start
            while self._page[first - 1] in " \n\t":
                first -= 1
            attributes.append(Attribute(name.lower(), value, first, start + len(written)))
        return Tag(
            token["name"].lower(),
            token["type"] == tokenTypes["EndTag"],
            self._started,
            end,
            tuple(attributes),
        )
