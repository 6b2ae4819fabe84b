"""One example of every sentence in the catalogue."""

from forge_bot.bot.speech import Commands, Reply, failures, replies
from forge_bot.engine.state import Decision, OpenGate
from forge_bot.errors import NoTestCommand
from forge_bot.gate import Ground, Refused, Role, parse, speech
from forge_bot.gate.commands import Mistyped
from tests.bot import scene

COMMANDS = Commands()
LINKS = scene.LINKS


def gate() -> OpenGate:
    open_ = scene.design_waits().state.gate
    assert open_ is not None
    return open_


def decision() -> Decision:
    return scene.done().state.decisions[0]


def said_at_the_gate() -> list[str]:
    """What the gate answers by itself, before anything is installed."""
    role = Refused(Ground.ROLE, "@mallory has the role read; write is needed", "mallory")
    unverified = Refused(Ground.UNVERIFIED, "the role of @ann could not be found out: GitHub answered 500", "ann")
    edited = Refused(Ground.EDITED, "the comment was edited, so it is not clear who wrote what; write it anew")
    mistyped = tuple(each for each in parse("/aprove\n/approve", "/forge", bare=True) if isinstance(each, Mistyped))
    return [
        speech.beginning(LINKS.job, 42),
        *(speech.refusal(each, Role.WRITE, "/forge") for each in (role, unverified, edited)),
        speech.correction(mistyped, "/forge", 900001, others=True),
        speech.stranded(LINKS.job, "/forge"),
    ]


def every_reply() -> list[Reply]:
    waits, works = scene.design_waits(), scene.at_work()
    return [
        replies.no_run(COMMANDS, label="forge"),
        replies.already_running(works),
        replies.ended_already(scene.done()),
        replies.nothing_to_answer(works, answer="approve"),
        replies.stale_approval(waits, gate(), given="0badcafe"),
        replies.already_answered(works, decision()),
        replies.not_offered(waits, gate(), answer="done"),
        replies.notes_missing(COMMANDS),
        replies.asked_for_help(waits, COMMANDS),
        replies.asked_for_status(works),
        replies.asked_for_cost(works),
        replies.resumed(works, by="ann"),
        replies.cannot(COMMANDS, said="The request has not changed.", advice="Edit the issue first."),
        replies.answered("Because `rota` counts days from the first."),
        replies.fixing(works, checks=["test", "lint"], round_=1, most=2),
        replies.no_fix(scene.delivered(), checks=["deploy: cancelled"]),
        replies.pull_request_by_hand(works, url="https://github.com/octo/rota/compare/main...x", said="not allowed"),
        replies.used_up(COMMANDS),
        failures.key_missing(LINKS, COMMANDS, secret="ANTHROPIC_API_KEY"),
        failures.key_refused(LINKS, COMMANDS, provider="Anthropic", secret="ANTHROPIC_API_KEY"),
        failures.rate_limited(COMMANDS, provider="Anthropic", until="in 14 minutes"),
        failures.credit_used_up(COMMANDS, provider="Anthropic"),
        failures.model_down(COMMANDS, provider="The model", said="The provider of `anthropic:x` failed, after 5 attempts: overloaded"),
        failures.not_taken(LINKS, COMMANDS, what="the comment with the question", said="Validation Failed: body is too long"),
        failures.github_limited(COMMANDS, seconds=3000),
        failures.branch_protected(LINKS, COMMANDS, branch="feature/42-rota-next", said="GH013: Repository rule violations found"),
        failures.may_not_push(LINKS, COMMANDS, said="Permission to octo/rota.git denied to github-actions[bot]"),
        failures.workflow_files(LINKS, COMMANDS, files=(".github/workflows/ci.yml",), patch="held-1.patch"),
        failures.checks_wait(pull_request="https://github.com/lighthouse/rota/pull/57"),
        failures.comment_deleted(what="the comment with my progress"),
        failures.issue_locked(LINKS),
        failures.issue_transferred(LINKS, to="https://github.com/lighthouse/duty/issues/7"),
        failures.issue_gone(LINKS),
        failures.label_removed(COMMANDS, label="forge"),
        failures.repository_renamed(COMMANDS, old="lighthouse/rota", new="lighthouse/duty"),
        failures.request_edited(LINKS, COMMANDS, comments=[f"{LINKS.repository}/issues/42#issuecomment-900001"]),
        failures.edited_since(command="/refresh"),
        failures.label_ignored(COMMANDS, labels=[("forge:auto", "mallory"), ("forge:S", "")], role="write"),
        failures.asked_too_much(COMMANDS, notes=["The task asks for workflow files (.github/workflows/ci.yml)."]),
        failures.workflow_push_refused(
            LINKS, COMMANDS, said="refusing to allow a GitHub App to update workflow `.github/workflows/ci.yml`"
        ),
        failures.cancelled(COMMANDS),
        failures.no_sandbox(LINKS, COMMANDS),
        failures.failed(NoTestCommand("No way to test this repository was found."), LINKS, COMMANDS),
        failures.unexpected(LINKS, COMMANDS),
    ]
