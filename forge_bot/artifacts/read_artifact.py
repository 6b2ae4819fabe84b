"""Read an artifact: whether its headings are filled, its verdict, its findings, its tasks."""

from collections.abc import Sequence

from forge_bot.artifacts.markdown import Block, BlockKind, read_blocks
from forge_bot.artifacts.reviews import AnswersFor, judge_review
from forge_bot.artifacts.tasks import read_tasks
from forge_bot.text_format import one_line
from forge_bot.values import Inspection, Problem, Verdict

MOST_CHARACTERS = 200_000

_LEVEL = 2
_PLACEHOLDERS = {"", "tbd", "todo", "to do", "fixme"}


def check_headings(markdown: str, required: Sequence[str]) -> tuple[Problem, ...]:
    """Return the problems that make a document incomplete.

    Each required heading is `## Name`, in any case, and what stands behind it after a colon. Before
    the next heading of level 1 or 2 it has content: text, a list, a table or code, other than a
    word such as TBD. An empty document, or one of more than 200,000 characters, is a fatal problem;
    a person may accept the others.
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
    return tuple(
        Problem(place=name, message=message, fatal=False)
        for name in required
        if (message := _lacking(name, blocks))
    )


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
    inspection = Inspection(problems=(*problems, *of_tasks), tasks=specs)
    return inspection if judged is None else inspection.replace(**judged._asdict())


def _lacking(name: str, blocks: Sequence[Block]) -> str:
    """Return what a required heading lacks; "" where nothing."""
    places = [place for place, block in enumerate(blocks) if _rest(block, name) is not None]
    right = [place for place in places if blocks[place].level == _LEVEL]
    if any(_is_filled(name, blocks, place) for place in right):
        return ""
    if right:
        return f"there is nothing below `## {name}`; write that part"
    if places:
        return f"it stands at level {blocks[places[0]].level}; make it `## {name}`"
    if len(blocks) == 1 and blocks[0].fence is not None:
        return (
            f"the whole file stands in a code fence; take the fence away, so that `## {name}` is a"
            " heading"
        )
    return f"the heading is missing; add `## {name}` and write that part"


def _rest(block: Block, name: str) -> str | None:
    """Return the text after the name and a colon in a heading; None if it is another heading."""
    heading, _, rest = one_line(block.text).partition(":")
    is_named = block.kind is BlockKind.HEADING and heading.casefold() == name.casefold()
    return rest if is_named and not block.quoted else None


def _is_filled(name: str, blocks: Sequence[Block], place: int) -> bool:
    """Return whether the heading at a place has text, after a colon on its line or below it."""
    if not _is_nothing(_rest(blocks[place], name) or ""):
        return True
    for block in blocks[place + 1 :]:
        if block.kind is BlockKind.HEADING and block.level <= _LEVEL:
            return False
        if block.kind is not BlockKind.HEADING and not _is_nothing(
            block.text + " ".join(block.cells)
        ):
            return True
    return False


def _is_nothing(text: str) -> bool:
    return one_line(text).strip(".…").casefold() in _PLACEHOLDERS
