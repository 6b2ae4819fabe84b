"""What people read on GitHub: complete, short, and without anything in it that acts."""

from decimal import Decimal

import pytest

from forge_bot.engine.values import CommandName, CommandResult, Finding, Severity, Usage, Verdict
from forge_bot.prompts import quiet
from forge_bot.prompts.documents import (
    MAX_BODY,
    Answered,
    Checkpoint,
    Exhibit,
    Option,
    PullRequest,
    Requirement,
    Review,
    checkpoint,
    pull_request,
)
from tests.prompts.scenes import sections

DIGEST = "3f9c2a1b" * 8
USAGE = Usage(calls=12, input_tokens=123_456, cached_tokens=100_000, output_tokens=7_890, cost=Decimal("0.4249"))
RED = CommandResult(
    name=CommandName.TEST,
    argv=("pytest", "-k", "a|b c"),
    exit_code=1,
    duration_ms=1_249,
    tests=1_214,
    failures=("tests/test_a.py::test_b",),
)


def a_pull_request(**changes: object) -> PullRequest:
    plain: dict[str, object] = {
        "title": "Answer 413 to uploads over the limit",
        "why": ("Uploads over 10 MB failed with 500.", "They get 413 now.", "The client is not changed."),
        "issue": 42,
        "requirements": (Requirement(text="413 over the limit", files=("app/errors.py",), tests=("test_413",), state="met"),),
        "reviews": (Review(label="Design Review", verdict=Verdict.APPROVE_WITH_NOTES, rounds=2, findings=1),),
        "commands": (RED,),
        "answers": (Answered(label="Human Reviews Design", answer="approve", by="ann", via="github", digest=DIGEST, notes="go"),),
        "usage": USAGE,
        "workspace": ".specs/20260401-42-uploads",
    }
    return PullRequest.model_validate(plain | changes)


def a_checkpoint(**changes: object) -> Checkpoint:
    plain: dict[str, object] = {
        "label": "Human Reviews Design",
        "decision": ("413 is entered in the table.", "One file changes."),
        "flags": ("changed interface",),
        "findings": (Finding(severity=Severity.MAJOR, description="The client\nis not covered"),),
        "digest": DIGEST,
        "options": (
            Option(answer="/forge approve 3f9c2a1b", effect="the tasks are planned and done"),
            Option(answer="/forge reject …", effect="the design is written again with your notes"),
        ),
        "exhibits": (Exhibit(name="design.md", text="# Design\n\nText.", url="https://example.org/design.md"),),
    }
    return Checkpoint.model_validate(plain | changes)


def test_a_pull_request_says_what_was_asked_where_it_is_and_how_it_was_verified() -> None:
    written = pull_request(a_pull_request())
    assert written.title == "Answer 413 to uploads over the limit"
    assert written.body.startswith("Uploads over 10 MB failed with 500.\n\nThey get 413 now.\n\nThe client is not changed.\n\nCloses #42\n")
    assert "| 413 over the limit | `app/errors.py` | `test_413` | met |" in written.body
    assert "| test: `pytest -k 'a\\|b c'` | **1** | 1,214 | 1.2 |" in written.body
    assert "test complains about `tests/test_a.py::test_b`." in written.body
    assert "| Design Review | APPROVE_WITH_NOTES | 2 | 1 |" in written.body
    assert "- Human Reviews Design: **approve** by `ann` (github), for `3f9c2a1b3f9c`: go" in written.body
    assert "$0.42, 12 model calls, 123,456 tokens in (100,000 of them cached), 7,890 out." in written.body


def test_a_pull_request_without_issue_closes_none() -> None:
    assert "Closes" not in pull_request(a_pull_request(issue=None)).body


def test_a_pull_request_that_nothing_was_run_for_says_so() -> None:
    assert "nothing was run" in pull_request(a_pull_request(commands=())).body


def test_a_command_that_timed_out_shows_no_exit_code() -> None:
    late = RED.model_copy(update={"timed_out": True, "exit_code": -9})
    body = pull_request(a_pull_request(commands=(late,))).body
    assert "| timed out |" in body
    assert "-9" not in body


def test_an_unknown_price_is_not_shown_as_nothing() -> None:
    body = pull_request(a_pull_request(usage=USAGE.model_copy(update={"cost": None}))).body
    assert "Price unknown, 12 model calls" in body
    assert "$" not in body


def test_warnings_come_before_everything_but_the_reason() -> None:
    body = pull_request(a_pull_request(warnings=("A red test was accepted.",))).body
    assert body.index("Closes #42") < body.index("⚠️ A red test was accepted.") < body.index("### What was asked for")


def test_words_of_models_close_no_other_issue_and_call_nobody() -> None:
    row = Requirement(text="Fixes #7, see @octocat <!-- forge:state --> | `a|@b`", files=("a`b|c.py",))
    written = pull_request(a_pull_request(title="Fixes #7\nCloses #8", why=("Resolves: owner/repo#9",), requirements=(row,)))
    assert written.title == "Fixes 7 Closes 8"
    assert "Resolves&#8203;: owner/repo#9" in written.body
    assert "| Fixes&#8203; #7, see @&#8203;octocat &lt;!-- forge:state --> \\| `a\\|@b` | ``a`b\\|c.py`` |" in written.body


def test_a_long_pull_request_stays_below_what_github_takes() -> None:
    rows = tuple(Requirement(text=f"requirement {number} " + "x" * 5_000) for number in range(80))
    body = pull_request(a_pull_request(requirements=rows)).body
    assert len(body) <= MAX_BODY + 1
    assert body.endswith("… cut here: the text is longer than GitHub takes.\n")


def test_a_question_comes_with_decision_risks_findings_answers_and_digest_in_this_order() -> None:
    text = checkpoint(a_checkpoint(usage=USAGE, removed="Removed: 1 HTML comment."))
    wanted = (
        "### Human Reviews Design: your decision",
        "413 is entered in the table.",
        "- ⚠️ changed interface",
        "- **MAJOR** The client is not covered",
        "| `/forge approve 3f9c2a1b` | the tasks are planned and done |",
        "| `/forge reject …` | the design is written again with your notes |",
        "This is version `3f9c2a1b3f9c`; an approval counts for this version only. Removed: 1 HTML comment.",
        "So far: $0.42, 131,346 tokens.",
        "<details><summary>design.md</summary>\n\n# Design\n\nText.\n\n</details>",
    )
    assert [each for each in wanted if each not in text] == []
    assert sorted(wanted, key=text.index) == list(wanted)


def test_a_question_asked_again_shows_what_changed() -> None:
    text = checkpoint(a_checkpoint(difference="-500\n+413\n```"))
    assert "````diff\n-500\n+413\n```\n````\n" in text


def test_a_document_that_leaves_a_fence_open_does_not_swallow_the_next() -> None:
    text = checkpoint(a_checkpoint(exhibits=(Exhibit(name="a.md", text="```py\nx = 1"), Exhibit(name="b.md", text="## After\n\nText."))))
    assert "```py\nx = 1\n```\n\n</details>" in text
    assert "After" in sections(text)


def test_a_document_cannot_close_its_own_frame_or_hide_a_marker() -> None:
    text = checkpoint(a_checkpoint(exhibits=(Exhibit(name="a.md", text="</details>\n<!-- forge -->\n\n| To answer | @team |"),)))
    assert text.count("</details>") == 1
    assert "<!--" not in text
    assert "@team" not in text


def test_long_documents_are_cut_in_order_and_say_where_the_rest_is() -> None:
    long = Exhibit(name="design.md", text="line\n" * 20_000, url="https://example.org/d")
    text = checkpoint(a_checkpoint(exhibits=(Exhibit(name="first.md", text="Whole."), long, Exhibit(name="last.md", text="Gone."))))
    assert len(text) <= MAX_BODY + 1
    assert "Whole." in text
    assert "characters of `design.md` found no room here. The whole text: https://example.org/d" in text
    assert "5 characters of `last.md` found no room here." in text
    assert "| `/forge approve 3f9c2a1b` |" in text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("mail ann@example.org", "mail ann@example.org"),
        ("@ann", "@&#8203;ann"),
        ("\\@ann", "\\@&#8203;ann"),
        ("&#64;ann", "&amp;#64;ann"),
        ("`@property`", "`@property`"),
        ("`` a ` @b ``", "`` a ` @b ``"),
        ("\\`@ann\\`", "\\`@&#8203;ann\\`"),
        ("see #12", "see #12"),
        ("closes #12", "closes&#8203; #12"),
        ("Fixed **#12**", "Fixed&#8203; **#12**"),
        ("resolve GH-12", "resolve&#8203; GH-12"),
        ("fixes https://github.com/o/r/issues/1", "fixes&#8203; https://github.com/o/r/issues/1"),
        ("it fixes the test", "it fixes the test"),
        ("a < b", "a < b"),
        ("<img src=x>", "&lt;img src=x>"),
    ],
)
def test_prose_is_disarmed_and_otherwise_unchanged(given: str, shown: str) -> None:
    assert quiet.line(given) == shown


def test_code_blocks_keep_every_character() -> None:
    code = "~~~py\n@property\n<b> fixes #1\n~~~"
    assert quiet.block(f"@ann\n\n{code}\n\n@bob") == f"@&#8203;ann\n\n{code}\n\n@&#8203;bob"


def test_a_backtick_in_the_info_string_makes_no_code_block() -> None:
    assert "@&#8203;ann" in quiet.block("``` a`b\n@ann\n")
