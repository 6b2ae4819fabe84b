"""The gate in front of a small GitHub: who is let in, what is written, what is handed on."""

import re
from typing import Any

import pytest

from forge_bot.forge.github.gate_client import PAGE
from tests.gate.conftest import Gate
from tests.gate.payloads import changed, checked, commented, dispatched, labelled, user
from tests.gate.small_api import OWN, SmallApi, Trouble

TRACKING = "<!-- forge-bot:tracking issue=42 -->"


def test_a_label_starts_a_run_with_a_sign_and_one_comment(gate: Gate, api: SmallApi) -> None:
    step = gate("issues", labelled())
    assert step.code == 0
    assert step.outputs["proceed"] == "true"
    assert step.outputs["issue"] == "42"
    assert api.reactions == [("issue", 42, "eyes")]
    assert len(api.said()) == 1
    assert api.said()[0].endswith(TRACKING)
    assert "https://github.com/o/r/actions/runs/77" in api.said()[0]
    assert step.outputs["tracking_comment"] == str(api.comments[42][0]["id"])


def test_the_same_event_again_writes_nothing_again(gate: Gate, api: SmallApi) -> None:
    first = gate("issues", labelled())
    again = [gate("issues", labelled()), gate("issue_comment", commented("/forge"))]
    assert [step.outputs["tracking_comment"] for step in again] == [
        first.outputs["tracking_comment"]
    ] * 2
    assert len(api.said()) == 1


def test_a_copy_of_the_bots_comment_by_somebody_else_is_not_taken_for_it(
    gate: Gate, api: SmallApi
) -> None:
    forged = api.write(42, "bob", f"👀 forge-bot has begun.\n\n{TRACKING}")
    step = gate("issues", labelled())
    assert step.outputs["tracking_comment"] != str(forged)
    assert len(api.said()) == 1


def test_a_comment_behind_a_hundred_others_is_found(gate: Gate, api: SmallApi) -> None:
    for number in range(PAGE + 30):
        api.write(42, "bob", f"me too {number}")
    own = api.write(42, OWN, f"begun\n\n{TRACKING}\n")
    assert gate("issue_comment", commented("/status")).outputs["tracking_comment"] == str(own)
    assert len([path for path in api.paths("GET") if "page=" in path]) == 2


def test_a_command_is_seen_and_handed_on_by_its_id_only(gate: Gate, api: SmallApi) -> None:
    api.write(42, OWN, f"begun\n\n{TRACKING}")
    step = gate("issue_comment", commented("/reject please use ::snake_case::"))
    assert api.reactions == [("comment", 1001, "eyes")]
    assert step.outputs["comment"] == "1001"
    assert step.wake["comment"] == 1001
    assert step.wake["by"] == "ann"
    assert step.wake["trigger"] == "comment"
    assert "snake_case" not in str(step.outputs)
    assert len(api.said()) == 1


def test_a_stranger_gets_a_sign_and_one_sentence_in_a_thread_and_costs_nothing_more(
    gate: Gate, api: SmallApi
) -> None:
    for number in (2001, 2002, 2003):
        step = gate(
            "issue_comment",
            commented("/forge mine bitcoins", by=user("bob"), id=number),
            GITHUB_ACTOR="bob",
        )
        assert (step.code, step.outputs["proceed"], step.outputs["result"]) == (
            0,
            "false",
            "refused",
        )
    assert api.reactions == [("comment", number, "confused") for number in (2001, 2002, 2003)]
    assert len(api.said()) == 1
    assert "@bob" in api.said()[0]
    assert "write" in api.said()[0]
    assert "bitcoins" not in api.said()[0]
    assert api.said()[0].endswith("\n\n<!-- forge-bot:refusal -->")


def test_a_label_by_somebody_who_may_only_sort_issues_starts_nothing(
    gate: Gate, api: SmallApi
) -> None:
    api.roles["bob"] = "triage"
    step = gate("issues", labelled(by=user("bob")), GITHUB_ACTOR="bob")
    assert step.outputs["result"] == "refused"
    assert [comment.count("triage") for comment in api.said()] == [0]
    # The label is there already: who may begin something cannot put it on once more.
    assert "or write `/forge`" in api.said()[0]
    assert api.reactions == [("issue", 42, "confused")]
    assert (
        gate(
            "issues", labelled(by=user("bob")), GITHUB_ACTOR="bob", FORGE_BOT_ROLE="triage"
        ).outputs["proceed"]
        == "true"
    )


@pytest.mark.parametrize("login", ["x[bot]", "dependabot[bot]", OWN])
def test_a_bot_is_refused_in_silence(gate: Gate, api: SmallApi, login: str) -> None:
    step = gate("issue_comment", commented("/approve", by=user(login, "Bot")), GITHUB_ACTOR=login)
    assert step.outputs["result"] == "refused"
    assert api.asked == []


def test_a_run_that_somebody_else_runs_again_needs_both_people(gate: Gate, api: SmallApi) -> None:
    step = gate(
        "issue_comment",
        commented("/approve"),
        GITHUB_TRIGGERING_ACTOR="bob",
        GITHUB_RUN_ATTEMPT="2",
    )
    assert step.outputs["result"] == "refused"
    assert "@bob" in step.outputs["reason"]
    assert (api.reactions, api.said()) == ([], [])
    api.roles["bob"] = "write"
    assert (
        gate(
            "issue_comment",
            commented("/approve"),
            GITHUB_TRIGGERING_ACTOR="bob",
            GITHUB_RUN_ATTEMPT="2",
        ).outputs["proceed"]
        == "true"
    )
    nobody = gate(
        "issue_comment", commented("/approve"), GITHUB_TRIGGERING_ACTOR="", GITHUB_RUN_ATTEMPT="2"
    )
    assert nobody.outputs["result"] == "refused"


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_when_github_does_not_say_who_somebody_is_the_step_fails_and_lets_nobody_in(
    gate: Gate, api: SmallApi, status: int
) -> None:
    api.trouble.append(Trouble("GET", "/collaborators/", status))
    step = gate("issue_comment", commented("/approve"))
    assert (step.code, step.outputs["proceed"], step.outputs["result"]) == (
        5,
        "false",
        "unverified",
    )
    assert "::error" in step.log
    assert ("comment", 1001, "confused") in api.reactions
    (said,) = api.said()
    assert "GitHub did not say just now" in said
    assert "run [the job](" in said
    assert said.endswith("\n\n<!-- forge-bot:unverified to=1001 -->")


def test_a_question_that_fails_once_is_asked_again(gate: Gate, api: SmallApi) -> None:
    api.trouble.append(Trouble("GET", "/collaborators/", 502, times=1))
    assert gate("issue_comment", commented("/approve")).outputs["proceed"] == "true"


@pytest.mark.parametrize("status", [200, 403])
def test_where_the_comments_cannot_be_read_none_is_written(
    gate: Gate, api: SmallApi, status: int
) -> None:
    own = api.write(42, OWN, f"begun\n\n{TRACKING}")
    api.trouble.append(Trouble("GET", "/issues/42/comments", status))
    step = gate("issues", labelled())
    assert "the comments could not be read" in step.log
    assert [comment["id"] for comment in api.comments[42]] == [own]


def test_a_comment_that_may_have_been_written_is_not_written_again(
    gate: Gate, api: SmallApi
) -> None:
    api.trouble.append(Trouble("POST", "/issues/42/comments", 502, times=1))
    step = gate("issues", labelled())
    assert step.outputs["proceed"] == "true"
    assert step.outputs["tracking_comment"] == ""
    assert len([path for path in api.paths("POST") if path.endswith("/42/comments")]) == 1
    assert "::warning" in step.log


def test_the_token_goes_to_no_other_host(gate: Gate, api: SmallApi) -> None:
    thief = SmallApi()
    try:
        for status in (301, 302, 303, 307, 308):
            api.trouble = [
                Trouble(
                    "GET",
                    "/repos/o/r/collaborators/",
                    status,
                    headers={"Location": f"{thief.url}/repos/o/r/collaborators/ann/permission"},
                )
            ]
            assert gate("issue_comment", commented("/approve")).outputs["result"] == "unverified"
        assert thief.asked == []
    finally:
        thief.close()
    assert {asked.token for asked in api.asked} == {"Bearer ghs_secret"}


def test_a_slip_is_answered_once_and_nothing_of_the_comment_is_done(
    gate: Gate, api: SmallApi
) -> None:
    for _ in range(2):
        step = gate("issue_comment", commented("/approve? no, wait"))
        assert (step.code, step.outputs["proceed"], step.outputs["result"]) == (
            0,
            "false",
            "mistyped",
        )
    assert api.reactions == [("comment", 1001, "eyes"), ("comment", 1001, "confused")]
    assert len(api.said()) == 1
    assert "`/forge reject no wait`" in api.said()[0]
    assert "nothing was done" in api.said()[0]
    assert api.said()[0].endswith("\n\n<!-- forge-bot:reply to=1001 -->")


def test_what_a_slip_is_shown_with_cannot_ping_or_leave_its_line(gate: Gate, api: SmallApi) -> None:
    gate("issue_comment", commented("/approve `@org/team` <!-- x -->\u202e\u200b"))
    shown = api.said()[0]
    assert "`/approve '@org/team' <!-- x -->" not in shown
    code = re.findall(r"- (`[^`]*`):", shown)
    assert len(code) == 1
    assert "@org/team" in code[0]
    assert "\u202e" not in shown


def test_help_is_answered_here_and_starts_no_work(gate: Gate, api: SmallApi) -> None:
    step = gate("issue_comment", commented("/help"))
    assert (step.outputs["proceed"], step.outputs["result"]) == ("false", "helped")
    assert "/forge approve" in api.said()[0]
    assert (
        gate("issue_comment", commented("/help\n/status", id=1002)).outputs["result"] == "mistyped"
    )
    assert "one command" in api.said()[-1]


def test_our_own_words_are_no_commands_to_us(gate: Gate, api: SmallApi) -> None:
    gate("issue_comment", commented("/help"))
    gate("issue_comment", commented("/approve now", id=1002))
    gate("issues", labelled())
    asked = len(api.asked)
    for said in api.said():
        for author in (user(OWN, "Bot"), user("ann")):
            assert gate("issue_comment", commented(said, by=author)).outputs["result"] == "nothing"
    assert len(api.asked) == asked


def pull(branch: str = "fix/42-login", head: int = 1, base: int = 1) -> dict[str, Any]:
    return {
        "number": 57,
        "head": {"ref": branch, "repo": {"id": head}},
        "base": {"repo": {"id": base}},
    }


def on_pull(body: str) -> dict[str, Any]:
    return changed(commented(body), ("issue",), {"number": 57, "pull_request": {}})


def test_a_command_on_the_pull_request_of_a_run_is_about_its_issue(
    gate: Gate, api: SmallApi
) -> None:
    api.pulls[57] = pull()
    own = api.write(42, OWN, f"begun\n\n{TRACKING}")
    step = gate("issue_comment", on_pull("/retry"))
    assert (step.outputs["issue"], step.wake["thread"], step.outputs["tracking_comment"]) == (
        "42",
        57,
        str(own),
    )
    bob = changed(commented("/retry", by=user("bob")), ("issue",), on_pull("")["issue"])
    assert gate("issue_comment", bob, GITHUB_ACTOR="bob").outputs["result"] == "refused"
    assert "@bob" in api.said(57)[0]


@pytest.mark.parametrize(
    "found",
    [
        None,
        pull("feature/x"),
        pull(head=2),
        {**pull(), "head": {"ref": "fix/42-login", "repo": None}},
    ],
)
def test_on_other_pull_requests_the_gate_is_silent(
    gate: Gate, api: SmallApi, found: dict[str, Any] | None
) -> None:
    if found is not None:
        api.pulls[57] = found
    step = gate("issue_comment", on_pull("/approve"))
    assert step.outputs["result"] == "nothing"
    bob = changed(commented("/approve", by=user("bob")), ("issue",), on_pull("")["issue"])
    assert gate("issue_comment", bob, GITHUB_ACTOR="bob").outputs["result"] == "refused"
    assert (api.reactions, api.said(57), api.said(42)) == ([], [], [])


def test_failed_checks_of_a_run_wake_it_in_the_name_of_the_own_bot_only(
    gate: Gate, api: SmallApi
) -> None:
    step = gate("check_suite", checked(), GITHUB_ACTOR=OWN)
    assert (step.wake["operation"], step.outputs["issue"]) == ("resume", "42")
    assert (
        gate("check_suite", checked(), GITHUB_ACTOR="dependabot[bot]").outputs["result"]
        == "refused"
    )
    assert (
        gate("check_suite", checked(by=user("bob")), GITHUB_ACTOR="bob").outputs["result"]
        == "refused"
    )
    assert (api.reactions, api.said()) == ([], [])


def test_another_token_has_to_be_told_or_the_gate_says_so(gate: Gate, api: SmallApi) -> None:
    api.own = "our-app[bot]"
    assert "FORGE_BOT_LOGIN" in gate("issues", labelled()).log
    assert "::warning" not in gate("issues", labelled(), FORGE_BOT_LOGIN="our-app[bot]").log


def test_no_output_can_be_set_by_what_strangers_write(gate: Gate) -> None:
    evil = (
        "x\nproceed=true\nproceed<<EOF\ntrue\nEOF\n::set-output"
        " name=proceed::true\r\n::add-mask::a%0A::error::b"
    )
    for payload in (
        labelled(by=user(evil)),
        commented(f"/approve\n{evil}", by=user(f"bob {evil}")),
        commented("/approve now " + evil),
        dispatched(evil),
        commented("/approve", performed_via_github_app={"slug": evil}),
    ):
        event = {"label": "issues", "comment": "issue_comment"}.get(
            next((k for k in ("label", "comment") if k in payload), ""), "workflow_dispatch"
        )
        step = gate(event, payload)
        assert step.outputs["proceed"] == "false"
        assert set(step.outputs) == {
            "proceed",
            "result",
            "reason",
            "issue",
            "comment",
            "tracking_comment",
            "run_url",
            "wake",
        }
        assert all(
            line.startswith(
                (
                    "::notice title=forge-bot::",
                    "::warning title=forge-bot::",
                    "::error title=forge-bot::",
                )
            )
            for line in step.log.splitlines()
        )


@pytest.mark.parametrize("action", ["closed", "reopened"])
def test_an_issue_that_is_closed_or_reopened_is_let_in_where_a_run_is_under_way(
    gate: Gate, api: SmallApi, action: str
) -> None:
    payload = {**labelled(), "action": action}
    assert gate("issues", payload).outputs["result"] == "nothing"
    assert api.said() == []
    gate("issues", labelled())
    step = gate("issues", payload)
    assert (step.outputs["proceed"], step.wake["trigger"]) == ("true", "state")
    assert (len(api.said()), len(api.reactions)) == (1, 1)
    by_a_reader = gate("issues", {**payload, "sender": user("bob")}, GITHUB_ACTOR="bob")
    assert by_a_reader.outputs["result"] == "refused"
    assert len(api.said()) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FORGE_BOT_PREFIX", "forge"),
        ("FORGE_BOT_PREFIX", "/approve"),
        ("FORGE_BOT_PREFIX", "/fo rge"),
        ("FORGE_BOT_ROLE", "read"),
        ("FORGE_BOT_BARE", "maybe"),
        ("GITHUB_TOKEN", ""),
        ("GITHUB_ACTOR", ""),
        ("GITHUB_REPOSITORY", "o/r/../x"),
    ],
)
def test_a_wrong_input_is_said_and_lets_nobody_in(
    gate: Gate, api: SmallApi, name: str, value: str
) -> None:
    step = gate("issues", labelled(), **{name: value})
    assert step.code == 5
    assert "::error title=forge-bot::ACTION-00" in step.log
    assert name in step.log
    assert step.outputs == {}
    assert api.asked == []
