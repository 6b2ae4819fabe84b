"""Turn untrusted words into Markdown that looks the same and has no effect on GitHub.

It mentions nobody, refers to no issue, closes none, loads no picture, draws no formula, defines no
link and no footnote for the rest of the comment, opens no HTML element and begins no line with a
command. Most of this is done by one zero-width blank, `&#8203;`, between a sign and the word it
would act on. Code is left as it is, since GitHub ignores all of this in code.

A parser determines where code ends, and the result is checked once more (`active_markdown.live`).
If anything in it still acts, the whole text is shown as code: the words stay without their
formatting.
"""

import re
from collections.abc import Iterable

from forge_bot.forge import inert_address, points_at_thread
from forge_bot.prompts.active_markdown import active_markup, active_markup_in_line
from forge_bot.prompts.invisible import invisible_characters, without_unseen
from forge_bot.prompts.markdown_pieces import Piece
from forge_bot.prompts.untrusted import LONGEST_TEXT, Cleaned, clean, clean_plain
from forge_bot.prompts.visible_markdown import MarkdownWriter
from forge_bot.text_format import code_block, code_span, cut, single_spaced

BLANK = "&#8203;"
"""A zero-width blank: it is invisible and separates characters that would act together."""

_ADDRESS = re.compile(r"(?:https?://|\bwww\.)[^\s<>()\[\]\"'`|]+", re.IGNORECASE)
_TOGETHER = re.compile(
    r"((?:@|#|\bGH-|https?:|www\.)(?=[\w/])|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
    r"(?=[^\w\n]{0,8}(?:#|gh-|https?:|[\w.-]+/[\w.-]+\W?#)))",
    re.IGNORECASE,
)
_IN_TITLES = re.compile(
    r"#+(?=\d)|\bGH-(?=\d)|https?://(?:www\.)?|(?<![A-Za-z0-9])@+(?=[A-Za-z0-9])|\*{2,}(?=no_ci\b)",
    re.IGNORECASE,
)
"""Text that acts in a title or a commit subject on GitHub and its CI. It is removed there."""
_SKIPPED = re.compile(
    r"\[([^\[\]]*(?:skip|\bno[\s_-]?(?:ci|build|actions?|deploy|release)\b)[^\[\]]*)\]",
    re.IGNORECASE,
)
"""`[skip ci]`, `[ci skip]`, `[no ci]`, `[skip netlify]` and similar:

they tell a CI to skip a commit.
"""
_SKIPS_CI = re.compile(
    r"\[((?:skip[\s_-]|no[\s_-])\w{2,20}|skipci|noci|\w{2,20}[\s_-]skip)\](?!\()"
    r"|\*{3}(NO_CI)\*{3}",
    re.IGNORECASE,
)
"""The same signs in the text of a pull request, which a squash makes the message of a commit."""
_SKIP_TRAILER = re.compile(r"\b(skip-checks)\s*:\s*", re.IGNORECASE)
_LONGEST_READ = 1_000
"""The characters of a title that are read. GitHub's titles have at most 256."""
_BEGINS = re.compile(r"[-+*](?:\s|$)|[#>|=]|:?--|:-|~{3}|`{3}|\d+[.)]|/\w|(?:[*_-]\s*){3,}$")
"""Text that could begin a block or a command at the beginning of a line."""


_DOLLAR = re.compile(
    r"(?P<code>(?<![\\`])(`+)(?!`).*?(?<!`)\2(?!`))|(?<!\\)(?P<slashes>(?:\\\\)*)\$", re.DOTALL
)
"""A span of code, or a dollar sign that could begin a formula."""


class _QuietWriter(MarkdownWriter):
    """Writes a document so that nothing in it acts. Formulas and drawings stay as their source."""

    def words(self, text: str) -> Iterable[Piece]:
        """Return the pieces of words: addresses that would act become links that do not."""
        for piece in super().words(text):
            reached = 0
            for match in _ADDRESS.finditer(piece.text):
                if not _acts(match[0]):
                    continue
                address = match[0].rstrip(".,;:!?*_~")
                yield Piece("text", _separate(piece.text[reached : match.start()]))
                yield Piece("link", self.address(address))
                yield Piece("text", _separate(address))
                yield Piece("end", self.address(address))
                reached = match.start() + len(address)
            yield Piece("text", _separate(piece.text[reached:]))

    def address(self, address: str) -> str:
        """Return an address that leaves no note on the page of an issue."""
        return inert_address(address) if points_at_thread(address) else address

    def picture(self, address: str) -> Iterable[Piece]:
        link = self.address(address)
        return [Piece("link", link), Piece("text", "🖼 picture"), Piece("end", link)]

    def formulas(self, text: str) -> str:
        return text

    def drawing(self, language: str, source: str) -> str:  # noqa: ARG002
        return source

    def encode(self, written: str) -> str:
        """Return the paragraph with blanks of no width as entities and without commands."""
        dollars = _DOLLAR.sub(lambda part: part["code"] or f"{part['slashes']}\\$", written)
        return re.sub(r"^/(?=\w)", "&#47;", dollars.replace("\u200b", BLANK), flags=re.MULTILINE)


def document(markdown: str) -> Cleaned:
    """Return a whole document that is safe between our own texts.

    `removals` lists what it does not show.
    """
    text = without_unseen(markdown.replace("\r\n", "\n").replace("\r", "\n"))[0][:LONGEST_TEXT]
    quiet = _QuietWriter().write(text).strip("\n")
    removals = clean(markdown).removals
    if active_markup(quiet) or (not quiet and markdown.strip()):
        quiet = fenced(markdown)
    return Cleaned(text=quiet, removals=removals)


def line(markdown: str, longest: int = 600) -> str:
    """Return words on one line, with their code and emphasis, cut to `longest` characters.

    They begin no block, in any position.
    """
    words = cut(single_spaced(clean_plain(markdown).text), longest)
    quiet = single_spaced(_QuietWriter().write_line(words))
    return _not_first(code(words) if active_markup_in_line(quiet) else quiet)


def cell(markdown: str, longest: int = 300) -> str:
    return line(markdown, longest).replace("\\|", "|").replace("|", "\\|")


def plain(text: str, longest: int = 200) -> str:
    """Return a title or name.

    Each sign is shown and none has a meaning, except code in backticks.
    """
    words = cut(" ".join(clean_plain(text).text.split()), longest)
    parts = re.split(r"(?<!`)(`[^`]+`)(?!`)", words)
    shown = "".join(
        code(part[1:-1]) if place % 2 else _literal(part) for place, part in enumerate(parts)
    )
    return _not_first(code(words) if active_markup_in_line(shown) else shown)


def code(text: str, longest: int = 200) -> str:
    """Return a code span that shows the text, whatever it holds."""
    shown = " ".join(cut(clean_plain(text).text, longest).split())
    return code_span(shown)


def code_cell(text: str, longest: int = 200) -> str:
    return code(text, longest).replace("|", "\\|")


def fenced(text: str, language: str = "") -> str:
    """Return a code block that shows the text without invisible characters.

    The text may hold any fences.
    """
    shown = clean_plain(text).text
    return code_block(shown.rstrip(), language)


def reveal_invisible(text: str) -> str:
    """Return the text with each invisible character as its code, such as `⟨U+200B⟩`."""
    places = invisible_characters(text)
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if place in places else char for place, char in enumerate(text)
    )


def show_source(text: str, language: str = "markdown") -> str:
    """Return a document as a code block in which all of it is visible.

    That includes comments, addresses and invisible characters.
    """
    return fenced(reveal_invisible(text.replace("\r\n", "\n")), language)


def heading(text: str, longest: int = 200) -> str:
    """Return a title for a pull request or the subject of a commit, without any effect.

    It is one line of plain text. It refers to no issue and closes none, mentions nobody, and has no
    sign by which a CI skips its checks.
    """
    words = " ".join(clean_plain(text[:_LONGEST_READ]).text.split())
    # A removal can join characters that act, as in `#@7`, so it is repeated until nothing changes.
    while (
        quiet := _SKIPPED.sub(r"(\1)", _SKIP_TRAILER.sub(r"\1 ", _IN_TITLES.sub("", words)))
    ) != words:
        words = quiet
    return cut(" ".join(words.split()), longest)


def without_ci_signs(text: str) -> str:
    """Return the text of a pull request with round brackets for `[skip ci]` and its kind, also in
    code, and without `skip-checks:`. A CI reads words, not Markdown.
    """
    return _SKIP_TRAILER.sub(r"\1 ", _SKIPS_CI.sub(lambda match: f"({match[1] or match[2]})", text))


def _not_first(words: str) -> str:
    return f"{BLANK}{words}" if _BEGINS.match(words) else words


def _literal(text: str) -> str:
    escaped = re.sub(r"([\\`*_\[\]<>~|$#])", r"\\\1", text).replace("&", "&amp;")
    return separate_signs(escaped)


def separate_signs(text: str) -> str:
    """Insert a zero-width blank in plain words wherever signs would act together."""
    return _TOGETHER.sub(rf"\1{BLANK}", text)


def _separate(text: str) -> str:
    return _TOGETHER.sub("\\1\u200b", text)


def _acts(url: str) -> bool:
    return points_at_thread(url) or re.search(r"@|#\d|\bGH-\d", url, re.IGNORECASE) is not None
