"""Read a finished or stopped run from its workspace. Any part of it may be missing or broken."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Self

from pydantic import ValidationError

from forge_bot.artifacts.markdown import BlockKind, read_blocks
from forge_bot.artifacts.sections import blocks_within
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import REPORT, Answer, Answered, ArtifactWritten, RetryAsked
from forge_bot.engine.state import State
from forge_bot.text_format import short_line
from forge_bot.values import Finding, Frozen, RunStatus

REQUEST, STATE, REPORTS = "request.md", "state.json", "reports.jsonl"
_OUTCOMES = {
    RunStatus.COMPLETED: "done",
    RunStatus.ABANDONED: "abandoned",
    RunStatus.IN_PROGRESS: "unfinished",
    RunStatus.AWAITING_HUMAN: "waiting",
}
_LONGEST_REQUEST = 4_000
_TELLING = ("artifact_written", "answered", "retry_asked")

_HEADING = "improvement report"
_NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|no (?:\w+ )?(?:friction|issues|problems|points|suggestions))"
    r"(?: (?:was |were )?(?:observed|found|noted|to report))?\W*",
    re.IGNORECASE,
)


class DocumentNames(NamedTuple):
    """The documents of a run that are read to learn from it. Without them, state and reports alone
    are read.
    """

    summary: str = ""

    @classmethod
    def of(cls, pipeline: Pipeline) -> Self:
        return cls(summary=pipeline.summary)

    def all(self) -> tuple[str, ...]:
        """Return the files in a workspace that can tell something about its run."""
        return tuple(filter(None, (REQUEST, STATE, REPORTS, self.summary)))


class PastRun(Frozen):
    """The request, the outcome and the reviews of one run.

    All texts but `request` are single lines.
    """

    name: str
    title: str
    request: str
    summary: str
    files: tuple[str, ...]
    outcome: str
    date: str
    findings: tuple[tuple[str, Finding], ...] = ()
    friction: tuple[str, ...] = ()
    rejections: tuple[tuple[str, str], ...] = ()
    """The gate or phase that people rejected, with their notes on one line."""


def read_reported(text: str) -> tuple[list[tuple[str, Finding]], list[tuple[str, str]]]:
    """Return the findings of all reviews of a run, by phase, and the notes of people's rejections.

    `text` is its reports.jsonl; lines that are no reports are ignored.
    """
    findings: dict[tuple[str, Finding], None] = {}
    rejections: dict[tuple[str, str], None] = {}
    for line in text.splitlines():
        # Most lines are of other kinds; searching for a word takes less time than parsing them.
        if not any(kind in line for kind in _TELLING):
            continue
        with suppress(ValidationError):
            match REPORT.validate_json(line):
                case ArtifactWritten(phase=phase, inspection=inspection):
                    for known in inspection.findings:
                        words = short_line(known.description)
                        findings[phase, known.replace(description=words)] = None
                case Answered(answer=Answer.REJECT, gate=place, notes=notes) if notes:
                    rejections[place, short_line(notes)] = None
                case RetryAsked(phase=place, notes=notes) if notes:
                    rejections[place, short_line(notes)] = None
                case _:
                    pass
    return list(findings), list(rejections)


def read_past_state(text: str | None) -> State | None:
    """Return the state in a state.json; None for one that is missing or broken."""
    try:
        return State.model_validate_json(text or "")
    except ValidationError:
        return None


def read_past_run(
    name: str, read: Callable[[str], str | None], documents: DocumentNames
) -> PastRun | None:
    """The run in a workspace folder of that name; `read` gives the text of a file in it,
    `documents` says which tell something.

    Return None when neither its state nor its request can be read; anything else that is missing or
    broken is left empty.
    """
    request, state = read(REQUEST), read_past_state(read(STATE))
    if request is None and state is None:
        return None
    summary = (read(documents.summary) if documents.summary else None) or ""
    findings, rejections = read_reported(read(REPORTS) or "")
    heading, body = _request(request or "")
    files = (path for task in state.tasks for path in task.spec.files) if state is not None else ()
    return PastRun(
        name=name,
        title=short_line(state.title if state is not None else heading or name),
        request=body[:_LONGEST_REQUEST],
        summary=short_line(_first_paragraph(summary)),
        files=tuple(dict.fromkeys(map(short_line, files))),
        outcome=_OUTCOMES[state.current_phase_status] if state is not None else "unknown",
        date=f"{state.started_at:%Y-%m-%d}" if state is not None else "",
        findings=tuple(findings),
        rejections=tuple(rejections),
        friction=read_friction(summary),
    )


def _request(text: str) -> tuple[str, str]:
    """Return title and text, without the front matter.

    An unfinished front matter leaves nothing.
    """
    text = text.replace("\r\n", "\n")
    if text.startswith("---\n"):
        text = text[4:].partition("\n---\n")[2]
    first, _, rest = text.strip().partition("\n")
    return first.lstrip("#").strip(), rest.strip() or first


def _first_paragraph(summary: str) -> str:
    """Return the first text under `## Summary`, or of the document when it has no such heading."""
    blocks = read_blocks(summary)
    start = next(
        (
            place
            for place, block in enumerate(blocks)
            if block.kind is BlockKind.HEADING and block.text.strip() == "Summary"
        ),
        -1,
    )
    return next(
        (
            block.text
            for block in blocks[start + 1 :]
            if block.kind is BlockKind.TEXT and not block.empty
        ),
        "",
    )


def read_friction(summary: str) -> tuple[str, ...]:
    """Return the bullets of a summary's improvement report, one line each.

    The line includes the text indented below the bullet. Bullets that report nothing and text
    outside bullets are left out.
    """
    points: list[str] = []
    for block in blocks_within(summary, _HEADING):
        if block.kind is not BlockKind.TEXT or not block.depth or block.quoted:
            continue
        if block.depth == 1 and block.starts_item:
            points.append(block.text)
        elif points:
            points[-1] += f" {block.text}"
    kept = (short_line(point) for point in points if not _NOTHING.fullmatch(point))
    return tuple(dict.fromkeys(point for point in kept if point))
