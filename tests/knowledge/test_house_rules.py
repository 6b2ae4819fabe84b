"""The rules of a repository for changes are found, and shown within a fixed length."""

import pytest

from forge_bot.knowledge.changelogs import HouseRule, newest_entries
from forge_bot.knowledge.house_rules import house_rules
from forge_bot.project.file_list import Listing

TOWNCRIER = '[tool.towncrier]\ndirectory = "changelog"\n'


def rules(files: dict[str, str]) -> dict[str, HouseRule]:
    return {rule.path: rule for rule in house_rules(Listing(list(files), files.get))}


def test_every_kind_of_rule_is_shown_agents_instructions_first() -> None:
    found = rules(
        {
            ".editorconfig": "[*]\nindent_style = tab\n",
            "CHANGES.rst": "Unreleased\n----------\n\n- Something.\n",
            "docs/CONTRIBUTING.rst": "Run the tests.\n",
            ".github/pull_request_template.md": "- [ ] an entry in CHANGES.rst\n",
            "AGENTS.md": "Use tabs.\n",
            "README.md": "Hello.\n",
        }
    )
    assert list(found) == [
        "AGENTS.md",
        "docs/CONTRIBUTING.rst",
        ".github/pull_request_template.md",
        "CHANGES.rst",
        ".editorconfig",
    ]
    assert found["AGENTS.md"].text == "Use tabs.\n"


def test_a_file_that_is_a_link_a_copy_or_only_names_another_is_shown_once() -> None:
    for text in ("AGENTS.md", "@AGENTS.md\n", "Use tabs.\n"):
        assert list(rules({"AGENTS.md": "Use tabs.\n", "CLAUDE.md": text})) == ["AGENTS.md"]


def test_of_a_long_guide_the_parts_on_changes_are_shown_and_the_gaps_are_said() -> None:
    talk = "We are happy that you are here. " * 20
    guide = "\n".join(
        [
            "# Contributing",
            *(f"\n## Thanks {number}\n\n{talk}" for number in range(20)),
            "\n## Code style\n\nRun `make lint`; add a test in `tests/`.\n",
            "```sh\n# no heading\nmake test\n```",
            *(f"\n## Community {number}\n\n{talk}" for number in range(20)),
        ]
    )
    found = rules({"CONTRIBUTING.md": guide})["CONTRIBUTING.md"]
    assert "Run `make lint`; add a test in `tests/`." in found.text
    assert "# no heading\nmake test" in found.text
    assert "are not shown here …]" in found.text
    assert found.part == "parts"
    assert len(found.text) <= 6_000 < len(guide)


def test_however_much_there_is_the_whole_stays_within_its_length() -> None:
    long = "\n\n".join(f"## Rule {number}\n\n`tests/` and lint." for number in range(2_000))
    names = [
        "AGENTS.md",
        "CLAUDE.md",
        "CONTRIBUTING.md",
        "HACKING.md",
        "CHANGELOG.md",
        ".editorconfig",
    ]
    found = rules({name: f"{name}\n{long}" for name in names})
    assert sum(len(rule.text) for rule in found.values()) <= 6_000
    assert "AGENTS.md" in found


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({"pyproject.toml": TOWNCRIER, "changelog/12.bugfix.rst": "Mended."}, "changelog/"),
        ({"newsfragments/12.bugfix.md": "Mended."}, "newsfragments/"),
        ({".changeset/config.json": "{}", ".changeset/calm-cat.md": "Mended."}, ".changeset/"),
        ({"pyproject.toml": "[tool.scriv]\n", "changelog.d/a.md": "Mended."}, "changelog.d/"),
        ({"releasenotes/notes/a-1.yaml": "fixes: Mended."}, "releasenotes/notes/"),
    ],
    ids=["towncrier", "by name", "changesets", "scriv", "reno"],
)
def test_news_fragments_are_told_with_an_example_and_the_changelog_is_not(
    files: dict[str, str], folder: str
) -> None:
    found = rules({**files, "CHANGELOG.md": "# 1.0\n"})
    assert list(found) == [folder]
    assert "Mended." in found[folder].text
    assert f"Each change adds a file to {folder}" in found[folder].text


def test_a_folder_that_is_only_called_news_is_no_rule_and_empty_files_are_none() -> None:
    assert rules({"news/index.html": "<p>", "AGENTS.md": "\n", "CONTRIBUTING.md": ""}) == {}


def test_what_linters_read_is_shown_without_the_rest_of_its_file() -> None:
    settings = (
        '[project]\nname = "a"\nversion = "2.1.dev"\nrequires-python = ">=3.11"\n\n[tool.pytest.ini_options]\nx = 1\n\n'
        '[tool.ruff.lint]\nselect = ["B"]  # bugs\n# why\nignore = [\n    "B008",\n]\n\n[tool.mypy]\n'
    )
    found = rules({"pyproject.toml": settings, ".flake8": "[flake8]\nmax-line-length = 99\n"})
    assert found["pyproject.toml"].text == (
        'version = "2.1.dev"\nrequires-python = ">=3.11"\n'
        '[tool.ruff.lint]\nselect = ["B"]  # bugs\nignore = [\n    "B008",\n]\n'
    )
    assert found[".flake8"].part == ""
    long = "\n".join(f'    "E{number}",' for number in range(900))
    cut = rules({"ruff.toml": f"lint.ignore = [\n{long}\n]\n"})["ruff.toml"]
    assert len(cut.text) < 1_000
    assert cut.part


def test_an_example_of_a_news_fragment_keeps_its_lines() -> None:
    fragment = "---\nfixes:\n  - |\n    It works.\n"
    found = rules({"releasenotes/notes/a-1.yaml": fragment})
    assert fragment in found["releasenotes/notes/"].text


def test_of_a_changelog_each_section_of_the_newest_release_is_shown() -> None:
    def section(name: str, entries: int) -> str:
        return (
            f"### {name}\n\n" + "".join(f"- {name} {n} is done.\n" for n in range(entries)) + "\n"
        )

    newest = "".join(section(name, 60) for name in ("Added", "Changed", "Fixed"))
    text = f"# Changes\n\nAll of them.\n\n\n## Unreleased\n\n{newest}## 1.0\n\n- The first.\n"
    found = rules({"CHANGELOG.md": text})["CHANGELOG.md"]
    for name in ("Added", "Changed", "Fixed"):
        assert f"### {name}\n\n- {name} 0 is done." in found.text
    assert "The first" not in found.text
    assert "are not shown here …]" in found.text
    assert found.part == "parts of the newest entries"


def test_a_short_newest_release_of_a_changelog_is_shown_whole() -> None:
    newest = "## Unreleased\n\n### Fixed\n\n" + "".join(f"- Entry {n}.\n\n" for n in range(40))
    found = rules({"CHANGELOG.md": f"# Changes\n\n{newest}## 1.0\n\n- The first.\n"})
    assert newest.rstrip() in found["CHANGELOG.md"].text
    assert found["CHANGELOG.md"].part == "newest entries"


def test_long_rules_leave_a_short_newest_release_whole() -> None:
    newest = "## Unreleased\n\n### Fixed\n\n" + "".join(
        f"- Entry {n} is done.\n" for n in range(80)
    )
    rule = "## Code\n\n" + "- Run `ruff format` before each commit, and write a test.\n" * 40
    agents, guide, template = (
        f"# {name}\n\n" + rule.replace("ruff", name) for name in ("one", "two", "three")
    )
    found = rules(
        {
            "AGENTS.md": agents,
            "CONTRIBUTING.md": guide,
            ".github/PULL_REQUEST_TEMPLATE.md": template,
            "CHANGELOG.md": f"# Changes\n\n{newest}\n## 1.0\n\n- The first.\n",
        }
    )
    assert all(part.part == "parts" for path, part in found.items() if path != "CHANGELOG.md")
    assert newest in found["CHANGELOG.md"].text
    assert found["CHANGELOG.md"].part == "newest entries"


def test_of_a_changelog_with_long_entries_no_section_is_left_out() -> None:
    entries = "".join(f"- Entry {n}, {'which is long, ' * 8}\n  {'and ' * 40}\n" for n in range(3))
    kinds = ("Removed", "Deprecated", "Added", "Fixed")
    newest = "".join(f"### {kind}\n\n{entries}\n" for kind in kinds)
    text = f"# Changes\n\n## Unreleased\n\n{newest}## 1.0\n\n- The first.\n"
    found = rules({"CHANGELOG.md": text})["CHANGELOG.md"]
    assert all(f"### {kind}\n\n- Entry 0" in found.text for kind in kinds)
    assert len(found.text) <= 1_500


def test_the_last_entry_of_a_long_section_is_shown_since_a_new_one_may_come_behind_it() -> None:
    entries = "".join(f"-   Change {n},\n    which is done. :pr:`{n}`\n" for n in range(200))
    text = f"# Changes\n\n## 2.0\n\nUnreleased\n\n{entries}\n## 1.0\n\n- The first.\n"
    found = rules({"CHANGES.md": text})["CHANGES.md"].text
    assert "-   Change 0,\n" in found
    assert found.rstrip().partition("-   Change 199,\n")[2].startswith("    which is done.")
    assert "The first" not in found
    shown = newest_entries("CHANGES.md", text, 3_500)
    assert shown is not None
    assert "-   Change 199,\n    which is done. :pr:`199`\n" in shown.text
    assert len(shown.text) <= 3_500


def test_what_a_template_hides_in_comments_is_not_shown() -> None:
    template = "# List\n\n<!--\nThank you!\n-->\n\n- [ ] tests\n"
    found = rules({".github/PULL_REQUEST_TEMPLATE.md": template})
    (shown,) = found.values()
    assert shown.text == "# List\n\n- [ ] tests\n"
    only = "<!--\nDescribe the change.\n-->\n\n<!--\n- Add an entry in CHANGES.rst.\n-->\n"
    (shown,) = rules({".github/pull_request_template.md": only}).values()
    assert shown.text == "Describe the change.\n\n- Add an entry in CHANGES.rst.\n"
    assert not rules({"CONTRIBUTING.md": only}), "a page shows no comment to anybody"
