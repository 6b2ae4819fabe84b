"""Find parts of a Mermaid diagram that GitHub does not draw.

These are comments, settings, descriptions for readers of screens, tips and menus of links, names of
styles, and names of boxes that have another label. A diagram in which a style hides a box or its
words is hidden as a whole: which words these are, only Mermaid itself can tell.
"""

import re
from collections.abc import Iterator

from forge_bot.prompts.removals import RemovalKind, RemovedSpan
from forge_bot.prompts.tex_formulas import is_unseen_colour

_COMMENT = re.compile(
    r"^[ \t]*(%%.*|acc(?:Title|Descr)[ \t]*:.*|accDescr[ \t]*\{[^}]*\}?)$", re.MULTILINE
)
_SETTINGS = re.compile(r"\A\s*---[ \t]*\n(?P<lines>(?:(?![ \t]*---[ \t]*$).*\n)*)", re.MULTILINE)
_SETTING = re.compile(r"^(?!title[ \t]*:).*\S.*$", re.MULTILINE)
_KIND = re.compile(r"^[ \t]*(?P<kind>[A-Za-z][\w-]*)", re.MULTILINE)
_STATEMENTS = {
    ("graph", "flowchart", "block", "block-beta", "statediagram", "statediagram-v2", "erdiagram",
     "requirementdiagram"): "click style linkStyle classDef class",
    ("classdiagram", "classdiagram-v2"): "click style classDef cssClass link callback",
    ("sequencediagram",): "links link properties details",
    ("gantt",): "excludes includes dateFormat axisFormat tickInterval todayMarker click",
}  # fmt: skip
"""Statements of which nothing is drawn, by kinds of diagrams."""
_UNDRAWN = {
    kind: frozenset(names.split()) for kinds, names in _STATEMENTS.items() for kind in kinds
}
_STATEMENT = re.compile(r"^[ \t]*(?P<name>[A-Za-z]+)(?=[ \t]+[^\s:<|*.-]).*$", re.MULTILINE)
_ICON = re.compile(r"^[ \t]*(?P<all>:::?\w.*)$", re.MULTILINE)
_MESSAGE = re.compile(r"\bmsg[ \t]*:[ \t]*\"[^\"\n]*\"?")
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_STYLE = re.compile(
    r"\b(?P<name>opacity|fill-opacity|display|visibility|font-size|color)[ \t]*:[ \t]*"
    r"(?P<value>[^,;\n]{1,40})"
)
_NUMBER = re.compile(r"\d*\.?\d+")
_SMALLEST, _FAINTEST = 5, 0.3
_BOX = re.compile(
    r"(?<![\w\"'\[({|>.-])(?P<id>\w(?:[\w.-]*\w)?)(?:\[|\(|\{|>|@\{)(?P<label>[^\n]*)"
)
_ARROW = re.compile(r"(?<![\w.-])(?P<id>\w(?:[\w.-]*\w)?)@(?=--|==|<|-\.|~~)(?P<label>)")
_STATE = re.compile(
    r"^[ \t]*state[ \t]+\"(?P<label>[^\"\n]*)\"[ \t]+as[ \t]+(?P<id>\S+)", re.MULTILINE
)
_PERSON = re.compile(
    r"^[ \t]*(?:create[ \t]+)?(?:participant|actor)[ \t]+(?P<id>\S(?:[^\n]{0,200}?\S)?)"
    r"[ \t]{1,9}as[ \t]"
    r"(?P<label>[^\n]*)",
    re.MULTILINE,
)
_TASK = re.compile(r"^[^\n:]*:[ \t]*(?P<id>\w[\w.-]*)[ \t]*,(?P<label>)", re.MULTILINE)
_NAMED = {"sequencediagram": (_PERSON,), "gantt": (_TASK,)}
"""What gives a thing another label than its name, by kind of diagram: people, and tasks of a Gantt
chart. In other diagrams it is boxes, arrows and states."""
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}|[^\W\d_a-zA-Z]{2,}")
_MOST_NAMES = 50
"""The names with more words that a diagram may have; one with more of them is hidden as a whole."""
_MOST_WORDS = 2
"""The words of a box's name that are kept: more could say something that its label does not."""


def undrawn(text: str, start: int, end: int) -> Iterator[RemovedSpan]:
    """Yield what GitHub does not draw of the diagram between these offsets."""
    source = text[start:end]
    spans = [(0, len(source))] if _hides_words(source) else _spans(source)
    for first, stop in spans:
        yield RemovedSpan(start + first, start + stop, RemovalKind.DIAGRAM_COMMENT)


def _spans(source: str) -> Iterator[tuple[int, int]]:
    yield from (found.span(1) for found in _COMMENT.finditer(source))
    yield from (found.span() for found in _HTML_COMMENT.finditer(source))
    settings = _SETTINGS.match(source)
    if settings is not None:
        first, stop = settings.span("lines")
        yield from (found.span() for found in _SETTING.finditer(source, first, stop))
    found = _KIND.search(source, settings.end() + len("---") if settings is not None else 0)
    kind = found["kind"].casefold() if found is not None else ""
    names = _UNDRAWN.get(kind, frozenset[str]())
    for statement in _STATEMENT.finditer(source):
        if statement["name"] in names:
            yield statement.span()
    if kind == "mindmap":
        yield from (found.span("all") for found in _ICON.finditer(source))
    if kind == "gitgraph":
        yield from (found.span() for found in _MESSAGE.finditer(source))
    if kind in _UNDRAWN:
        yield from _long_names(source, kind)


def _long_names(source: str, kind: str) -> Iterator[tuple[int, int]]:
    """Yield each place of a name that says more than the label that is drawn for it."""
    named = {
        found["id"].strip(): found["label"].casefold()
        for form in _NAMED.get(kind, (_BOX, _ARROW, _STATE))
        for found in form.finditer(source)
    }
    long = [name for name, label in named.items() if _says_more(name, label)]
    if len(long) > _MOST_NAMES:
        yield 0, len(source)
        return
    for name in long:
        # Within a label the same words are drawn.
        place = rf"(?<![\w\"'\[({{|]){re.escape(name)}(?![\w\"'\])}}|])"
        yield from (found.span() for found in re.finditer(place, source))


def _says_more(name: str, label: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(name)]
    return len(words) > _MOST_WORDS and any(word not in label for word in words)


def _hides_words(source: str) -> bool:
    """Return whether a style of the diagram takes boxes or their words out of sight."""
    for found in _STYLE.finditer(source):
        name, value = found["name"], found["value"].strip().strip("'\"").casefold()
        number = _NUMBER.match(value)
        size = float(number[0]) if number is not None else None
        if (
            (name == "display" and value.startswith("none"))
            or (name == "visibility" and value.startswith(("hidden", "collapse")))
            or (name.endswith("opacity") and size is not None and size < _FAINTEST)
            or (name == "font-size" and size is not None and size < _SMALLEST)
            or (name == "color" and is_unseen_colour("", value) and "fill" not in source)
        ):
            return True
    return False
