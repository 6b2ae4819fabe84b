"""The rules of a repository for changes, as every agent is shown them."""

import pytest

from forge_bot.knowledge.house_rules import HouseRule, house_rules, newest_entries
from forge_bot.project.file_list import Listing

LOG = "# Changelog\n\nAll of it is here.\n\n## Unreleased\n\n- new\n\n## 1.0\n\n- old\n"


def rules(files: dict[str, str]) -> dict[str, HouseRule]:
    return {rule.path: rule for rule in house_rules(Listing(list(files), files.get))}


def test_instructions_for_agents_come_first_then_guides_then_the_changelog() -> None:
    found = rules(
        {
            "CHANGELOG.md": LOG,
            ".github/CONTRIBUTING.md": "<!-- hidden -->Run `make test`.",
            "AGENTS.md": "Be brief.",
            "README.md": "A project.",
        }
    )
    assert [*found] == ["AGENTS.md", ".github/CONTRIBUTING.md", "CHANGELOG.md"]
    assert found[".github/CONTRIBUTING.md"].text == "Run `make test`.\n"


def test_a_file_that_is_a_copy_or_only_names_another_is_shown_once() -> None:
    files = {"AGENTS.md": "Be brief.", "CLAUDE.md": "@AGENTS.md", "GEMINI.md": "Be brief."}
    assert [*rules(files)] == ["AGENTS.md"]


def test_however_much_there_is_whole_lines_within_a_fixed_length_are_shown() -> None:
    long = "\n".join(f"Rule number {number} of this project." for number in range(2_000))
    found = rules({"AGENTS.md": long, "CONTRIBUTING.md": f"{long}\nThe end.", "CHANGELOG.md": LOG})
    assert sum(len(rule.text) for rule in found.values()) <= 3_200
    assert found["AGENTS.md"].part == "the beginning"
    assert found["AGENTS.md"].text.endswith("of this project.\n")
    assert "- new" in found["CHANGELOG.md"].text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LOG, "## Unreleased\n\n- new\n\n## 1.0\n\n- old\n"),
        ("Changes\n=======\n\n2.0\n---\n\n* new\n", "2.0\n---\n\n* new\n"),
        ("- first\n", "- first\n"),
    ],
)
def test_of_a_changelog_the_newest_release_is_shown_without_the_preface(
    text: str, shown: str
) -> None:
    entries = newest_entries("CHANGES.md", text, 1_000)
    assert entries is not None
    assert entries.text == shown


def test_news_fragments_are_told_with_an_example_and_the_changelog_is_not() -> None:
    found = rules(
        {"newsfragments/12.feature.rst": "It can fly.", "CHANGES.rst": LOG, "news/index.html": ""}
    )
    assert [*found] == ["newsfragments/"]
    assert "newsfragments/12.feature.rst:\nIt can fly." in found["newsfragments/"].text
