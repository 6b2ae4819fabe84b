"""The pieces of a paragraph of Markdown, and how they are written to be read as they are."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, cast

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from forge_bot.artifacts.markdown import keep_python_names, parse_paragraphs
from forge_bot.text_format import code_span

MARKS = {"strong_open", "strong_close", "em_open", "em_close", "s_open", "s_close"}
_HARMLESS = re.compile(r"(?![-+#=>]|\d+[.)])(?:[\w \t.,;:?!()'\"“”‘’%/+=-](?<!_))*")
"""Words that mean nothing in Markdown, wherever they stand in a paragraph of one line."""
_SIGNS = re.compile(r"([\\`*_\[\]<>~|#$!])")
_BEGINNING = re.compile(r"^([ \t]*(?:\d{1,9}(?=[.)])|(?=[-+=:])))", re.MULTILINE)


class Piece(NamedTuple):
    """A part of a paragraph: `kind` is text, code, picture, link, end, note, or a parser's mark."""

    kind: str
    text: str


@cache
def parser(*, python_names: bool = True) -> MarkdownIt:
    """Return the parser of all Markdown of strangers and models. Without `python_names` it reads
    `__main__` as GitHub does: as an emphasised word.
    """
    made = MarkdownIt("commonmark", {"maxNesting": 30}).enable(["table", "strikethrough"])
    footnote_plugin(made, inline=False)
    made.core.ruler.at("inline", parse_paragraphs)
    if python_names:
        keep_python_names(made)
    made.core.ruler.before("footnote_tail", "first_footnotes", _keep_first_footnotes)
    made.validateLink = lambda _: True  # pyright: ignore[reportAttributeAccessIssue]  # all are read
    return made


def _keep_first_footnotes(state: StateCore) -> None:
    """Drop the second definition of a footnote: GitHub shows the first, the library the last."""
    defined: set[str] = set()
    is_second = False
    kept: list[Token] = []
    for token in state.tokens:
        if token.type == "footnote_reference_open":
            label = str(token.meta["label"])
            is_second = label in defined
            defined.add(label)
        if not is_second:
            kept.append(token)
        elif token.type == "footnote_reference_close":
            is_second = False
    state.tokens = kept


def write_paragraph(pieces: Sequence[Piece], encode: Callable[[str], str]) -> str:
    """Return a paragraph that is read as these pieces, with as few escapes as possible.

    `encode` may write characters in another way that is read alike.
    """
    pieces = _join_texts(pieces)
    if len(pieces) == 1 and pieces[0].kind == "text" and _HARMLESS.fullmatch(pieces[0].text):
        return pieces[0].text
    for escapes in (False, True):
        written = encode(_source(pieces, escapes=escapes, marks=True))
        if _read_again(written) == pieces:
            return written
    return encode(_source(pieces, escapes=True, marks=False))


def _join_texts(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces with neighbouring texts as one, blanks as they are read, no empty text."""
    joined: list[Piece] = []
    for piece in pieces:
        if piece.kind == "text" and joined and joined[-1].kind == "text":
            joined[-1] = Piece("text", joined[-1].text + piece.text)
        else:
            joined.append(piece)
    tidy = [
        Piece("text", re.sub(r"[ \t]*\n\s*", "\n", piece.text)) if piece.kind == "text" else piece
        for piece in joined
    ]
    if tidy and tidy[0].kind == "text":
        tidy[0] = Piece("text", tidy[0].text.lstrip())
    if tidy and tidy[-1].kind == "text":
        tidy[-1] = Piece("text", tidy[-1].text.rstrip())
    return [piece for piece in tidy if piece.text or piece.kind != "text"]


def _source(pieces: Sequence[Piece], *, escapes: bool, marks: bool) -> str:
    parts: list[str] = []
    opened: list[int] = []
    for piece in pieces:
        match piece.kind:
            case "text":
                parts.append(_escape(piece.text) if escapes else piece.text)
            case "code":
                parts.append(code_span(piece.text))
            case "picture":
                parts.append(f"![]({_target(piece.text)})")
            case "note":
                parts.append(f"[^{piece.text}]")
            case "link":
                opened.append(len(parts))
            case "end":
                words = "".join(parts[(start := opened.pop()) :])
                is_bare = words == piece.text and re.fullmatch(r"https?://[^\s<>]+", words)
                parts[start:] = [f"<{words}>" if is_bare else f"[{words}]({_target(piece.text)})"]
            case _:
                parts.append(piece.text if marks else "")
    return "".join(parts)


def _escape(text: str) -> str:
    signs = _SIGNS.sub(r"\\\1", text.replace("&", "&amp;"))
    return _BEGINNING.sub(lambda match: f"{match[1]}\\", signs)


def _target(address: str) -> str:
    if not address or re.fullmatch(r"[^\s<>()\\]+", address):
        return address
    return "<" + re.sub(r"([<>\\])", r"\\\1", address) + ">"


def _read_again(written: str) -> list[Piece] | None:
    """Return the pieces of a paragraph; None if the text is not read as one paragraph."""
    notes = {f":{number}": -1 for number in re.findall(r"\[\^(\d+)\]", written)}
    tokens = parser(python_names=False).parse(written, {"footnotes": {"refs": notes}})
    blocks = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    blocks = [block for block in blocks if block != "footnote_block_open"]
    if blocks != ["paragraph_open"]:
        return None
    return _join_texts(_plain_pieces(tokens[1].children or []))


def _plain_pieces(tokens: Sequence[Token]) -> Iterator[Piece]:
    addresses: list[str] = []
    for token in tokens:
        match token.type:
            case "text" | "softbreak" | "hardbreak":
                yield Piece("text", token.content if token.type == "text" else "\n")
            case "code_inline":
                yield Piece("code", token.content)
            case "image":
                yield Piece("picture", str(token.attrGet("src") or ""))
            case "footnote_ref":
                yield Piece("note", str(cast("dict[str, object]", token.meta)["label"]))
            case "link_open":
                addresses.append(str(token.attrGet("href") or ""))
                yield Piece("link", addresses[-1])
            case "link_close":
                yield Piece("end", addresses.pop())
            case "html_inline":
                yield Piece("html", token.content)
            case _:
                yield Piece(token.type, token.markup)
