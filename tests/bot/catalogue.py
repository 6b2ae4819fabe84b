"""One example of every sentence in the catalogue."""

from forge_bot.bot.speech import Commands, Reply, failures, replies
from forge_bot.engine.state import Decision, OpenGate
from forge_bot.errors import NoTestCommand
from tests.bot import scene

COMMANDS = Commands()
LINKS = scene.LINKS


def gate() -> OpenGate:
    open_ = scene.design_waits().state.gate
    assert open_ is not None
    return open_


def decision() -> Decision:
    return scene.done().state.decisions[0]


def every_reply() -> list[Reply]:
    waits, works = scene.design_waits(), scene.at_work()
    return [
        replies.refused(COMMANDS, by="mallory", role="read", needed="write"),
        replies.mistyped(COMMANDS, word="aprove", meant="approve"),
        replies.unknown(COMMANDS, word="/forge dance"),
        replies.no_run(COMMANDS, label="forge"),
        replies.already_running(works),
        replies.ended_already(scene.done()),
        replies.nothing_to_answer(works, answer="approve"),
        replies.stale_approval(waits, gate(), given="0badcafe"),
        replies.already_answered(works, decision()),
        replies.not_offered(waits, gate(), answer="done"),
        replies.notes_missing(COMMANDS),
        replies.approved_elsewhere(works, decision()),
        replies.taken(works, decision()),
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
        failures.model_down(COMMANDS, provider="Anthropic", said="529 overloaded_error"),
        failures.not_taken(LINKS, COMMANDS, what="the comment with the question", said="Validation Failed: body is too long"),
        failures.github_limited(COMMANDS, until="at 10:40 UTC"),
        failures.branch_protected(LINKS, COMMANDS, branch="feature/42-rota-next", said="GH013: Repository rule violations found"),
        failures.workflow_files(LINKS, COMMANDS, files=(".github/workflows/ci.yml",), patch="held-1.patch"),
        failures.no_pull_requests(LINKS, base="main", branch="feature/42-rota-next"),
        failures.checks_wait(pull_request="https://github.com/lighthouse/rota/pull/57"),
        failures.comment_deleted(what="the comment with my progress"),
        failures.issue_locked(LINKS),
        failures.issue_transferred(LINKS, to="https://github.com/lighthouse/duty/issues/7"),
        failures.issue_gone(LINKS),
        failures.label_removed(COMMANDS, label="forge"),
        failures.repository_renamed(COMMANDS, old="lighthouse/rota", new="lighthouse/duty"),
        failures.request_edited(LINKS, COMMANDS),
        failures.asked_too_much(COMMANDS, notes=["The task asks for workflow files (.github/workflows/ci.yml)."]),
        failures.workflow_push_refused(
            LINKS, COMMANDS, said="refusing to allow a GitHub App to update workflow `.github/workflows/ci.yml`"
        ),
        failures.cancelled(COMMANDS),
        failures.timed_out(COMMANDS, minutes=60),
        failures.no_sandbox(LINKS),
        failures.failed(NoTestCommand("No way to test this repository was found."), LINKS, COMMANDS),
        failures.unexpected(LINKS, COMMANDS),
    ]
