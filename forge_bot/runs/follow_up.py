"""Ask for more work on the change that a run offers: the document with all that is wanted, and the
report about it.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from forge_bot.engine import advance
from forge_bot.engine.external_events import FOLLOW_UP, has_change
from forge_bot.engine.reports import FollowUpAsked, ReviewItem
from forge_bot.git import blob_id
from forge_bot.github_api.types import FailedCheck
from forge_bot.prompts.untrusted import clean, clean_plain
from forge_bot.runs.attachments import FrozenFiles
from forge_bot.runs.run import Run
from forge_bot.text_format import code_block
from forge_bot.values import Frozen, RunStatus

# ECMA-48: control sequences, operating system commands, and single escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_LONGEST = 12_000
"""The most characters of one text. The end of a log is its most useful part."""


class ReviewWords(Frozen):
    """The words of a review in one place: who wrote what, and the lines that it is about."""

    item: ReviewItem
    outdated: bool = False
    hunk: str = ""
    said: tuple[tuple[str, str], ...]


class Wanted(NamedTuple):
    """The wishes for a change."""

    notes: str = ""
    checks: Sequence[FailedCheck] = ()
    reviews: Sequence[ReviewWords] = ()
    left: tuple[str, ...] = ()
    attached: FrozenFiles = FrozenFiles()

    @property
    def words(self) -> str:
        """Return the words of people, without the code that they say it about."""
        said = (text for words in self.reviews for _, text in words.said)
        return "\n\n".join((self.notes, *said))


def make_follow_up(
    run: Run,
    wanted: Wanted,
    *,
    key: str,
    at: datetime,
    by: str = "",
    via: str = "",
    strike: Callable[[str], str] = str,
) -> FollowUpAsked:
    """Write the document with what is wanted, and return the report. Raises ReportRejected or
    RunEnded, before anything is written, if the run takes none now.
    """
    name = f"{FOLLOW_UP}-{run.state.rounds.get(FOLLOW_UP, 0) + 1}.md"
    text = strike(document(wanted, by))
    report = FollowUpAsked(
        key=key,
        at=at,
        artifact=name,
        blob=blob_id(text.encode()),
        head=run.code_so_far().tip,
        checks=tuple(dict.fromkeys(check.name[:200] for check in wanted.checks)),
        items=tuple(words.item for words in wanted.reviews),
        left=wanted.left,
        notes=wanted.notes.strip(),
        attachments=wanted.attached.attachments,
        by=by,
        via=via,
    )
    advance(run.pipeline, run.state, report)
    for file, data in (*wanted.attached.files.items(), (name, text.encode())):
        run.workspace.write(file, data)
    return report


def offers_change(run: Run) -> bool:
    """Return whether a run is done and offers a change of which more can be asked."""
    done = run.state.current_phase_status is RunStatus.COMPLETED
    return done and has_change(run.pipeline, run.state)


def document(wanted: Wanted, by: str = "") -> str:
    """All that is wanted, without anything that terminals draw or nobody sees. It stays strangers'
    text.
    """
    notes = [f"# What {_plain(by)} asks for", _fenced(wanted.notes)] if wanted.notes else []
    checks = [_check(check) for check in wanted.checks]
    reviews = [_review(number, words) for number, words in enumerate(wanted.reviews, 1)]
    parts = [
        *notes,
        *(["# Checks that failed", *checks] if checks else []),
        *(["# What the review asks for", *reviews] if reviews else []),
    ]
    return "\n\n".join(parts) + "\n"


def _check(check: FailedCheck) -> str:
    texts = [_fenced(text) for text in (check.summary, check.log) if text.strip()]
    heading = f"## {_plain(check.name)[:200]}"
    return "\n\n".join([heading, f"{_plain(check.conclusion)}: {_plain(check.url)[:500]}", *texts])


def _review(number: int, words: ReviewWords) -> str:
    older = ["These lines are those of an older version."] if words.outdated else []
    hunk = [_fenced(words.hunk)] if words.hunk else []
    # Only what a reader of the page is shown: nobody took what is hidden.
    said = [f"{_plain(by)}:\n\n{_fenced(clean(text).text)}" for by, text in words.said]
    place = _plain(words.item.place) or "the whole change"
    return "\n\n".join([f"## F-{number}: {place}", *older, *hunk, *said])


def _plain(text: str) -> str:
    return " ".join(_seen(text).split())


def _seen(text: str) -> str:
    return clean_plain(_ESCAPES.sub("", text)).text


def _fenced(text: str) -> str:
    return code_block(_seen(text).strip("\n")[-_LONGEST:])
