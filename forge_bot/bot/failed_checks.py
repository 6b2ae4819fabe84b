"""Checks of a run's pull request that failed: which of them a change can mend, and their logs as a
document of the run.
"""

import re
from collections.abc import Sequence

from forge_bot.agent.redaction import Redactor
from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.command_replies import reply_with_state
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.engine.external_events import CHECK_ROUNDS, CHECKS
from forge_bot.engine.reports import ChecksFailed
from forge_bot.git import blob_id
from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.types import FailedCheck
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.runs.run import Run
from forge_bot.runs.wall_clock import now
from forge_bot.text_format import code_block

# ECMA-48: control sequences, operating system commands, and single escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_MOST_CHECKS = 8
_LONGEST = 12_000
"""The most characters of one check's log. The end of a log is the most useful part."""

_WAITS = "action_required"
_FAILED = frozenset({"failure", "error"})
"""Conclusions that a change can fix. The others (cancelled, timed out, stale, never started) are
about the runner.
"""


def examine_failed_checks(
    run: Run, github: GitHub, writer: CommentWriter, strike: Redactor
) -> CommentReply:
    """Read the checks of the run's pull request, and start a fix round if one can help; return a
    reply.

    The same commit leads to one round, however often this is called. Raises ReportRejected if the
    run cannot start one now.
    """
    pull = writer.thread.pull_of(run)
    failed, address = github.failed_checks(pull), f"{writer.address}/pull/{pull}"
    ours = [check for check in failed if can_mend(check)]
    if not ours and any(check.conclusion == _WAITS for check in failed):
        return reply("checks_wait", pull_request=address)
    if not ours:
        named = [f"{check.name}: {check.conclusion}" for check in failed]
        return command_replies.no_fix(writer.view(run), checks=named, pull_request=address)
    round_ = run.state.rounds.get(CHECKS, 0) + 1
    name = f"{CHECKS}-{round_}.md"
    names = tuple(dict.fromkeys(check.name[:200] for check in ours[:_MOST_CHECKS]))
    raw = run.workspace.write(name, strike(document(ours[:_MOST_CHECKS])))
    key = f"checks-{run.tree.head().commit}"
    run.tell(ChecksFailed(key=key, at=now(), artifact=name, blob=blob_id(raw), checks=names))
    view = writer.view(run)
    return reply_with_state("fixing", view, checks=names, round=round_, most=CHECK_ROUNDS)


def can_mend(check: FailedCheck) -> bool:
    """Return whether a change could make a check green: it ran to its end, and said something."""
    return check.conclusion in _FAILED and bool(check.log.strip() or check.summary.strip())


def document(checks: Sequence[FailedCheck]) -> str:
    """The checks and the ends of their logs, without anything that terminals draw or nobody sees.
    It stays strangers' text.
    """
    parts = ["# Checks that failed"]
    for check in checks:
        texts = [_fenced(text) for text in (check.summary, check.log) if text.strip()]
        parts.append(
            "\n\n".join(
                [
                    f"## {_plain(check.name)[:200]}",
                    f"{_plain(check.conclusion)}: {_plain(check.url)[:500]}",
                    *texts,
                ]
            )
        )
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    return " ".join(_seen(text).split())


def _seen(text: str) -> str:
    return clean_plain(_ESCAPES.sub("", text)).text


def _fenced(text: str) -> str:
    shown = _seen(text).strip("\n")[-_LONGEST:]
    return code_block(shown)
