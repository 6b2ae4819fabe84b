"""Writes Markdown anew with only what a reader is shown as words.

The text is parsed as GitHub parses a comment (CommonMark with tables, strikethrough and footnotes),
and written from the parser's tokens. So what no token shows cannot pass: comments, attributes,
labels, titles, unused definitions, surplus cells. Formulas with commands and drawings are left out
with a word in their place, since what they draw cannot be told without drawing it.

A subclass may write words, addresses, pictures and code in another way (`prompts.escape`).
"""

import re
from collections.abc import Iterable, Sequence

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from forge_bot.artifacts.markdown import TANGLED
from forge_bot.prompts.invisible import without_unseen
from forge_bot.prompts.markdown_pieces import MARKS, Piece, parser, write_paragraph
from forge_bot.prompts.raw_html import HtmlReader, Picture
from forge_bot.prompts.removals import RemovalKind
from forge_bot.text_format import code_block, names

FORMULA_LEFT_OUT = "[formula left out]"
DRAWING_LEFT_OUT = "[drawing left out]"
_DRAWN = frozenset({"math", "mermaid", "geojson", "topojson", "stl"})
_LANGUAGES = names(
    "bash bat c c# c++ clojure cmake cmd console cpp cs csharp css csv cxx dart diff docker "
    "dockerfile elixir erlang fish fortran fsharp gherkin go golang gradle graphql groovy h "
    "haskell hcl hpp html http ini java javascript jinja jinja2 js json json5 jsonc jsonl jsx "
    "julia kotlin kt latex less log lua make makefile markdown matlab md nginx nix objc ocaml "
    "patch perl php plain plaintext powershell ps1 proto protobuf py py3 pycon pytb python "
    "python3 r rb rs rst ruby rust sass scala scss sh shell shell-session sql svelte swift tex "
    "text toml ts tsx typescript txt vb vim vue xml yaml yml zig zsh"
)
_CODE = r"(?P<code>(?<![`\\])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
_COMMENT = re.compile(rf"{_CODE}|(?<!\\)<!--(?!-?>).*?--!?>", re.DOTALL)
_FORMULA = re.compile(
    rf"{_CODE}(?!\$)"
    r"|\$`[^`]*`\$"
    r"|\$\$[^$]+\$\$"
    r"|(?<![\w\\$])\$(?=\S)[^$]+?(?<=\S)\$(?!\w)",
    re.DOTALL,
)
_HIDING_ADDRESS = re.compile(r"\s|%20|^(?:data|javascript|vbscript):", re.IGNORECASE)
"""Addresses that hold words, or that are themselves the content."""


class MarkdownWriter:
    """Writes one text; `removed` lists what was left out, with the line where that stood."""

    def __init__(self) -> None:
        self.removed: list[tuple[RemovalKind, int]] = []
        self._html = HtmlReader("")
        self._line = 1
        self._notes: dict[int, int] = {}

    def write(self, markdown: str) -> str:
        """Return the text written anew, with a newline at its end unless it is empty."""
        self._html = HtmlReader(markdown)
        tree = SyntaxTreeNode(parser().parse(markdown, {}))
        notes = {
            int(node.meta["id"]): node
            for block in tree.children
            if block.type == "footnote_block"
            for node in block.children
        }
        lines = self._blocks(node for node in tree.children if node.type != "footnote_block")
        lines += self._footnotes(notes)
        return "\n".join(lines) + "\n" if lines else ""

    def write_line(self, markdown: str) -> str:
        """Return one line of words written anew."""
        tokens = parser().parseInline(markdown, {})
        return self._write_paragraph(self._pieces(tokens[0].children or [])) if tokens else ""

    # -- what a subclass may write in another way

    def words(self, text: str) -> Iterable[Piece]:
        """Return the pieces that show these words, without invisible characters."""
        seen, unseen = without_unseen(text)
        for kind, _ in unseen:
            self.leave_out(kind)
        return [Piece("text", seen)]

    def address(self, address: str) -> str:
        return address

    def picture(self, address: str) -> Iterable[Piece]:
        return [Piece("picture", address)]

    def formulas(self, text: str) -> str:
        """Return the source of a paragraph without the formulas that have commands."""
        return _FORMULA.sub(self._formula, text) if "$" in text else text

    def drawing(self, language: str, source: str) -> str:
        """Return what stands in a code block that GitHub draws."""
        if language == "math" and not re.search(r"[\\%]", source):
            return source
        formula = language == "math"
        self.leave_out(RemovalKind.FORMULA if formula else RemovalKind.DRAWING)
        return FORMULA_LEFT_OUT if formula else DRAWING_LEFT_OUT

    def encode(self, written: str) -> str:
        return written

    def leave_out(self, kind: RemovalKind) -> None:
        """Note that something of this kind was left out here."""
        self.removed.append((kind, self._line))

    # -- blocks

    def _blocks(self, nodes: Iterable[SyntaxTreeNode]) -> list[str]:
        lines: list[str] = []
        is_tight = False
        for node in nodes:
            before = self._html.state
            block = self._block(node)
            if node.type != "html_block":
                self._html.leave_block(before)
            if block:
                lines += block if is_tight or not lines else ["", *block]
                is_tight = node.type == "paragraph" and node.hidden
        return lines

    def _block(self, node: SyntaxTreeNode) -> list[str]:
        self._line = node.map[0] + 1 if node.map else self._line
        match node.type:
            case "paragraph":
                return self._inline(node).splitlines()
            case "heading":
                words = " ".join(self._inline(node).split("\n"))
                return [f"{'#' * int(node.tag[1])} {words}"] if words else []
            case "blockquote":
                return [f"> {line}".rstrip() for line in self._blocks(node.children)]
            case "bullet_list" | "ordered_list":
                return self._list(node)
            case "fence" | "code_block":
                return [] if self._html.is_hiding else self._code(node)
            case "html_block":
                return self._write_paragraph(self._draw(node.content)).strip().splitlines()
            case "hr":
                return [] if self._html.is_hiding else ["---"]
            case "table":
                return self._table(node)
            case _:
                return self._blocks(node.children)

    def _list(self, node: SyntaxTreeNode) -> list[str]:
        lines: list[str] = []
        for item in node.children:
            mark = f"{item.info}{item.markup}" if node.type == "ordered_list" else item.markup
            block = self._blocks(item.children)
            if block:
                is_tight = all(part.hidden for part in item.children if part.type == "paragraph")
                indent = " " * (len(mark) + 1)
                rest = [f"{indent}{line}".rstrip() for line in block[1:]]
                lines += ([] if is_tight or not lines else [""]) + [f"{mark} {block[0]}", *rest]
        return lines

    def _code(self, node: SyntaxTreeNode) -> list[str]:
        info = node.info.split() if node.type == "fence" else []
        language = info[0].casefold() if info else ""
        content = node.content
        if language in _DRAWN:
            content, info = self.drawing(language, content), []
            if content in {FORMULA_LEFT_OUT, DRAWING_LEFT_OUT}:
                return [content]
        elif info and (len(info) > 1 or language not in _LANGUAGES):
            self.leave_out(RemovalKind.FENCE_INFO)
        shown = info[0] if info and language in _LANGUAGES else ""
        return code_block(content.removesuffix("\n"), shown).split("\n")

    def _table(self, node: SyntaxTreeNode) -> list[str]:
        rows = [
            [self._cell(cell) for cell in row.children]
            for part in node.children
            for row in part.children
        ]
        if not any(any(row) for row in rows):
            return []
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return [lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]]

    def _cell(self, node: SyntaxTreeNode) -> str:
        words = " ".join(self._inline(node).split())
        return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", words)

    def _footnotes(self, notes: dict[int, SyntaxTreeNode]) -> list[str]:
        lines: list[str] = []
        written: set[int] = set()
        # A note may refer to another one.
        while waiting := [note for note in self._notes if note in notes and note not in written]:
            for note in waiting:
                written.add(note)
                block = self._blocks(notes[note].children) or [""]
                rest = [f"    {line}".rstrip() for line in block[1:]]
                lines += ["", f"[^{self._notes[note]}]: {block[0]}".rstrip(), *rest]
        for _ in range(len(notes) - len(written)):
            self.leave_out(RemovalKind.FOOTNOTE)
        return lines

    # -- paragraphs

    def _inline(self, node: SyntaxTreeNode) -> str:
        pieces: list[Piece] = []
        for token in (child.token for child in node.children):
            if token is not None and token.type == "inline":
                source = self.formulas(self._without_comments(token.content))
                read = parser().parseInline(source, {})[0] if source != token.content else token
                pieces += self._pieces(read.children or [])
        return self._write_paragraph(pieces).strip()

    def _without_comments(self, text: str) -> str:
        """Return the source of a paragraph without comments.

        GitHub hides some that CommonMark takes for text, such as `<!-- a --!>`.
        """
        if "<!--" not in text or self._html.is_hiding:
            return text
        return _COMMENT.sub(self._comment, text)

    def _comment(self, match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        self.leave_out(RemovalKind.HTML_COMMENT)
        return ""

    def _formula(self, match: re.Match[str]) -> str:
        if match["code"] or not re.search(r"[\\%]", match[0]) or self._html.is_hiding:
            return match[0]
        self.leave_out(RemovalKind.FORMULA)
        return FORMULA_LEFT_OUT

    def _pieces(self, tokens: Sequence[Token]) -> list[Piece]:
        pieces: list[Piece] = []
        opened: list[int] = []
        for token in tokens:
            if token.type == "link_open":
                opened.append(len(pieces))
                pieces.append(Piece("link", self._link(token)))
            elif token.type == "link_close":
                pieces = self._close_link(pieces, opened.pop())
            else:
                pieces += self._piece(token)
        return pieces

    def _link(self, token: Token) -> str:
        if token.attrGet("title") and not self._html.is_hiding:
            self.leave_out(RemovalKind.LINK_TITLE)
        return self._known_address(token.attrGet("href"))

    def _known_address(self, written: object) -> str:
        address = str(written or "")
        if not _HIDING_ADDRESS.search(address):
            return address
        self.leave_out(RemovalKind.LINK_ADDRESS)
        return ""

    def _close_link(self, pieces: list[Piece], start: int) -> list[Piece]:
        """Return the pieces with a link closed; a link that shows nothing is dropped."""
        content = pieces[start + 1 :]
        if any(piece.text.strip() for piece in content if piece.kind not in MARKS):
            return [*pieces, Piece("end", self.address(pieces[start].text))]
        if pieces[start].text and not self._html.is_hiding:
            self.leave_out(RemovalKind.EMPTY_LINK)
        return pieces[:start]

    def _piece(self, token: Token) -> Iterable[Piece]:
        if token.type == "html_inline":
            return self._draw(token.content)
        if token.type == TANGLED:
            self.leave_out(RemovalKind.TANGLED)
        if self._html.is_hiding:
            return ()
        match token.type:
            case "text":
                return self.words(token.content)
            case "code_inline":
                return [Piece("code", token.content)]
            case "softbreak" | "hardbreak":
                return [Piece("text", "\n")]
            case "image":
                if token.content.strip() or token.attrGet("title"):
                    self.leave_out(RemovalKind.IMAGE_ALT)
                return self.picture(self._known_address(token.attrGet("src")))
            case "footnote_ref":
                number = self._notes.setdefault(int(token.meta["id"]), len(self._notes) + 1)
                return [Piece("note", str(number))]
            case _:
                return [Piece(token.type, token.markup)] if token.type in MARKS else ()

    def _draw(self, source: str) -> list[Piece]:
        before = len(self._html.hidden)
        pieces: list[Piece] = []
        for part in self._html.read(source):
            pieces += (
                self.picture(self._known_address(part.address))
                if isinstance(part, Picture)
                else self.words(part)
            )
        for kind in self._html.hidden[before:]:
            self.leave_out(kind)
        return pieces

    # -- writing

    def _write_paragraph(self, pieces: Sequence[Piece]) -> str:
        """Return a paragraph that is read as these pieces: with as few escapes as possible."""
        return write_paragraph(pieces, self.encode)
