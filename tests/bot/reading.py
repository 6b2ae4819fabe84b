"""Comments read as a browser shows them: Markdown to HTML to a tree, with what GitHub would act on
found in the words.
"""

import re
from collections.abc import Iterator
from typing import cast
from xml.etree.ElementTree import Element

import html5lib
from markdown_it import MarkdownIt

MENTION = re.compile(r"(?<![A-Za-z0-9_])@[A-Za-z0-9]")
REFERENCE = re.compile(r"#[0-9]|\bGH-[0-9]", re.IGNORECASE)
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:(?:[\w.-]+/[\w.-]+)?(?:#|GH-)\d|https?://)",
    re.IGNORECASE,
)
OWN = "https://github.com/lighthouse/rota/"
THREAD = re.compile(
    r"https?://(?:www\.)?github\.com/[^/\s]+/[^/\s]+/(?:issues|pull|discussions|commit)/\w",
    re.IGNORECASE,
)


def tree(markdown: str) -> Element:
    """The page that a comment becomes."""
    page = (
        MarkdownIt("commonmark", {"maxNesting": 100})
        .enable(["table", "strikethrough"])
        .render(markdown)
    )
    # The stubs leave the tree untyped, because it can be built in several ways.
    return cast("Element", html5lib.parseFragment(page, namespaceHTMLElements=False))  # pyright: ignore[reportUnknownMemberType]


def elements(markdown: str, *tags: str) -> list[Element]:
    return [each for each in tree(markdown).iter() if each.tag in tags]


def words(element: Element) -> Iterator[str]:
    """Runs of text that GitHub looks into: not those in code and links."""
    if element.tag in ("code", "pre", "a") or not isinstance(cast("object", element.tag), str):
        return
    yield element.text or ""
    for child in element:
        yield from words(child)
        yield child.tail or ""


def everything(element: Element) -> str:
    """All text below an element, code and links too."""
    return "".join(element.itertext())


def acts(markdown: str) -> list[str]:
    """Whatever in a comment calls, refers, closes, loads or leads to a thread that is not of the
    run's own repository.
    """
    page = tree(markdown)
    found = [
        hit
        for run in words(page)
        for pattern in (MENTION, REFERENCE, CLOSING, THREAD)
        for hit in pattern.findall(run)
    ]
    found += [
        str(each.tag)
        for each in page.iter()
        if each.tag in ("img", "script", "iframe", "input", "form", "video", "svg")
    ]
    return found + [
        href
        for each in page.iter("a")
        if THREAD.match(href := each.get("href", "")) and not href.startswith(OWN)
    ]


def folded(markdown: str) -> list[str]:
    """The text of each folded part, in order."""
    return [everything(each) for each in elements(markdown, "details")]


def shown(markdown: str) -> str:
    """What a reader sees of a text, blanks of no width and runs of white space left out."""
    return " ".join(everything(tree(markdown)).replace("\u200b", "").split())
