"""What a person is shown when they are asked: what counts first, then the documents, and nothing
that hides or swallows the rest.
"""

import json
from collections.abc import Sequence

import pytest
from markdown_it import MarkdownIt

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled_rows
from tests.mcp_server.host import Host, Json, hosting
from tests.mcp_server.test_gates import Person, says

TASK = "Nobody is on call before the start"
FINDING = "It drops a table without asking"


def design(*, words: int = 1, end: str = "") -> script.Answer:
    """A design of so many words, with an end of its own."""
    text = str(
        script.document(*script.HEADINGS["architect"], body="true " * words)["artifact_markdown"]
    )
    return {"artifact_markdown": f"{text}\n{end}"}


def answers(drafted: script.Answer) -> dict[tuple[str, str, str], script.Answer]:
    noted = script.review("APPROVE_WITH_NOTES", f"[MAJOR] {FINDING}")
    return {
        **script.usual(),
        ("architect", "*", "*"): drafted,
        ("design-reviewer", "*", "*"): noted,
    }


async def to_design_gate(host: Host, drafted: script.Answer) -> Json:
    """The question on a design and its review; or what comes after it, where it is answered on the
    way.
    """
    host.answers = answers(drafted)
    await host.begin(TASK, "M")
    review = await host.drive(await host.next(), "design-reviewer")
    host.perform(review)
    return await host.next(previous_action_complete=True, action_id=review["action_id"])


async def by_hand(host: Host, end: str) -> Json:
    """The question on a design whose end somebody wrote while it waited: a model's design with
    hidden text would go back.
    """
    await to_design_gate(host, design())
    host.write("design.md", str(design(end=end)["artifact_markdown"]))
    return await host.next()


def decisions(host: Host) -> list[Json]:
    return json.loads((host.path / host.workspace / "state.json").read_text(encoding="utf-8"))[
        "decisions"
    ]


def in_order(text: str, parts: Sequence[str]) -> bool:
    places = [text.find(part) for part in parts]
    return places == sorted(places) and -1 not in places


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_form_begins_with_what_an_answer_means_and_says_where_a_document_is_cut(
    sample: Sample, mode: str
) -> None:
    person = Person(says("approve"))
    async with hosting(sample, mode=mode, elicitation_callback=person) as host:
        await to_design_gate(host, design(words=5_000, end="THE-VERY-END\n"))
        (given,) = decisions(host)
        run = host.workspace.removeprefix(".specs/")
    message: str = person.seen[0].message
    place = f"{host.workspace}/design.md"
    assert len(message) < 25_000
    assert in_order(
        message,
        [
            "## Human Reviews Design",
            FINDING,
            f"version `{given['digest'][:12]}`",
            "- `approve`: take exactly this version",
            "Not all of it is shown here",
            f"### {place}",
        ],
    )
    assert "THE-VERY-END" not in message
    assert "cut here after " in message
    assert (
        f"the whole of it is {place} in the work tree, or forge://run/{run}/artifact/design.md"
        in message
    )
    # The review is short, and stands there whole, after the document that had to be cut.
    assert message.rindex("### ") > message.index("cut here")
    assert given["via"] == "mcp-elicitation, documents cut"


@pytest.mark.slow
async def test_what_rendering_would_hide_is_shown_as_code(sample: Sample) -> None:
    async with hosting(sample) as host:
        gate = await by_hand(host, "A plan <!-- drop the users table --> that is fine.\n")
    shown = [
        token.content
        for token in MarkdownIt("commonmark").parse(gate["present_to_user"])
        if token.type == "fence"
    ]
    assert any("<!-- drop the users table -->" in text for text in shown)


@pytest.mark.parametrize(
    ("notes", "choices", "condition"),
    sampled_rows(
        [
            ("2b with 3.10, too", ["1a", "2b"], "3.10, too"),
            ("no new option\nin README", ["1a", "2a"], "no new option in README"),
        ],
        2,
    ),
)
async def test_notes_beside_an_approval_in_a_form_are_its_condition(
    sample: Sample, notes: str, choices: list[str], condition: str
) -> None:
    person = Person(says("approve", notes))
    async with hosting(sample, elicitation_callback=person) as host:
        host.answers = {**script.usual(), ("architect", "*", "*"): script.deciding_design()}
        await host.begin(TASK)
        design = await host.drive(await host.next(), "architect")
        host.perform(design)
        after = await host.next(previous_action_complete=True, action_id=design["action_id"])
        assert condition in after["warning"]
        [decision] = decisions(host)
        assert (decision["choices"], decision["condition"]) == (choices, condition)
