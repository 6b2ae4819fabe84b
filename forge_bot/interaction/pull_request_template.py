"""A repository's own template for pull requests: its description filled in, questions about AI
answered, and the rest left as it is.

Source:
https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from posixpath import basename

from forge_bot.artifacts.markdown import closes_its_blocks
from forge_bot.artifacts.test_paths import belongs_to_tests, is_page
from forge_bot.forge import GUIDE_FOLDERS
from forge_bot.interaction.house_demands import CHANGELOGS, Demand
from forge_bot.prompts import escape
from forge_bot.values import Frozen

_NAME = "pull_request_template"
_LONGEST = 16_000
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LITERAL = re.compile(
    r"(<!--.*?(?:-->|\Z)|(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]+`|\]\([^)\n]*\))",
    re.DOTALL,
)
"""Parts of a template in which nothing acts on GitHub: comments, code and addresses of links."""
_ACTS = re.compile(
    r"(?<![\w@/])@(?=\w)|#(?=\d)|\bGH-(?=\d)"
    r"|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+https?://)",
    re.IGNORECASE,
)

_HEADING = re.compile(
    r"^ {0,3}(?:#{1,6}[ \t]+(?P<words>.+)|\*\*(?P<bold>[^*\n]+)\*\*:?[ \t]*"
    r"|(?![ \t>]*[-*+] )(?P<under>.+)\n {0,3}(?:=+|-{3,})[ \t]*)$",
    re.MULTILINE,
)
_ASKS = (
    re.compile(r"\b(?:descri|summar|overview)\w*|描述|说明|説明|概要", re.IGNORECASE),
    re.compile(r"\b(?:what|why|chang(?:es?|eset|ed)|motivation|purpose)\b", re.IGNORECASE),
)
"""What the heading of the description says, the surest first."""
_ASKS_ELSE = re.compile(
    r"\b(?:above|below|type|kind|breaking|check ?list|test\w*|review\w*|release|screenshots?"
    r"|changelog)\b",
    re.IGNORECASE,
)
_ASKS_CAUSE = re.compile(
    r"\bwhat (?:was|is) (?:wrong|broken)|\bcause\b|^(?:the )?(?:problem|bug)\b", re.IGNORECASE
)
_ASKS_WAY = re.compile(
    r"\bhow\b.{0,80}?\b(?:fix|solv|work|implement)|^(?:the )?(?:solution|fix|implementation)\b",
    re.IGNORECASE,
)
_BOX = re.compile(
    r"^(?P<begin>[ \t>]*[-*+] )\[ ?\](?P<words> .*(?:\n[ \t]+(?![-*+] |\d+[.)] )\S.*)*)$",
    re.MULTILINE,
)
"""A box with its words, also those of its further lines."""
_TOOL = re.compile(
    r"^(?P<label>[ \t>]*(?:[-*+] )?\*{0,2}[^:\n`]*\b(?:tool|model|assistant)(?:s|\(s\))?(?!\w)"
    r"[^:\n?`]{0,30}:\*{0,2})(?P<rest>[ \t]*(?:<!--[^\n]*-->)?[ \t]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that asks for the tool or the model, and has no answer yet."""

_PARAGRAPH = re.compile(
    r"^[ \t]*\S(?:.*\S)?(?:[ \t]*\n(?![ \t]*(?:[-*+] |\d+[.)] |#|[-=_*]{3}))[ \t]*\S(?:.*\S)?)*\n*",
    re.MULTILINE,
)
_PROSE = r"\b(?:description|summary|overview|explanation)\b"
_PLACEHOLDER = re.compile(
    r"[\s\[(<_*>]*(?:(?:please )?(?:describe|explain|summari[sz]e|outline)\b"
    rf"|(?:please )?(?:add|include|provide|write|give|enter|insert|put)\b[^.\n]{{0,40}}{_PROSE}"
    rf"|(?:an? |the )?(?:(?:brief|short|concise|clear|detailed)(?: and |, | ))+{_PROSE}"
    r"|(?:an? )?description of (?:the|how|what|why)\b"
    r"|(?:fix\w*|clos\w+|resolv\w+):? # *(?:\(issue\)|<?issue number>?|\.{3}|…|[xn]+)?\.?\s*$"
    r"|\(?\.{3}\)?\s*$)"
    r"|[^\n]*(?:\b(?:goes|go) here\b|\[replace me\])",
    re.IGNORECASE,
)
"""How a paragraph begins that only asks for the description."""
_OF_AI = re.compile(
    r"\b(?-i:AI)\b|\bai[- ]|\bLLMs?\b|\bgenerative\b|\blanguage models?\b"
    r"|\b(?:code|coding) agents?\b|\bagent declaration\b",
    re.IGNORECASE,
)
_MORE_THAN_USE = re.compile(
    r"[?]|n[’']t\b|\b(?:no|not|none|never|without|only|if|some|most(?:ly)?|part\w*|entire\w*|fully"
    r"|minor|trivial|human|\w*review\w*|underst\w+|verif\w+|test\w*|check\w*|disclos\w+|read"
    r"|explain\w*|own|responsib\w+|comply|polic\w+|research|document\w*|draft\w*|idea\w*"
    r"|complet\w+|identified|trailer|claude|copilot|cursor|\w*gpt|gemini|jules|codex"
    r"|ensur\w+|copyright\w*|licen[cs]\w+)\b",
    re.IGNORECASE,
)
"""What a box says beside that AI was used, such as how much of it, or what a person did."""
_USE = re.compile(
    r"\b(?:used|using|assist\w*|generated|created|written|authored|involved)\b|^code generation\b",
    re.IGNORECASE,
)
_YES = re.compile(r"yes\b[.,]?", re.IGNORECASE)
_EXAMPLE = re.compile(r"\(e\.g\.[^()]*\)")
_TESTS_PASS = re.compile(
    r"(?:(?:all|new|and|existing|local|the|unit|automated|my)[ /]+)*(?:tests?|test suite)"
    r"(?: (?:are|is|have|all))* (?:pass(?:es|ed|ing)?|green|succeeds?)(?: locally)?"
    r"(?: with my changes?)?|i(?: have|[’']ve)? r[au]n (?:all |the )*(?:unit )?tests?(?: locally)?",
    re.IGNORECASE,
)
_COMMAND_PASSES = re.compile(
    r"(?:run )?`([^`]+)` (?:pass(?:es|ed)?|succeeds?|is green)", re.IGNORECASE
)


_DID = (
    r"(?:(?:i|you)(?: have|[’']ve)? |did you )?(?:add|updat|writ|wrote|includ)\w*(?: new)?"
    r"(?: ?/ ?\w+)?"
)
_TAIL = (
    r"(?: (?:\(?(?:if|where|when|as) (?:necessary|needed|applicable|appropriate)\)?|accordingly"
    r"|for (?:(?:my|the|new|changed) )*(?:code|changes?|features?)|summari[sz]ing the change"
    r"|that prove my fix(?: is effective or that my |/)feature works))?[?]?"
)
_TESTS_ADDED = re.compile(
    rf"{_DID}(?: or update)?(?: \w+){{0,3}} tests?(?: cases?)?{_TAIL}"
    rf"|(?:new )?tests(?: have been| are| were)? added(?: or updated)?{_TAIL}",
    re.IGNORECASE,
)
_ENTRY_ADDED = re.compile(
    rf"{_DID}(?: an?)?(?: new)?(?: entry (?:in|to))?(?: the)?"
    rf" (?P<file>[\w./-]*(?:changelog|changes|history|news)(?:\.\w+)?)(?: file| entry)?{_TAIL}",
    re.IGNORECASE,
)
_PAGES_CHANGED = re.compile(
    rf"{_DID}(?: (?:the|any|relevant|outdated|corresponding))* (?:documentation|docs){_TAIL}"
    rf"|i have made corresponding changes to the documentation",
    re.IGNORECASE,
)


class Deeds(Frozen):
    """Our own process's work, as a template may ask for it; `passed` are the command lines of the
    project that passed at the end, `changed` the files that the change adds or edits.
    """

    assistant: str = "forge-bot"
    tests_pass: bool = False
    passed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def wrote(self, words: str) -> bool:
        """Return whether the change has the tests, the entry or the pages that a box names."""
        entry = _ENTRY_ADDED.fullmatch(words)
        if entry is not None:
            named = entry["file"].casefold()
            logs = (path.casefold() for path in self.changed if CHANGELOGS.fullmatch(path))
            return any(
                named in {log, basename(log), basename(log).partition(".")[0]} for log in logs
            )
        pages = (path for path in self.changed if is_page(path) and not CHANGELOGS.fullmatch(path))
        return bool(
            (_TESTS_ADDED.fullmatch(words) and any(map(belongs_to_tests, self.changed)))
            or (_PAGES_CHANGED.fullmatch(words) and any(pages))
        )


class Description(Frozen):
    """A change in words, as Markdown: the whole, why something was wrong, and how it is mended. A
    template may ask for the last two under headings of their own.
    """

    whole: str
    cause: str = ""
    way: str = ""


class Customs(Frozen):
    """The common traits of a repository's pull requests: its template, if it has one, whether
    titles begin with a type, what its guide asks of every change, and the files of this one.
    """

    template: str = ""
    typed: bool = True
    demands: tuple[Demand, ...] = ()
    changed: tuple[str, ...] = ()


def find_template(paths: Iterable[str]) -> str:
    """Return the path of the template that pull requests begin with; empty if the repository has
    none, or several to choose from.
    """
    known = sorted(path for path in paths if _NAME in path.lower())
    for folder in GUIDE_FOLDERS:
        for path in map(PurePosixPath, known):
            bare = path.name.lower().partition(".")[0]
            if str(path) == f"{folder}{path.name}" and bare == _NAME:
                return str(path)
    inside = [path for path in known if PurePosixPath(path).parent.name.lower() == _NAME]
    return inside[0] if len(inside) == 1 else ""


def fill_template(template: str, description: Description, deeds: Deeds) -> tuple[str, bool]:
    """Return the template with the description where it asks for one, and whether it does. What a
    person has to answer is left as it is.
    """
    if len(template) > _LONGEST:
        return "", False
    text = _quiet(template.replace("\r\n", "\n").strip())
    bare, headings = _without_literals(text), _headings(text)
    text = _BOX.sub(
        lambda box: _ticked(box, headings, deeds) if bare[box.end("begin")] == "[" else box[0], text
    )
    text = _answered(text, deeds)
    if not closes_its_blocks(text):
        return text, False
    for asks, words in ((_ASKS_WAY, description.way), (_ASKS_CAUSE, description.cause)):
        text = _with_reason(text, asks, words) if words else text
    described = _described(text, description.whole)
    return text if described is None else described, described is not None


def is_seen(template: str) -> bool:
    """Return whether a template is more than comments."""
    return bool(_COMMENT.sub("", template).strip())


def asks_anything(template: str) -> bool:
    """Return whether a template has a heading or a box, and not only words to its reader."""
    return bool(_headings(template) or _BOX.search(_without_literals(template)))


def _quiet(text: str) -> str:
    """Return the text with references and mentions that do not act."""
    parts: list[str] = []
    reached = 0
    for literal in _LITERAL.finditer(text):
        parts += [_ACTS.sub(_apart, text[reached : literal.start()]), literal[0]]
        reached = literal.end()
    return "".join([*parts, _ACTS.sub(_apart, text[reached:])])


def _apart(sign: re.Match[str]) -> str:
    return f"{sign[0]}{escape.BLANK}"


def _without_literals(text: str) -> str:
    """Return the text with blanks for comments and blocks of code; nothing moves."""

    def blank(part: re.Match[str]) -> str:
        hides = part["fence"] or part[0].startswith("<!--")
        return re.sub(r"[^\n]", " ", part[0]) if hides else part[0]

    return _LITERAL.sub(blank, text)


def _headings(text: str) -> list[re.Match[str]]:
    return [*_HEADING.finditer(_without_literals(text))]


def _words_of(heading: re.Match[str]) -> str:
    return heading["words"] or heading["bold"] or heading["under"]


def _description(text: str) -> re.Match[str] | None:
    """Return the heading below which the description is expected."""
    headings = [
        heading
        for heading in _headings(text)
        if not (_ASKS_ELSE.search(_words_of(heading)) or _OF_AI.search(_words_of(heading)))
    ]
    return next(
        (heading for asks in _ASKS for heading in headings if asks.search(_words_of(heading))), None
    )


def _described(text: str, words: str) -> str | None:
    """Return the text with the words below the heading of the description, else in the place of the
    first paragraph that asks for one. All that only asks for it there is left out.
    """
    bare, headings, heading = _without_literals(text), _headings(text), _description(text)
    first = next((one.start() for one in headings if one.start()), len(text))
    parts = [(0, first)] if heading is None or heading.start() == first else []
    if heading is not None:
        later = (one.start() for one in headings if one.start() > heading.start())
        parts.append((heading.end(), next(later, len(text))))
    asking = [
        paragraph
        for part in parts
        for paragraph in _PARAGRAPH.finditer(bare, *part)
        if _PLACEHOLDER.match(paragraph[0])
    ]
    place = heading.end() if heading is not None else next((one.start() for one in asking), None)
    if place is None:
        return None
    before, after = (
        "".join(_without(text, asking, begin, end))
        for begin, end in ((0, place), (place, len(text)))
    )
    gap = "\n\n" if heading is not None else ""
    rest = after if heading is not None else f"\n{after}" if after else ""
    return f"{before}{gap}{words}\n{rest}"


def _with_reason(text: str, asks: re.Pattern[str], words: str) -> str:
    """Return the text with the words below the first heading that asks for them, beside that of the
    description, where nothing stands but what only asks.
    """
    headings, taken = _headings(text), _description(text)
    if taken is None:
        return text
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=False):
        begin = heading.end()
        asking = [*_PARAGRAPH.finditer(_without_literals(text), begin, end)]
        if (
            asks.search(_words_of(heading))
            and begin != taken.end()
            and all(_PLACEHOLDER.match(paragraph[0]) for paragraph in asking)
        ):
            rest = "".join(_without(text, asking, begin, end)).strip("\n")
            return "\n\n".join([text[:begin], words, *filter(None, [rest]), text[end:]])
    return text


def _without(text: str, paragraphs: Sequence[re.Match[str]], begin: int, end: int) -> Iterator[str]:
    """Yield a part of the text without these paragraphs."""
    for paragraph in paragraphs:
        if begin <= paragraph.start() < end:
            yield text[begin : paragraph.start()]
            begin = paragraph.end()
    yield text[begin:end]


# -- questions about AI
# --------------------------------------------------------------------------------------------------


def _answered(text: str, deeds: Deeds) -> str:
    """Return the text with the tool and its models below the first heading about AI, and in the
    lines of its part that ask for them alone.
    """
    headings = _headings(text)
    for place, heading in enumerate(headings):
        if not _OF_AI.search(_words_of(heading)):
            continue
        behind = [later for later in headings[place + 1 :] if not later["bold"]]
        end = behind[0].start() if behind else len(text)
        part = text[heading.end() : end]
        for line in reversed([*_TOOL.finditer(part)]):
            if _without_literals(part)[line.start() :].startswith(line["label"]):
                part = f"{part[: line.end('label')]} {deeds.assistant}{part[line.end('label') :]}"
        trailer = "Generated-by" if "generated-by" in part.casefold() else "Assisted-by"
        answer = f"\n\n{trailer}: {deeds.assistant}\n"
        return f"{text[: heading.end()]}{answer}{part}{text[end:]}"
    return text


def _is_about_ai(headings: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether the last heading before a place is about AI, and asks for no denial."""
    above = (one for one in reversed(headings) if one.end() <= place and not one["bold"])
    words = next(map(_words_of, above), "")
    return bool(_OF_AI.search(words)) and not re.search(r"\bno[tn]?\b", words)


def _ticked(box: re.Match[str], headings: Sequence[re.Match[str]], deeds: Deeds) -> str:
    """Return a box, ticked if our process did exactly what it says: that AI was used, that tests,
    an entry or pages were written, that the tests pass, or that a command does. What only a person
    can say is never ticked.
    """
    words = " ".join(_COMMENT.sub("", box["words"]).replace("**", "").split()).rstrip(".! ")
    command = _COMMAND_PASSES.fullmatch(words)
    done = (
        (command is not None and command[1] in deeds.passed)
        or deeds.wrote(words.replace("`", ""))
        or (deeds.tests_pass and _TESTS_PASS.fullmatch(words) is not None)
        or _says_that_ai_was_used(words, about_ai=_is_about_ai(headings, box.start()))
    )
    return f"{box['begin']}[x]{box['words']}" if done else box[0]


def _says_that_ai_was_used(words: str, *, about_ai: bool) -> bool:
    if about_ai and _YES.fullmatch(words):
        return True
    used = _USE.search(words) and (about_ai or _OF_AI.search(words))
    return bool(used) and not _MORE_THAN_USE.search(_EXAMPLE.sub("", words))
