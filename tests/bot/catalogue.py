"""One example of every sentence in the catalogue."""

from forge_bot.bot.comments import command_replies, failure_replies, thread_change_replies
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.engine.state import Decision, OpenGate
from forge_bot.errors import NoTestCommand, PermissionMissing, ReportRejected
from forge_bot.gate import messages
from forge_bot.gate.authorise import Denied, DenyReason
from forge_bot.gate.parse_comment import parse_comment
from forge_bot.gate.roles import Role
from forge_bot.gate.written_command import Mistyped
from forge_bot.interaction.command_names import CommandNames
from forge_bot.runs.steps.finding_issues import IssueResult
from tests.bot import scene

COMMANDS = CommandNames()
LINKS = scene.LINKS


def gate() -> OpenGate:
    open_ = scene.design_waits().state.gate
    assert open_ is not None
    return open_


def decision() -> Decision:
    return scene.done().state.decisions[0]


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
    mistyped = tuple(
        each
        for each in parse_comment("/approve? no, wait\n/status").said
        if isinstance(each, Mistyped)
    )
    return [
        messages.beginning(LINKS.job, 42),
        *(
            messages.refusal(each, Role.WRITE, "/forge", run_url=LINKS.job, comment=comment)
            for each in (role, unverified, edited)
            for comment in (900001, None)
            if comment or each is not edited
        ),
        messages.correction(mistyped, "/forge", 900001, others=True),
        messages.stranded(LINKS.job, "/forge"),
    ]


def every_reply() -> list[CommentReply]:
    waits, works = scene.design_waits(), scene.at_work()
    return [
        command_replies.no_run(COMMANDS, label="forge"),
        command_replies.branch_gone(COMMANDS, tracking=f"{LINKS.question}"),
        command_replies.no_budget(works),
        command_replies.already_running(works),
        command_replies.ended_already(scene.done()),
        command_replies.nothing_to_answer(works, answer="approve"),
        command_replies.stale_approval(waits, gate(), given="0badcafe"),
        command_replies.already_answered(works, decision()),
        command_replies.not_offered(waits, gate(), answer="done"),
        command_replies.notes_missing(COMMANDS),
        *(
            each
            for each in (
                command_replies.taken(
                    COMMANDS, line="/approve", words="2a with it should be `sch`", unread=True
                ),
            )
            if each is not None
        ),
        command_replies.asked_for_help(waits, COMMANDS),
        command_replies.asked_for_status(works),
        command_replies.asked_for_cost(works),
        command_replies.resumed(works, by="ann"),
        command_replies.cannot(
            COMMANDS, ReportRejected("The request has not changed.", hint="Edit the issue first.")
        ),
        command_replies.answered("Because `rota` counts days from the first.", "why not zero?"),
        command_replies.fixing(works, checks=["test", "lint"], round_=1, most=2),
        command_replies.updated(works, base="main", conflicts=["rota/cli.py"]),
        command_replies.up_to_date(works, base="main"),
        command_replies.no_fix(
            scene.delivered(),
            checks=["deploy: cancelled"],
            pull_request="https://github.com/lighthouse/rota/pull/57",
        ),
        command_replies.pull_request_by_hand(
            works,
            PermissionMissing("Actions may not open pull requests.", hint="Allow it."),
            url="https://github.com/octo/rota/compare/main...x",
        ),
        command_replies.issues_opened(
            [
                IssueResult(
                    number=43,
                    url="https://github.com/lighthouse/rota/issues/43",
                    title="SCAN-001: rota/broken.py",
                    opened=True,
                ),
                IssueResult(
                    number=17,
                    url="https://github.com/lighthouse/rota/issues/17",
                    title="SCAN-002: 9 findings",
                    opened=False,
                ),
            ]
        ),
        command_replies.issues_by_hand(works, said="Issues are disabled for this repo"),
        command_replies.pull_request_over(scene.delivered(), merged=True),
        command_replies.people_in_conflict(
            scene.delivered(),
            files=[f"rota/file{number}.py" for number in range(7)],
            aside="fix/42-names-2",
        ),
        command_replies.used_up(COMMANDS),
        failure_replies.key_missing(LINKS, COMMANDS, secret="ANTHROPIC_API_KEY"),
        failure_replies.key_refused(
            LINKS, COMMANDS, provider="Anthropic", secret="ANTHROPIC_API_KEY"
        ),
        failure_replies.rate_limited(COMMANDS, provider="Anthropic", until="in 14 minutes"),
        failure_replies.batch_under_way(
            COMMANDS,
            said=(
                "A question waits in the batch msgbatch_01 of anthropic:claude-sonnet-5-5 since"
                " 2026-09-01 08:15 UTC."
            ),
        ),
        failure_replies.credit_used_up(COMMANDS, provider="Anthropic"),
        failure_replies.model_down(
            COMMANDS,
            provider="The model",
            said="The provider of `anthropic:x` failed, after 5 attempts: overloaded",
        ),
        failure_replies.not_taken(
            LINKS,
            COMMANDS,
            what="the comment with the question",
            said="Validation Failed: body is too long",
        ),
        failure_replies.archived(LINKS, COMMANDS),
        failure_replies.git_down(
            COMMANDS, occasion="git-006", said="The requested URL returned error: 502"
        ),
        failure_replies.github_limited(COMMANDS, seconds=3000),
        failure_replies.branch_protected(
            LINKS,
            COMMANDS,
            branch="feature/42-rota-next",
            said="GH013: Repository rule violations found",
        ),
        failure_replies.may_not_push(
            LINKS, COMMANDS, said="Permission to octo/rota.git denied to github-actions[bot]"
        ),
        failure_replies.workflow_files(
            LINKS,
            COMMANDS,
            files=(".github/workflows/ci.yml",),
            patch="held-1.patch",
            branch="feat/42-rota-next",
        ),
        failure_replies.checks_wait(pull_request="https://github.com/lighthouse/rota/pull/57"),
        failure_replies.record_not_kept(
            LINKS,
            run="20260102-42-rota-next",
            branch="feature/42-rota-next",
            said="GH013: Repository rule violations found",
        ),
        thread_change_replies.issue_locked(LINKS),
        thread_change_replies.issue_transferred(
            LINKS, to="https://github.com/lighthouse/duty/issues/7"
        ),
        thread_change_replies.issue_gone(LINKS),
        thread_change_replies.label_removed(COMMANDS, label="forge"),
        thread_change_replies.issue_closed(COMMANDS, why="not_planned", answer="/approve"),
        thread_change_replies.closed_and_asked(COMMANDS, by="ann"),
        thread_change_replies.base_is_gone(old="main", new="trunk"),
        failure_replies.workflow_push_refused(
            LINKS,
            COMMANDS,
            said="refusing to allow a GitHub App to update workflow `.github/workflows/ci.yml`",
        ),
        failure_replies.cancelled(COMMANDS),
        failure_replies.no_sandbox(LINKS, COMMANDS),
        failure_replies.failed(
            NoTestCommand("No way to test this repository was found."), LINKS, COMMANDS
        ),
        failure_replies.unexpected(LINKS, COMMANDS),
    ]
