"""Reads the raw HTML in Markdown and returns the words that a browser draws.

Tags go and words stay. The content of an element that no browser draws goes with it: elements by
name, by the attribute `hidden`, by a style, and by three or more nested elements of small print.
The rules of tags and comments are those of the HTML standard's tokenizer; where a tag
has no end, everything after it counts as hidden; a comment ends in any later piece of HTML.
"""

import html
import re
from typing import NamedTuple

from forge_bot.prompts.removals import RemovalKind
from forge_bot.text_format import names

_TAG = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!.*?(?:>|\Z)"
    r"|</?(?P<name>[A-Za-z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^\"'>])*)(?P<end>>|\Z)"
    r"|</?[A-Za-z].*\Z"
    r"|</[^A-Za-z][^>]*(?:>|\Z)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s\"'<>/=]+)(?:\s*=\s*(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'<>`]+)))?"
)
_NOT_DRAWN = names(
    "template script style title noscript iframe object audio video canvas meter progress "
    "datalist rp noembed noframes head dialog"
)
_VOID = names("area base br col embed hr img input link meta source track wbr keygen param")
_SMALL = frozenset({"sup", "sub", "small"})
_MOST_SMALL = 2
_BREAKS = names(
    "br p div tr li ul ol table details summary blockquote pre h1 h2 h3 h4 h5 h6 hr dt dd dl "
    "section article header footer"
)
_CELLS = frozenset({"td", "th"})
_OTHERS = names(
    "a abbr b bdi bdo big center cite code col colgroup caption del dfn em font g i input ins "
    "kbd label mark nav main option picture q rt ruby s samp select span strike strong svg "
    "tbody textarea tfoot thead tt u var wbr button form math path"
)
KNOWN_TAGS = frozenset((*_OTHERS, *_VOID, *_SMALL, *_BREAKS, *_CELLS, *_NOT_DRAWN))
_KNOWN_ATTRIBUTES = names(
    "align alt border checked class color colspan controls dir disabled height href id lang "
    "name open rel rowspan src start style target title type valign value width"
)
_RAW = frozenset({"script", "style", "title", "iframe", "noembed", "noframes"})
"""Elements whose content is no markup: it ends at the first end tag of their name."""
_HIDING_STYLE = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|(?:^|;)(?:font-size|opacity):[.0]+(?:[a-z%]*)(?:;|!|$)"
)
_HARMLESS_VALUE = re.compile(r"[\d.,%]*(?:px|em)?|left|right|center|top|middle|bottom|_blank|true")


class Picture(NamedTuple):
    """A picture of an `<img>`, by its address."""

    address: str


def unescape(text: str) -> str:
    """Return the text with its entities as characters, without those of no character."""
    return html.unescape(re.sub(r"&#(?:\d{8,}|x[0-9a-f]{7,});?", "", text, flags=re.IGNORECASE))


class HtmlState(NamedTuple):
    """The element that hides what follows, how deep it is nested in itself, and how small the print
    is.
    """

    element: str = ""
    depth: int = 0
    small: int = 0


class HtmlReader:
    """Reads pieces of HTML in their order, with the text between them read by somebody else.

    `is_hiding` says whether that text is inside of something that is not drawn. `hidden` lists the
    kinds of text left out, one for each place. An element that is not drawn by its name hides only
    if it ends somewhere in the source: without an end it is a word of the prose.
    """

    def __init__(self, source: str) -> None:
        self.hidden: list[RemovalKind] = []
        self.state = HtmlState()
        self._never_ends = False
        self._in_comment = False
        self._ended = {name.lower() for name in re.findall(r"</([A-Za-z][^\s/>]*)", source)}

    @property
    def is_hiding(self) -> bool:
        return (
            self._never_ends
            or self._in_comment
            or bool(self.state.element)
            or self.state.small > _MOST_SMALL
        )

    def leave_block(self, before: HtmlState) -> None:
        """End the elements that were opened since `before`, as the end of a block does."""
        if self.state.element and not before.element:
            self.state = before

    def read(self, source: str) -> list[str | Picture]:
        """Return the words and pictures that are drawn of a piece of HTML."""
        drawn: list[str | Picture] = []
        reached = 0
        if self._in_comment:
            end = source.find("-->")
            reached = end + len("-->") if end >= 0 else len(source)
            self._in_comment = end < 0
        while reached < len(source):
            if self.state.element in _RAW:
                end = re.search(
                    rf"</{self.state.element}\b[^>]*>?", source[reached:], re.IGNORECASE
                )
                reached = reached + end.end() if end is not None else len(source)
                self.state = HtmlState() if end is not None else self.state
                continue
            tag = _TAG.search(source, reached)
            drawn += self._words(source[reached : tag.start() if tag is not None else len(source)])
            drawn += self._tag(tag) if tag is not None else []
            reached = tag.end() if tag is not None else len(source)
        return drawn

    def _words(self, text: str) -> list[str | Picture]:
        return [] if self.is_hiding or not text else [unescape(text)]

    def _tag(self, tag: re.Match[str]) -> list[str | Picture]:
        if not tag["name"] or not tag["end"]:
            self._leave_out(tag[0])
            return []
        name = tag["name"].lower()
        closing = tag[0].startswith("</")
        if not self.is_hiding and (
            name not in KNOWN_TAGS or (closing and tag["attributes"].strip())
        ):
            self.hidden.append(RemovalKind.HTML_TAG)
        element, depth, small = self.state
        if element:
            depth += 0 if name != element else -1 if closing else 1
            self.state = HtmlState(element if depth else "", depth, small)
            return []
        if name in _SMALL:
            was_hiding = self.is_hiding
            self.state = HtmlState(small=max(0, small + (-1 if closing else 1)))
            if self.is_hiding and not was_hiding:
                self.hidden.append(RemovalKind.HIDDEN_ELEMENT)
        if self.is_hiding or (closing and name not in _BREAKS):
            return []
        return self._open_tag(name, tag["attributes"])

    def _leave_out(self, comment: str) -> None:
        """Note a comment, or a tag without an end, which hides all that follows."""
        has_end = comment.endswith(">")
        if not self.is_hiding and (re.search(r"\w", comment) or not has_end):
            self.hidden.append(RemovalKind.HTML_COMMENT)
        self._in_comment = comment.startswith("<!--") and not has_end
        self._never_ends = self._never_ends or not (has_end or self._in_comment)

    def _open_tag(self, name: str, written: str) -> list[str | Picture]:
        attributes = {
            part["name"].lower(): unescape(part["a"] or part["b"] or part["c"] or "")
            for part in _ATTRIBUTE.finditer(written)
        }
        style = re.sub(r"/\*.*?\*/|\s", "", attributes.get("style", "")).lower()
        hides = "hidden" in attributes or _HIDING_STYLE.search(style) is not None
        if (hides or (name in _NOT_DRAWN and name in self._ended)) and name not in _VOID:
            self.state = self.state._replace(element=name, depth=1)
            self.hidden.append(RemovalKind.HIDDEN_ELEMENT)
            return []
        if name == "img":
            if attributes.get("alt", "").strip():
                self.hidden.append(RemovalKind.IMAGE_ALT)
            self._note_attributes(attributes, but={"src", "alt"})
            return [Picture(attributes.get("src", ""))]
        self._note_attributes(attributes, but=set())
        return ["\n"] if name in _BREAKS else [" "] if name in _CELLS else []

    def _note_attributes(self, attributes: dict[str, str], but: set[str]) -> None:
        if any(
            name not in but and not (name in _KNOWN_ATTRIBUTES and _HARMLESS_VALUE.fullmatch(value))
            for name, value in attributes.items()
        ):
            self.hidden.append(RemovalKind.HTML_ATTRIBUTE)
