"""What a guide asks of every change is said with what the change has of it, where that is certain."""

import pytest

from forge_bot.interaction.house_demands import house_demands, refusals_of_ai

PATHS = ("CHANGELOG.md", "CONTRIBUTING.md", "docs/CHANGES.rst", "pyproject.toml")
TOWNCRIER = '[tool.towncrier]\ndirectory = "changelog.d"\n'


@pytest.mark.parametrize(
    ("guide", "toml", "changed", "signed", "asked"),
    [
        ("Run the tests.", "", [], False, []),
        ("Sign your commits off (`git commit --signoff`).", "", [], False, ["sign off: no"]),
        ("By the Developer Certificate of Origin …", "", [], True, ["sign off: yes"]),
        ("Add an entry to the changelog.", "", [], False, ["CHANGELOG.md: no"]),
        ("Add an entry to HISTORY.md.", "", [], False, ["CHANGELOG.md: no"]),
        ("Add docs and tests for your changes. Untested ones wait.", "", [], False, []),
        ("Add an entry to the changelog.", "", ["CHANGELOG.md"], False, ["CHANGELOG.md: yes"]),
        ("Do not update the changelog; releases do.", "", [], False, []),
        ("Never add to CHANGES.rst by hand.", "", [], False, []),
        ("", TOWNCRIER, ["a.py"], False, ["changelog.d/: no"]),
        (
            "Add to the changelog.",
            TOWNCRIER,
            ["changelog.d/7.fix.md"],
            False,
            ["changelog.d/: yes"],
        ),
        ("", '[tool.towncrier]\npackage = "rota"\n', [], False, ["rota/newsfragments/: no"]),
        ("", "[tool.towncrier", [], False, []),
    ],
)
def test_a_demand_is_met_or_named(
    guide: str, toml: str, changed: list[str], signed: bool, asked: list[str]
) -> None:
    texts = {"CONTRIBUTING.md": guide, "pyproject.toml": toml}
    demands = house_demands(texts, PATHS, changed, signed=signed)
    short = [
        f"{'sign off' if 'Signed-off-by' in one.asked else one.asked.split('`')[-2]}: "
        + ("yes" if one.met else "no")
        for one in demands
    ]
    assert short == asked
    assert all(("**" in one.outcome) is not one.met for one in demands)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (
            "- [ ] Tests.\n   - [ ] I ensured that this PR is\n not entirely written by an AI model.\n",
            "I ensured that this PR is not entirely written by an AI model.",
        ),
        ("Thanks! We do not accept AI-generated code. Bye.", "We do not accept AI-generated code."),
        ("<!-- LLM output is not allowed. -->", "LLM output is not allowed."),
        ("No AI-generated code, please.", "No AI-generated code, please."),
        ("- [ ] No AI tools were used\n- [ ] AI tools were used", ""),
        ("Do not submit AI output that you do not understand.", ""),
        ("If you use AI, disclose it. Do not submit without tests.", ""),
    ],
)
def test_plain_words_against_changes_by_ai_are_quoted(text: str, refused: str) -> None:
    said = refusals_of_ai({"CONTRIBUTING.md": text})
    assert said == ((f"CONTRIBUTING.md says: “{refused}”",) if refused else ())
