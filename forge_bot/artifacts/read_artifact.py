"""Read an artifact: whether its headings are filled, its verdict, its findings, its tasks."""

import re
from collections.abc import Sequence

from forge_bot.artifacts.markdown import Block, BlockKind, one_line, read_blocks
from forge_bot.artifacts.reviews import AnswersFor, judge_review
from forge_bot.artifacts.tasks import read_tasks
from forge_bot.values import Inspection, Problem, Verdict

MOST_CHARACTERS = 200_000

_LEVEL = 2
_NUMBER = re.compile(
    r"^(?:(?:part|section|step)\s+)?\d{1,2}(?:\.\d{1,2})*(?:[.):]\s*|\s+[–—-]\s*|\s+)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:to ?do|tbd|tba|fixme|to be (?:done|written|filled in|added|determined)|\w+ goes"
    r" here|lorem ipsum)?[\W_]*",
    re.IGNORECASE,
)
_SHORT = 200


def check_headings(markdown: str, required: Sequence[str]) -> tuple[Problem, ...]:
    """Return the problems that make a document incomplete.

    Each required heading is at level 2, `## Name`, in any case, with or without a number before it
    and punctuation after it. Before the next heading of level 1 or 2 it has content: text, a list,
    a table or code. Deeper headings, comments and words such as TBD do not count as content. `##
    Name: something` has its text on the line. An empty document, or one of more than 200,000
    characters, is a fatal problem; a person may accept the others.
    """
    if len(markdown) > MOST_CHARACTERS:
        message = (
            f"the file has {len(markdown):,} characters; the most is {MOST_CHARACTERS:,}: leave out"
            " what is not needed"
        )
        return (Problem(place="", message=message, fatal=True),)
    blocks = read_blocks(markdown)
    if all(block.kind is BlockKind.RULE or block.empty for block in blocks):
        return (Problem(place="", message="the file is empty", fatal=True),)
    fenced = len(blocks) == 1 and blocks[0].fence is not None
    found = (_problem(name, blocks, fenced=fenced) for name in required)
    return tuple(problem for problem in found if problem is not None)


def inspect(
    markdown: str,
    *,
    headings: Sequence[str],
    verdicts: Sequence[Verdict] = (),
    answers_for: AnswersFor | None = None,
    tasks: bool = False,
) -> Inspection:
    """Return all facts about an artifact.

    They are the problems of its headings, its verdict and findings if verdicts are requested, and
    its tasks.
    """
    problems = check_headings(markdown, headings)
    if any(problem.fatal for problem in problems):
        return Inspection(problems=problems, verdict=Verdict.UNREADABLE if verdicts else None)
    judged = judge_review(markdown, verdicts, answers_for) if verdicts else None
    specs, of_tasks = read_tasks(markdown) if tasks else ((), ())
    found = Inspection(problems=(*problems, *of_tasks), tasks=specs)
    return found if judged is None else found.replace(**judged._asdict())


def _problem(name: str, blocks: Sequence[Block], *, fenced: bool) -> Problem | None:
    """Return the problem of one required heading, or None."""
    named = [
        (place, block)
        for place, block in enumerate(blocks)
        if block.kind is BlockKind.HEADING and not block.quoted and _rest(block, name) is not None
    ]
    right = [(place, block) for place, block in named if block.level == _LEVEL]
    if any(_filled(name, blocks, place) for place, _ in right):
        return None
    if right:
        message = f"there is nothing below `## {name}`; write that part"
    elif named:
        message = f"it stands at level {named[0][1].level}; make it `## {name}`"
    elif fenced:
        message = (
            f"the whole file stands in a code fence; take the fence away, so that `## {name}` is a"
            " heading"
        )
    else:
        message = f"the heading is missing; add `## {name}` and write that part"
    return Problem(place=name, message=message, fatal=False)


def _rest(block: Block, name: str) -> str | None:
    """Return the text after the name and a separator in a heading; mostly empty.

    Return None if it is another heading.
    """
    wanted = _folded(name)
    for heading in (_folded(block.text), _NUMBER.sub("", _folded(block.text))):
        rest = heading.removeprefix(wanted)
        said = re.match(r"\s*(?:[:：–—]|-\s)(?P<said>.*)", rest)
        if heading.startswith(wanted) and (
            said is not None or re.fullmatch(r"[\W_]*(?:\([^)]*\)[\W_]*)?", rest)
        ):
            return said["said"] if said is not None else ""
    return None


def _folded(text: str) -> str:
    """Return the text without signs before the first word, in one case and with single blanks."""
    return re.sub(r"^[\W_]+", "", one_line(text)).casefold()


def _filled(name: str, blocks: Sequence[Block], place: int) -> bool:
    """Return whether the heading at a place has text, after a colon on its line or below it."""
    rest = _rest(blocks[place], name)
    if rest and not _is_nothing(rest):
        return True
    for block in blocks[place + 1 :]:
        if block.kind is BlockKind.HEADING and block.level <= _LEVEL:
            return False
        if block.kind not in {BlockKind.HEADING, BlockKind.RULE} and not _is_nothing(
            block.text + " ".join(block.cells)
        ):
            return True
    return False


def _is_nothing(text: str) -> bool:
    return len(text) < _SHORT and _PLACEHOLDER.fullmatch(one_line(text)) is not None
