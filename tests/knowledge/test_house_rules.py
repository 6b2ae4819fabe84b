"""The rules of a repository for changes, as every agent is shown them."""

import pytest

from forge_bot.knowledge.house_rules import HouseRule, house_rules, newest_entries
from forge_bot.project.file_list import Listing

LOG = "# Changelog\n\nAll of it is here.\n\n## Unreleased\n\n- new\n\n## 1.0\n\n- old\n"
ONE = "- one of many\n"
MANY = ONE * 100


def rules(files: dict[str, str]) -> dict[str, HouseRule]:
    return {rule.path: rule for rule in house_rules(Listing(list(files), files.get))}


def test_instructions_for_agents_come_first_then_guides_then_the_changelog() -> None:
    found = rules(
        {
            "CHANGELOG.md": LOG,
            ".github/CONTRIBUTING.md": "<!-- hidden -->Sign off each commit.",
            "AGENTS.md": "Be brief.",
            "README.md": "A project.",
        }
    )
    assert [*found] == ["AGENTS.md", ".github/CONTRIBUTING.md", "CHANGELOG.md"]
    assert found[".github/CONTRIBUTING.md"].text == "Sign off each commit.\n"


def test_a_file_that_is_a_copy_or_only_names_another_is_shown_once() -> None:
    files = {"AGENTS.md": "Be brief.", "CLAUDE.md": "@AGENTS.md", "GEMINI.md": "Be brief."}
    assert [*rules(files)] == ["AGENTS.md"]
    page = "History\n=======\n\n.. include:: ../HISTORY.rst\n"
    assert [*rules({"docs/changelog.rst": page, "HISTORY.rst": LOG})] == ["HISTORY.rst"]


def test_however_much_there_is_whole_lines_within_a_fixed_length_are_shown() -> None:
    long = "\n".join(f"Rule number {number} of this project." for number in range(2_000))
    found = rules({"AGENTS.md": long, "CLAUDE.md": f"{long}\nThe end.", "CHANGELOG.md": LOG})
    assert sum(len(rule.text) for rule in found.values()) <= 3_200
    assert found["AGENTS.md"].part == "the beginning"
    assert found["AGENTS.md"].text.endswith("of this project.\n")
    assert "- new" in found["CHANGELOG.md"].text


def test_of_a_guide_for_people_nothing_is_shown_on_how_things_are_run_built_or_released() -> None:
    guide = """Testing
=======

Run the tests before you begin, and make sure the tests pass:

    make test  # all tests

To build the documentation, install what it needs.

1. Fork it
2. Add tests for new code.

```
pip install -e .[docs]
```

Release process
===============

Each release has a commit message with its issues.
"""
    shown = rules({"CONTRIBUTING.rst": guide})["CONTRIBUTING.rst"].text
    assert shown == "2. Add tests for new code.\n"
    assert not rules({"CONTRIBUTING.rst": guide.replace("Add tests for new code.", "Push.")})
    many = "Each change has a test and an entry in the changelog.\n\n" * 40
    assert len(rules({"CONTRIBUTING.md": many})["CONTRIBUTING.md"].text) <= 500


def test_of_a_long_guide_for_people_the_paragraphs_with_rules_for_a_change_are_shown() -> None:
    idle = "Thank you for the time that you give to this project, and welcome.\n\n" * 40
    rule = "Each change needs tests, a docstring and an entry in the changelog."
    release = "# Releasing\n\nList what changed in the changelog, and run all tests.\n"
    guide = f"{idle}{rule}\n\n{idle}{release}"
    assert rules({"CONTRIBUTING.md": guide})["CONTRIBUTING.md"].text.strip() == rule
    assert "CONTRIBUTING.md" not in rules({"CONTRIBUTING.md": idle})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LOG, LOG),
        (
            f"{LOG[:11]}{'Words of it. ' * 9}\n\n## 2.0\n\n* new\n",
            "[… lines 1-2 are not shown here …]\n## 2.0\n\n* new\n",
        ),
        (
            f"## Unreleased\n\n- {'a long entry ' * 40}\n- another\n",
            f"## Unreleased\n\n- {'a long entry ' * 40}\n[… lines 4-4 are not shown here …]\n",
        ),
        ("- first\n", "- first\n"),
        (
            "# Notes\n\n## Upgrading\n\nBy these words:\n\n```\npip install 2.0\n```\n\n* [who](x)\n\n## 2.0\n\n* new\n",
            "[… lines 1-12 are not shown here …]\n## 2.0\n\n* new\n",
        ),
        (
            f"## Unreleased\n\n### Added\n\n{MANY}  - part\n\n### Fixed\n\n- mended\n\n## 1.0\n",
            (f"## Unreleased\n\n### Added\n\n{ONE * 18}[… lines 23-111 are not shown here …]\n"),
        ),
    ],
)
def test_of_a_changelog_the_newest_section_is_shown_and_each_cut_is_marked(
    text: str, shown: str
) -> None:
    assert newest_entries("CHANGES.md", text, 280).text == shown


def test_a_changelog_that_begins_with_a_release_is_told_so() -> None:
    text = f"# Log\n\n## [2.1.0] - 2024-03-01\n\n{MANY}"
    assert newest_entries("CHANGES.md", text, 700).part.endswith("the top section is a release")
    assert newest_entries("CHANGES.md", LOG + MANY, 700).part == "newest entries"


def test_news_fragments_are_told_with_an_example_and_the_changelog_is_not() -> None:
    found = rules(
        {"newsfragments/12.feature.rst": "It can fly.", "CHANGES.rst": LOG, "news/index.html": ""}
    )
    assert [*found] == ["newsfragments/"]
    assert "newsfragments/12.feature.rst:\nIt can fly." in found["newsfragments/"].text
