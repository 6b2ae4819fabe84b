"""Find the hidden parts of a page's HTML.

Hidden are comments, attributes, tags of unknown elements, and the content of invisible elements. An
element is invisible when a browser does not draw it: by its name (`<template>`, `<script>`, the
fallback of a video) or because its author asked for it (`hidden`, `display: none`). GitHub removes
such attributes and shows the content; other readers of the same text do not, so it is removed.
Elements that make text smaller hide it too where many stand in each other.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from html5lib.constants import voidElements

from forge_bot.prompts.html_page import FRAMES, Page
from forge_bot.prompts.invisible import hides
from forge_bot.prompts.removals import RemovalKind, RemovedSpan
from forge_bot.prompts.tags import (
    LONGEST_VALUE,
    Attribute,
    Entity,
    HtmlComment,
    Tag,
    Tags,
    Unfinished,
)


@dataclass
class _Element:
    name: str
    start: int
    content: int
    asked_hidden: bool
    block_end: int
    size: float

    @property
    def too_small(self) -> bool:
        """Return whether nobody can read what stands in it."""
        return self.size < _SMALLEST


@dataclass
class _Frame:
    """A block made by Markdown: HTML elements opened inside end with it."""

    name: str
    elements: list[_Element] = field(default_factory=list[_Element])
    names: Counter[str] = field(default_factory=Counter[str])


def hidden_in(page: Page) -> list[RemovedSpan]:
    """Return the spans of the source that the page's HTML hides.

    GitHub takes `<script>`, `<style>` and similar tags for words and reads on (GFM specification,
    6.11); browsers skip to the end tag. Text that either of them does not show is removed.
    """
    as_browser = _Reader(page, github=False)
    spans = as_browser.spans()
    return spans + _Reader(page, github=True).spans() if as_browser.met_text else spans


class _Reader:
    def __init__(self, page: Page, *, github: bool) -> None:
        self.met_text = False
        self._github = github
        self._page = page
        self._text = page.text
        self._lower = self._text.lower()
        self._tags = Tags(self._text)
        self._frames = [_Frame("")]
        self._found: list[RemovedSpan] = []
        self._last_end_tags: dict[tuple[str, int], int] = {}

    def spans(self) -> list[RemovedSpan]:
        for found in self._tags:
            match found:
                case HtmlComment():
                    self._hide(found.start, found.end, self._kind_of(found))
                case Unfinished():
                    self._hide(found.start, found.end, RemovalKind.HTML_TAG)
                case Entity():
                    self._read_entity(found)
                case Tag() if self._page.is_raw(found.start):
                    self._read_tag(found)
                case Tag():
                    self._read_frame(found)
        while self._frames:
            self._end_frame(len(self._text))
        return self._found

    def _kind_of(self, comment: HtmlComment) -> RemovalKind:
        if self._text.startswith("<?", comment.start):
            return RemovalKind.PROCESSING_INSTRUCTION
        if self._text.startswith("<!", comment.start) and not self._text.startswith(
            "<!--", comment.start
        ):
            return RemovalKind.DECLARATION
        return RemovalKind.HTML_COMMENT

    def _read_entity(self, entity: Entity) -> None:
        before, after = (
            self._text[max(0, entity.start - 2) : entity.start],
            self._text[entity.end : entity.end + 2],
        )
        if hides(entity.content, before, after):
            self._hide(entity.start, entity.end, RemovalKind.INVISIBLE_CHARACTER)

    def _read_frame(self, tag: Tag) -> None:
        if tag.name not in FRAMES.values():
            return
        if not tag.closes:
            self._frames.append(_Frame(tag.name))
        elif any(frame.name == tag.name for frame in self._frames):
            while self._frames[-1].name != tag.name:
                self._end_frame(tag.start)
            self._end_frame(tag.start)

    def _end_frame(self, at: int) -> None:
        for element in self._frames.pop().elements:
            self._hide_unclosed(element, at)

    def _read_tag(self, tag: Tag) -> None:
        if tag.name not in _ELEMENTS or tag.end > self._page.block_end(tag.start):
            self._hide(tag.start, tag.end, RemovalKind.HTML_TAG)
            return
        names: set[str] = set()
        for attribute in tag.attributes:
            if tag.closes or attribute.name in names or not _may_stay(attribute):
                self._hide(attribute.start, attribute.end, RemovalKind.HTML_TAG_ATTRIBUTE)
            names.add(attribute.name)
        if tag.closes:
            self._close(tag)
        elif tag.name not in voidElements:
            self._open(tag)

    def _open(self, tag: Tag) -> None:
        frame, block_end = self._frames[-1], self._page.block_end(tag.start)
        asked = _asks_to_hide(tag.attributes)
        size = self._size() * _SIZE_OF.get(tag.name, 1)
        frame.elements.append(_Element(tag.name, tag.start, tag.end, asked, block_end, size))
        frame.names[tag.name] += 1
        if (
            tag.name in _UNSEEN_TEXT
            and not self._github
            and self._last_end_tag(tag.name, block_end) >= tag.end
        ):
            self.met_text = True
            self._tags.read_as_text()

    def _size(self) -> float:
        """Return the size of text here, as a share of the page's."""
        open_ = (frame.elements[-1].size for frame in reversed(self._frames) if frame.elements)
        return next(open_, 1)

    def _last_end_tag(self, name: str, block_end: int) -> int:
        key = (name, block_end)
        if key not in self._last_end_tags:
            self._last_end_tags[key] = self._lower.rfind(f"</{name}", 0, block_end)
        return self._last_end_tags[key]

    def _close(self, tag: Tag) -> None:
        frame = self._frames[-1]
        if not frame.names[tag.name]:
            return
        while (element := frame.elements.pop()).name != tag.name:
            frame.names[element.name] -= 1
            self._hide_unclosed(element, tag.start)
        frame.names[tag.name] -= 1
        if element.asked_hidden:
            self._hide(element.start, tag.end, RemovalKind.HIDDEN_ELEMENT)
        elif (element.too_small or element.name in _UNSEEN | _UNSEEN_TEXT) and self._text[
            element.content : tag.start
        ].strip():
            self._hide(element.content, tag.start, RemovalKind.HIDDEN_ELEMENT)

    def _hide_unclosed(self, element: _Element, at: int) -> None:
        """Hide an element without an end tag.

        An explicit request hides it, and only to the end of its block: prose names `<template>`
        too. What GitHub itself hides or shrinks stays so up to here, over the ends of blocks.
        """
        if element.asked_hidden:
            self._hide(
                element.start,
                max(element.content, min(at, element.block_end)),
                RemovalKind.HIDDEN_ELEMENT,
            )
        elif element.too_small or element.name == _UNSEEN_ON_GITHUB:
            self._hide(element.content, max(element.content, at), RemovalKind.HIDDEN_ELEMENT)

    def _hide(self, start: int, end: int, kind: RemovalKind) -> None:
        first, stop = self._page.source_of(start, end)
        if stop > first:
            self._found.append(RemovedSpan(first, stop, kind))


def _may_stay(attribute: Attribute) -> bool:
    """Return whether the attribute has a visible effect and a harmless value.

    The value can hold no words, or is an address.
    """
    name, value = attribute.name, attribute.value.lower()
    if name in _ADDRESSES:
        return (
            0 < len(value) <= LONGEST_VALUE
            and len(value.split()) == 1
            and not value.strip().startswith(("data:", "javascript:"))
        )
    if name in _SIZES:
        return value.removesuffix("%").removesuffix("px").isdecimal() and len(value) <= len(
            "100000px"
        )
    if name in _SWITCHES:
        return value in {"", name}
    return (name in {"align", "valign"} and value in _SIDES) or (
        name == "dir" and value in _DIRECTIONS
    )


def _asks_to_hide(attributes: Iterable[Attribute]) -> bool:
    for name, value, _, _ in attributes:
        if name == "hidden" or (name == "type" and value.lower() == "hidden"):
            return True
        if name == "style":
            declarations = "".join(value.lower().replace("!important", "").split()).split(";")
            if any(_is_undrawn(declaration) for declaration in declarations):
                return True
    return False


def _is_undrawn(declaration: str) -> bool:
    name, _, value = declaration.partition(":")
    nothing = value[:1] in {"0", "."} and not value.rstrip("%abcdefghijklmnopqrstuvwxyz").strip(
        "0."
    )
    return declaration in _UNDRAWN or (name in _UNDRAWN_AT_ZERO and nothing)


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


# Elements of the HTML standard, including obsolete ones. Tags with other names are not shown, and a
# name can be a message.
_ELEMENTS = _words(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink"
    " blockquote body br button canvas caption center cite code col colgroup data datalist dd del"
    " details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame"
    " frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend"
    " li link main map mark marquee math menu meta meter nav nobr noembed noframes noscript object"
    " ol optgroup option output p param picture plaintext pre progress q rp rt ruby s samp script"
    " search section select slot small source span strike strong style sub summary sup svg table"
    " tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp"
)
# Elements whose content is not drawn. In those of the second set HTML is text, up to the end tag.
_UNSEEN = _words("audio canvas datalist meter noscript object progress rp template video")
_UNSEEN_TEXT = _words("iframe noembed noframes script style title")

_UNSEEN_ON_GITHUB = "rp"
"""The element that GitHub keeps and no browser draws: brackets for those that know no ruby."""

_SMALL = {"small": 0.9, "code": 0.85, "h6": 0.85, "samp": 0.85, "tt": 0.85}
_SIZE_OF = {**_SMALL, "rt": 0.5, "sub": 0.75, "sup": 0.75}
"""The size of an element's text, as a share of that around it, by GitHub's style sheet."""

_SMALLEST = 0.25
"""The share of the page's size below which text cannot be read: four pixels of sixteen."""

# Attributes with a visible effect and values that can hold no words.
_SIZES = _words("width height colspan rowspan start border cellpadding cellspacing value")
_SIDES = _words("left right center justify top middle bottom baseline")
_DIRECTIONS = _words("ltr rtl auto")
_SWITCHES = _words("open checked disabled reversed controls")
_ADDRESSES = _words("href src")

# Styles that keep an element from being drawn.
_UNDRAWN = _words("display:none visibility:hidden visibility:collapse content-visibility:hidden")
_UNDRAWN_AT_ZERO = _words("opacity font-size")
