"""One example of every sentence in the catalogue."""

from typing import Any

from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.command_replies import failed
from forge_bot.bot.comments.reply import CommentReply, pull_request_link, reply, standing
from forge_bot.engine.state import OpenGate
from forge_bot.errors import NoTestCommand, PermissionMissing, ReportRejected
from forge_bot.forge.types import Role
from forge_bot.gate import messages
from forge_bot.gate.grammar import Mistyped
from forge_bot.gate.parse_comment import parse_comment
from forge_bot.gate.people import Denied, DenyReason
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.markdown_templates import Markdown
from tests.bot import scene

COMMANDS = CommandNames()
LINKS = scene.LINKS
WAITING = Markdown("Waiting for one of `ada`, `acme/core`; 1 of 2 (`val`).")


def gate() -> OpenGate:
    open_ = scene.design_waits().state.gate
    assert open_ is not None
    return open_


def said_at_the_gate() -> list[str]:
    """What the gate answers by itself, before anything is installed."""
    role = Denied(DenyReason.ROLE, "@mallory has the role read; write is needed", "mallory")
    unverified = Denied(
        DenyReason.UNVERIFIED, "the role of @ann could not be found out: GitHub answered 500", "ann"
    )
    edited = Denied(
        DenyReason.EDITED,
        "the comment was edited, so it is not clear who wrote what; write it anew",
    )
    mistyped = parse_comment("/approve? no, wait").command
    assert isinstance(mistyped, Mistyped)
    return [
        messages.beginning(LINKS.job),
        *(
            messages.refusal(each, Role.WRITE, "/forge", run_url=LINKS.job)
            for each in (role, unverified, edited)
        ),
        messages.correction(mistyped, "/forge"),
        messages.stranded(LINKS.job, "/forge"),
    ]


def every_reply() -> list[CommentReply]:
    """Return an example of each table of `replies.toml`, but for the next steps of a run, which
    `scene` has.
    """
    waits, works = scene.design_waits(), scene.at_work()
    shown = command_replies.shown_back(
        COMMANDS, line="/approve", words="2a with it should be `sch`"
    )
    assert shown is not None
    refused = ReportRejected("The request has not changed.", hint="Edit the issue first.")
    no_permission = PermissionMissing("Actions may not open pull requests.", hint="Allow it.")
    home = "https://github.com/lighthouse/rota"
    return [
        command_replies.ended_already(scene.done()),
        command_replies.stale_approval(waits, gate(), given="0badcafe"),
        reply("not_enough", commands=COMMANDS, awaited=[WAITING], again=False),
        shown,
        command_replies.asked_for_status(works),
        command_replies.cannot(COMMANDS, refused),
        command_replies.answered("Because `rota` counts days from the first.", "why not zero?"),
        reply(
            "no_fix",
            commands=COMMANDS,
            checks=["deploy: cancelled"],
            pull_request=f"{home}/pull/57",
        ),
        command_replies.pull_request_by_hand(works, no_permission, url=f"{home}/compare/main...x"),
        failed(NoTestCommand("No way to test this repository was found."), LINKS, COMMANDS),
        *(reply(name, **example(name)) for name in PLAIN),
    ]


PLAIN = (
    *("no_run", "already_running", "resumed", "follow_up", "updated", "used_up"),
    *("pull_request_over", "people_in_conflict", "key_missing", "key_refused", "rate_limited"),
    *("cap_reached", "switched_off", "reminder", "batch_under_way", "github_limited"),
    *(
        "branch_protected",
        "may_not_push",
        "record_not_kept",
        "cancelled",
        "unexpected",
    ),
    *("issue_closed", "no_reviews", "review_answer"),
)
"""The replies that need no more of a run than a sentence does."""


_OF_OTHERS = {
    "who": "ann",
    "people": (),
    "days": 7,
    "label": "forge",
    "answer": "approve",
    "by": "ann",
    "base": "main",
    "branch": "fix/42-rota",
    "message": "GH013: Repository rule violations found",
    "secret": "OPENAI_API_KEY",
    "run": "20260102-42-rota-next",
    "to": "https://github.com/lighthouse/duty/issues/7",
}


def example(name: str, hostile: str = "") -> dict[str, Any]:
    """Return values for a reply, with hostile words where somebody else's stand."""
    run = scene.delivered()
    others = {key: hostile or words for key, words in _OF_OTHERS.items()}
    linked = {"branch": run.branch, "pull_request": pull_request_link(run)}
    return {
        "commands": COMMANDS,
        "links": LINKS,
        "now": standing(scene.at_work()),
        "tracking": LINKS.question,
        "checks": [hostile or "test", "lint"],
        "files": [hostile or "rota/cli.py"] * 7,
        "round": 1,
        "taken": [(hostile or "eve", 2, True)],
        "left": [hostile or "3 threads were left."],
        "words": hostile or "Say `nobody`.",
        "most": 2,
        "over": False,
        "abandoned": False,
        "answered": True,
        "commit": Markdown("`8d3cd24`"),
        "report": Markdown(run.links.named("impl-fix-1.md")),
        "state": "merged",
        "pull_request": LINKS.job,
        "compare": run.compare(run.offered),
        "aside": "fix/42-names-2",
        "until": "in 14 minutes",
        "records": "refs/forge-bot/runs/20260102-42-rota-next",
        "why": "not_planned",
        **others,
        **(linked if name in {"already_running", "pull_request_over"} else {}),
    }
