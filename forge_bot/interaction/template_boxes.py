"""The boxes of a template for pull requests: which of them our own process can tick, since it did
that very thing. What only a person can say, such as that they read a guide, is never ticked.
"""

import re
from typing import NamedTuple, Self

from forge_bot.artifacts.test_paths import belongs_to_tests, is_test_file
from forge_bot.interaction.house_demands import CHANGELOGS
from forge_bot.values import Frozen

OF_AI = re.compile(
    r"\b(?-i:AI)\b|\bai[- ]|\bLLMs?\b|\bgenerative\b|\blanguage models?\b"
    r"|\b(?:code|coding) agents?\b|\bagent declaration\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
_TESTS_PASS = re.compile(
    r"(?:(?:all|new|and|existing|local|the|unit|automated|my)[ /]+)*(?:tests?|test suite)"
    r"(?: (?:are|is|have|all))* (?:pass(?:es|ed|ing)?|green|succeeds?)(?: locally)?"
    r"(?: with my changes?)?|i(?: have|[’']ve)? r[au]n (?:all |the )*(?:unit )?tests?(?: locally)?",
    re.IGNORECASE,
)
_TESTS_PROVE = re.compile(
    r"(?:(?:i(?: have|[’']ve)? )?add(?:ed)? (?:unit )?tests? that"
    r"|tests (?:have been|are|were) added (?:to|that)) (?:prove|demonstrate|show|verify)\b.*",
    re.IGNORECASE,
)
_COMMAND_PASSES = re.compile(
    r"(?:run )?`([^`]+)` (?:pass(?:es|ed)?|succeeds?|is green)", re.IGNORECASE
)
_LINT_PASSES = re.compile(
    r"(?:(?:all|the|my|code) )*(?:lint\w*|format\w*)(?:(?:/| and | or )(?:lint\w*|format\w*))*"
    r"(?: checks?)? (?:(?:all|have|has|is|are) )*(?:pass\w*|green|clean|succeed\w*)"
    r"|i(?: have|[’']ve)? r[au]n (?:the |all )*(?:lint\w*|format\w*)"
    r"|(?:my |the )*code (?:is|has been) (?:lint|format)\w*",
    re.IGNORECASE,
)
_FORMATS = re.compile(r"\b(?:format|fmt|black|prettier|gofmt)\b")

_HINT = re.compile(r"\s*\((?:run|for|if|see|when|where|e\.g\.|optional)\b[^()]*\)", re.IGNORECASE)
_CONDITION = re.compile(
    r"^if [^,]+, |,? (?:if|when|where|as) (?:applicable|appropriate|necessary|needed|required)$"
    r"|(?: when run)? locally$| accordingly$",
    re.IGNORECASE,
)
_WHO = r"(?:(?:i|we|did you|this (?:pr|pull request))(?: have| has|[’']ve)? )?"
_VERB = r"(?:(?:add|updat|includ|creat|pass)\w*|wr[io]te|written|made|make)"
_DID = rf"{_VERB}(?:(?: ?[/&,] ?| (?:and|or) ){_VERB})*"
_SUCH = (
    r"(?:(?:an?|the|any|new|necessary|appropriate|relevant|corresponding|existing|needed|required"
    r"|unit|automated|related|and|or)[ /]+)*"
)
_FOR = r"(?: (?:for|of|if|when|where|(?:that |to )?cover\w*|summari[sz]ing|describing)\b[^.;]*)?"
_MORE_THAN_FILES = re.compile(
    r"\band i\b|%|\b(?:manual\w*|review\w*|read|agree\w*|every|each|coverage|platforms?|link\w*"
    r"|screenshots?|no|not)\b",
    re.IGNORECASE,
)
"""What a box says beside that files of a kind are part of the change."""


def _in_change(what: str) -> re.Pattern[str]:
    """Return the pattern of the statement that a thing is part of the change."""
    return re.compile(
        rf"{_WHO}{_DID} {_SUCH}(?:{what})(?: (?:and|or) {_DID} {_SUCH}(?:{what}))?{_FOR}"
        rf"|{_SUCH}(?:{what})(?: for the changes?)?"
        rf" (?:(?:has|have|is|are|was|were)(?: been)? )?{_DID}{_FOR}",
        re.IGNORECASE,
    )


_TESTS_ADDED = _in_change(r"tests?(?: cases?)?")
_DOCUMENTED = _in_change(r"(?:changes to (?:the )?)?(?:documentation|docs)")
_LOG = r"(?:[\w.-]+/)*(?:change ?log(?:\.\w+)?|(?:changes|history|news)\.\w+)"
_ENTRY = r"(?:entry|entries|file|fragments?|note)"
_LOGGED = _in_change(
    rf"{_LOG}(?: {_ENTRY})?|(?:changes|history|news) {_ENTRY}"
    rf"|(?:changelog )?{_ENTRY} (?:in|to|for) (?:the )?(?:{_LOG}|changes|history|news)(?: \w+)?"
)
_NAMED_FILE = re.compile(r"[\w./-]+\.(?:md|rst|txt)\b")
_FRAGMENT = re.compile(r"(?:^|/)(?:newsfragments|changelog(?:\.d|s)?|changes|news)/[^/]+$")
_IN_FOLDER = re.compile(r"fragment|folder|directory|\.d\b", re.IGNORECASE)
_PAGE = re.compile(r"(?:^|/)docs?/|\.(?:md|rst|adoc)$", re.IGNORECASE)


class Deeds(Frozen):
    """Our own process's work, as a template may ask for it. `passed` are the command lines of the
    project that passed at the end, `changed` the files of the change; `proven`: a test of the
    change was red before; `shown`: the tests that its requirements name passed.
    """

    assistant: str = "forge-bot"
    tests_pass: bool = False
    lint_passes: bool = False
    passed: tuple[str, ...] = ()
    proven: bool = False
    shown: bool = False
    changed: tuple[str, ...] = ()

    @property
    def has_tests(self) -> bool:
        """Return whether the change has tests, and they passed."""
        return (self.tests_pass or self.shown) and any(map(is_test_file, self.changed))

    @property
    def has_pages(self) -> bool:
        return any(
            _PAGE.search(path) and not _is_log(path) and not belongs_to_tests(path)
            for path in self.changed
        )

    def has_entry(self, words: str) -> bool:
        """Return whether the change has the files that a statement names, or the fragment that it
        speaks of; else any file that lists changes.
        """
        if named := _NAMED_FILE.findall(words):
            paths = [f"/{path}" for path in self.changed]
            return all(any(path.endswith(f"/{name}") for path in paths) for name in named)
        is_there = _FRAGMENT.search if _IN_FOLDER.search(words) else _is_log
        return any(map(is_there, self.changed))


def _is_log(path: str) -> bool:
    return bool(CHANGELOGS.fullmatch(path) or _FRAGMENT.search(path))


class Statement(NamedTuple):
    """Return the words of a box, on one line."""

    text: str

    @classmethod
    def read(cls, words: str) -> Self:
        text = " ".join(_COMMENT.sub("", words).replace("**", "").split())
        return cls(text.strip().rstrip(".! "))

    def is_true(self, deeds: Deeds, *, about_ai: bool) -> bool:
        """Return whether our process did exactly this."""
        command = _COMMAND_PASSES.fullmatch(self.text)
        return (
            (command is not None and command[1] in deeds.passed)
            or (deeds.proven and _TESTS_PROVE.fullmatch(self.text) is not None)
            or self._says_that_ai_was_used(about_ai=about_ai)
            or self._is_done(deeds)
        )

    def _is_done(self, deeds: Deeds) -> bool:
        """Return whether the statement, without conditions and hints, is one that files or commands
        prove.
        """
        words = re.sub(r"^[^\w`]+", "", _HINT.sub("", self.text))
        words = _CONDITION.sub("", words.rstrip("?.! ")).replace("`", "")
        if deeds.tests_pass and _TESTS_PASS.fullmatch(words):
            return True
        if _LINT_PASSES.fullmatch(words):
            formats = any(map(_FORMATS.search, deeds.passed))
            return ("format" not in words.lower() or formats) and (
                "lint" not in words.lower() or deeds.lint_passes
            )
        if _MORE_THAN_FILES.search(words):
            return False
        return bool(
            (deeds.has_tests and _TESTS_ADDED.fullmatch(words))
            or (deeds.has_pages and _DOCUMENTED.fullmatch(words))
            or (_LOGGED.fullmatch(words) and deeds.has_entry(words))
        )

    def _says_that_ai_was_used(self, *, about_ai: bool) -> bool:
        if about_ai and _YES.fullmatch(self.text):
            return True
        used = _USE.search(self.text) and (about_ai or OF_AI.search(self.text))
        example = re.compile(r"\(e\.g\.[^()]*\)")
        return bool(used) and not _MORE_THAN_USE.search(example.sub("", self.text))
