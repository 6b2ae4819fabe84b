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
from collections.abc import Callable

from forge_bot.prompts.active_markdown import active_markup, active_markup_in_line, open_fence
from forge_bot.prompts.addresses import inert_address, points_at_thread
from forge_bot.prompts.hidden_text import read
from forge_bot.prompts.invisible import invisible_spans
from forge_bot.prompts.untrusted import Cleaned, clean, clean_plain
from forge_bot.text_format import code_block, ticks_around

BLANK = "&#8203;"
"""A zero-width blank: it is invisible and separates characters that would act together."""

_TAG = re.compile(
    r"(?<!\\)(?P<esc>\\*)<(?!(?<=[\w.,;:)*`]<)br\s*/?>|https?://[^\s<>]+>)(?=[A-Za-z/!?])",
    re.IGNORECASE,
)
# A row of backslashes is read from its beginning only: from each of them on, the time would grow
# with the square of its length.
_ACTIVE = re.compile(
    r"(?<!\\)(?P<esc>\\*)(?:"
    r"(?P<target>(?<=\]\()(?:<[^\n<>]+(?=>)|[^\s<>()]+(?=[()]|\s+[\"'(])))"
    r"|(?P<auto><https?://[^\s<>]+>)"
    r"|(?P<url>(?:https?://|\bwww\.)[^\s<>()\[\]\"'`|]+)"
    r"|(?P<image>!\[\]?)"
    r"|(?P<label>(?<![^\s>])\[(?=[^\]\n]+\]:)|\[(?=\^))"
    r"|(?P<dollar>\$)"
    r"|(?P<entity>&(?=(?:#\d+|#x[0-9a-f]+|[a-z][a-z0-9]*);))"
    r"|(?P<mention>(?<![A-Za-z0-9])@(?=[A-Za-z0-9]))"
    r"|(?P<number>#(?=\d)|\bGH-(?=\d))"
    r"|(?P<closing>\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
    r"(?=[^\w\n]{0,8}(?:#|gh-|https?:|[\w.-]+/[\w.-]+#)))"
    r"|(?P<command>^/(?=\w))"
    r"|(?P<drawn>(?<=```|~~~)[ \t]*(?:mermaid|math|geojson|topojson|stl)\b)"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
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
    r"\[((?:skip|no)[\s_-]?\w{2,20}|\w{2,20}[\s_-]skip)\](?!\()|\*{3}(NO_CI)\*{3}", re.IGNORECASE
)
"""The same signs in the text of a pull request, which a squash makes the message of a commit."""
_SKIP_TRAILER = re.compile(r"\b(skip-checks)\s*:\s*", re.IGNORECASE)
_LONGEST_READ = 1_000
"""The characters of a title that are read. GitHub's titles have at most 256."""
_HARMLESS = re.compile(r"(?!.*\bGH-\d)[A-Za-z0-9 .,;:()'\"“”’–-]*", re.IGNORECASE)
"""Words without any sign that means something in Markdown; most cells and reasons are like this."""
_BEGINS = re.compile(r"[-+*](?:\s|$)|[#>|=]|:?--|:-|~{3}|`{3}|\d+[.)]|/\w|(?:[*_-]\s*){3,}$")
"""Text that could begin a block or a command at the beginning of a line."""
_HARMLESS_ENTITIES = re.compile(
    r"&(?:amp|lt|gt|quot|apos|nbsp|[mn]dash|hellip|[rl]arr|times|middot|bull|le|ge|ne|check|#"
    r"(?:34|38|39|60|62|160|8203));"
)
_MOST_READINGS = 5
_ELLIPSIS = "…"


def document(markdown: str) -> Cleaned:
    """Return a whole document that is safe between our own texts.

    `removals` lists its invisible parts. Blocks that it leaves open are closed, so that they do not
    include text after an empty line.
    """
    cleaned = clean(markdown)
    quiet = _closed(_neutralised(_without_tags(cleaned.text)))
    if active_markup(quiet) or (cleaned.text.strip() == "" and markdown.strip() != ""):
        return cleaned.model_copy(update={"text": fenced(markdown)})
    return cleaned.model_copy(update={"text": quiet})


def line(markdown: str, longest: int = 600) -> str:
    """Return words on one line, with their code and emphasis, cut to `longest` characters.

    They begin no block, in any position.
    """
    words = cut(
        " ".join((markdown if _HARMLESS.fullmatch(markdown) else clean(markdown).text).split()),
        longest,
    )
    if _HARMLESS.fullmatch(words):
        return _not_first(words)
    quiet = _neutralised(_without_tags(words))
    return _not_first(code(words) if active_markup_in_line(quiet) else quiet)


def cell(markdown: str, longest: int = 300) -> str:
    """Return words for a cell of a table."""
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
    ticks = ticks_around(shown)
    blank = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}"


def code_cell(text: str, longest: int = 200) -> str:
    """Return a code span for a cell of a table."""
    return code(text, longest).replace("|", "\\|")


def fenced(text: str, language: str = "") -> str:
    """Return a code block that shows the text without invisible characters.

    The text may hold any fences.
    """
    shown = clean_plain(text).text
    return code_block(shown.rstrip(), language)


def reveal_invisible(text: str) -> str:
    """Return the text with each invisible character as its code, such as `⟨U+200B⟩`."""
    parts: list[str] = []
    reached = 0
    for start, end, _ in sorted(invisible_spans(text)):
        parts += [text[reached:start], "".join(f"⟨U+{ord(char):04X}⟩" for char in text[start:end])]
        reached = end
    return "".join([*parts, text[reached:]])


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
    return _SKIP_TRAILER.sub(r"\1 ", _SKIPS_CI.sub(lambda found: f"({found[1] or found[2]})", text))


def cut(text: str, longest: int) -> str:
    """Return the text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + _ELLIPSIS


def _not_first(words: str) -> str:
    return f"{BLANK}{words}" if _BEGINS.match(words) else words


def _literal(text: str) -> str:
    escaped = re.sub(r"([\\`*_\[\]<>~|$#])", r"\\\1", text).replace("&", "&amp;")
    return separate_signs(escaped)


def separate_signs(text: str) -> str:
    """Insert a zero-width blank in plain words wherever signs would act together."""
    return _TOGETHER.sub(rf"\1{BLANK}", text)


def _without_tags(text: str) -> str:
    """Return the text with its tags shown as text.

    Without a tag other text becomes code or ceases to be code, so it is read again until it stays.
    """
    for _ in range(_MOST_READINGS if "<" in text else 0):
        shown = _outside_code(text, lambda words: _TAG.sub(_tag, words))
        if shown == text:
            break
        text = shown
    return text


def _tag(found: re.Match[str]) -> str:
    return found[0] if len(found["esc"]) % 2 else f"{found['esc']}&lt;"


def _neutralised(text: str) -> str:
    return _outside_code(text, lambda words: _ACTIVE.sub(_harmless, words))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    reached = 0
    for start, end, _ in sorted(read(text).code):
        if start >= reached:
            parts += [change(text[reached:start]), text[start:end]]
            reached = end
    return "".join([*parts, change(text[reached:])])


def _harmless(found: re.Match[str]) -> str:
    """Return the replacement for one active element.

    A sign that is escaped by a backslash is already plain text.
    """
    slashes, sign = found["esc"], found[0][len(found["esc"]) :]
    escaped = len(slashes) % 2 == 1
    return slashes + _instead(found, sign, escaped=escaped)


def _instead(found: re.Match[str], sign: str, *, escaped: bool) -> str:
    match found.lastgroup:
        case "target":
            return inert_address(sign) if points_at_thread(sign) else sign
        case "auto" if not escaped:
            return _address(found, sign[1:-1]) if _acts(sign[1:-1]) else sign
        case "url":
            return _address(found, sign)
        case "image":
            return sign if escaped else "🖼 [" + ("picture]" if sign.endswith("]") else "")
        case "label" | "dollar":
            return sign if escaped else f"\\{sign}"
        case "entity":
            return (
                sign
                if escaped or _HARMLESS_ENTITIES.match(found.string, found.end() - 1)
                else "&amp;"
            )
        case "command":
            return "&#47;"
        case "drawn":
            return "text"
        case _:
            return sign + BLANK


def _address(found: re.Match[str], url: str) -> str:
    """Return the replacement for a bare address.

    One that would act becomes a link that shows it and leads to the same place.
    """
    if not _acts(url):
        return url
    url, after = url.rstrip(".,;:!?*_~"), url[len(url.rstrip(".,;:!?*_~")) :]
    shown = re.sub(r"([\\*_~$])", r"\\\1", url).replace("&", "&amp;")
    shown = separate_signs(shown)
    in_link = found.string.endswith("[", 0, found.start())
    return f"{shown}{after}" if in_link else f"[{shown}](<{inert_address(url)}>){after}"


def _acts(url: str) -> bool:
    return points_at_thread(url) or re.search(r"@|#\d|\bGH-\d", url, re.IGNORECASE) is not None


def _closed(text: str) -> str:
    """Return the text with an open code block closed."""
    mark = open_fence(text)
    return f"{text.rstrip()}\n{mark}" if mark else text.strip("\n")
