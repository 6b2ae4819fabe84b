"""Demands of a repository's guide on every change, where our process is certain of it: a
sign-off, an entry in the changelog, a news fragment.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping

from forge_bot.forge import GUIDE_FOLDERS
from forge_bot.forge.json_values import Node
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.text_format import cut
from forge_bot.values import Frozen

GUIDES = tuple(
    f"{folder}{name}"
    for folder in sorted(GUIDE_FOLDERS)
    for name in ("CONTRIBUTING.md", "CONTRIBUTING.rst", "CONTRIBUTING.txt", "CONTRIBUTING")
)
TOWNCRIER = ("towncrier.toml", "pyproject.toml")
"""The files that say where news fragments are."""

_SIGN_OFF = re.compile(
    r"signed-off-by|developer certificate of origin|\bDCO\b|--signoff", re.IGNORECASE
)
_NEWS = r"\b(?:changelog|(?:changes|history|news)\.(?=\w))"
_CHANGELOG = re.compile(
    rf"\b(?:add|updat|writ|includ|creat|entr|mention)\w*[^.\n]{{0,60}}{_NEWS}", re.IGNORECASE
)
_NO_CHANGELOG = re.compile(rf"(?:n[’'o]t|never|no need)\b[^.\n]{{0,60}}{_NEWS}", re.IGNORECASE)
CHANGELOGS = re.compile(
    r"(?:docs?/)?(?:changelog|changes|history|news)(?:\.(?:md|rst|txt))?", re.IGNORECASE
)


_AI = r"(?:\b(?-i:AI)\b|\bLLMs?\b|\bgenerative models?\b|\blanguage models?\b|\bcode agents?\b)"
_NO_AI = re.compile(
    rf"\bnot (?:entirely|fully|purely|wholly|solely) (?:written|generated|created|made) by\b.*{_AI}"
    rf"|\b(?:not|n[’']t|never|no longer) (?:accept|allow|permit|merge|submit|want)\b.*{_AI}"
    rf"|{_AI}.*\b(?:is|are|be) (?:not (?:accepted|allowed|permitted|welcome)"
    r"|forbidden|prohibited|banned|rejected|closed)\b"
    rf"|\bno {_AI}[- ](?:generated|written|assisted) (?:code|changes|contributions|PRs)",
    re.IGNORECASE,
)
"""The words that forbid changes by AI, or most of them, in one sentence."""
_CONDITION = re.compile(
    r"\b(?:unless|without|that you|you (?:do not|don[’']t|have not|haven[’']t|cannot|can[’']t))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n\s*(?=[-*+] )")
_MARK = re.compile(r"^[\s*+>-]*(?:\[[ x]?\])?[\s*]*|<!--|-->|\*\*")


class Demand(Frozen):
    """One thing that is asked of every change, as a sentence, and what came of it."""

    asked: str
    met: bool
    outcome: str


def house_demands(
    texts: Mapping[str, str], paths: Collection[str], changed: Collection[str], *, signed: bool
) -> tuple[Demand, ...]:
    """Return the demands. `texts` has the repository's guides and the configuration of towncrier by
    their paths, `changed` the files of the change; `signed`: its commits end with `Signed-off-by`.
    """
    guides = {path: text for path, text in texts.items() if path not in TOWNCRIER}
    return (*_sign_off(guides, signed=signed), *_news(texts, guides, paths, changed))


def refusals_of_ai(texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the first sentence of each guide or template that forbids changes by AI in plain
    words, with the path of the text.
    """
    sentences = (
        (path, " ".join(_MARK.sub("", sentence).split()))
        for path, text in texts.items()
        for sentence in _SENTENCE_END.split(text)
    )
    first: dict[str, str] = {}
    for path, sentence in sentences:
        if _NO_AI.search(sentence) and not _CONDITION.search(sentence):
            first.setdefault(path, f"{path} says: “{cut(sentence, 200)}”")
    return (*first.values(),)


def _sign_off(guides: Mapping[str, str], *, signed: bool) -> Iterator[Demand]:
    for path, text in guides.items():
        if _SIGN_OFF.search(text):
            outcome = "pull_request.signed_off" if signed else "pull_request.sign_off_is_yours"
            asked = say("pull_request.asks_for_sign_off", guide=escape.code(path))
            yield Demand(asked=asked, met=signed, outcome=say(outcome))
            return


def _news(
    texts: Mapping[str, str],
    guides: Mapping[str, str],
    paths: Collection[str],
    changed: Collection[str],
) -> Iterator[Demand]:
    for path in TOWNCRIER:
        if folder := _fragments(texts.get(path, "")):
            there = any(name.startswith(f"{folder}/") for name in changed)
            yield _written("pull_request.asks_for_fragment", path, f"{folder}/", met=there)
            return
    changelog = next((path for path in paths if CHANGELOGS.fullmatch(path)), "")
    for path, text in guides.items():
        if changelog and _CHANGELOG.search(text) and not _NO_CHANGELOG.search(text):
            yield _written("pull_request.asks_for_entry", path, changelog, met=changelog in changed)
            return


def _written(sentence: str, guide: str, place: str, *, met: bool) -> Demand:
    asked = say(sentence, guide=escape.code(guide), place=escape.code(place))
    outcome = say("pull_request.in_the_change") if met else f"**{say('pull_request.missing')}**"
    return Demand(asked=asked, met=met, outcome=outcome)


def _fragments(toml: str) -> str:
    """Return the folder of news fragments that towncrier is configured with; empty without it."""
    try:
        config = Node(tomllib.loads(toml)).at("tool", "towncrier")
    except tomllib.TOMLDecodeError:
        return ""
    package = config.text("package")
    return config.text("directory").strip("/") or (f"{package}/newsfragments" if package else "")
