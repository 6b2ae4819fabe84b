"""A repository's own template is found where GitHub looks for it, and stands whole."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from forge_bot.interaction.pull_request_template import (
    Deeds,
    Description,
    fill_template,
    find_template,
)

WHY = "Nobody is on call before the start."
DEEDS = Deeds(
    assistant="forge-bot (`acme:m`)",
    tests_pass=True,
    passed=("python -m pytest", "ruff check --quiet ."),
    changed=("src/rota.py", "tests/test_rota.py", "CHANGES.rst", "docs/use.md"),
)
TEMPLATES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "templates.toml").read_text("utf-8")
)["template"]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["README.md", "src/pull_request_template.md"], ""),
        ([".github/PULL_REQUEST_TEMPLATE.md"], ".github/PULL_REQUEST_TEMPLATE.md"),
        (["pull_request_template.txt"], "pull_request_template.txt"),
        (["docs/Pull_Request_Template.md", "PULL_REQUEST_TEMPLATE"], "PULL_REQUEST_TEMPLATE"),
        ([".github/PULL_REQUEST_TEMPLATE/only.md"], ".github/PULL_REQUEST_TEMPLATE/only.md"),
        (["PULL_REQUEST_TEMPLATE/one.md", "PULL_REQUEST_TEMPLATE/two.md"], ""),
    ],
)
def test_it_is_found_in_each_place_that_github_knows(paths: list[str], found: str) -> None:
    assert find_template(paths) == found


@pytest.mark.parametrize("case", TEMPLATES, ids=[case["source"] for case in TEMPLATES])
def test_a_template_is_kept_whole_and_answered_truthfully(case: dict[str, Any]) -> None:
    text, asks = fill_template(case["text"], Description(whole=WHY), DEEDS)
    lines = [line for line in text.replace("&#8203;", "").splitlines() if line]
    ours = {WHY, "Assisted-by:", "Generated-by:"}
    bare = [line.replace(f" {DEEDS.assistant}", "").replace("[x]", "[ ]") for line in lines]
    assert [line for line in bare if line not in ours] == [
        line.replace("[x]", "[ ]")
        for line in case["text"].splitlines()
        if line and line not in case.get("replaced", [])
    ]
    assert [line for line in lines if DEEDS.assistant in line] == case.get("answered", [])
    assert [line.partition("[x] ")[2] for line in lines if "[x] " in line] == case.get("ticked", [])
    below = case.get("below", "")
    assert asks is bool(below) or case.get("in_place", False)
    assert not below or f"{below}\n\n{WHY}\n" in text
    assert text.count(WHY) == asks


def test_what_did_not_happen_is_not_ticked() -> None:
    boxes = (
        "All tests pass",
        "`ruff check` passes",
        "Tests added",
        "Updated docs",
        "Add an entry in `CHANGES.rst`",
    )
    text = "".join(f"- [ ] {box}\n" for box in boxes)
    assert "[x]" not in fill_template(text, Description(whole=WHY), Deeds())[0]


@pytest.mark.parametrize(
    "acts",
    ["Closes #7", "@lighthouse/everybody", "fixes lighthouse/rota#3", "fixes https://x.example/1"],
)
def test_words_of_a_template_close_nothing_and_call_nobody(acts: str) -> None:
    assert acts not in fill_template(f"## Notes\n\n{acts}\n", Description(whole=WHY), DEEDS)[0]


def test_headings_that_ask_for_cause_and_way_get_them_where_nothing_else_stands() -> None:
    template = (
        "### What does this change\n\nBrief summary of the changes.\n\n### What was wrong\n\n"
        "Description of the root cause of the issue.\n\n### How this fixes it\n\n<!-- In short -->\n"
        "Description of how the changes fix the issue.\n\nFixes #...\n\nCloses #X. <!-- If any -->\n\n(...)\n\n### Checklist\n\n- [ ] Read\n"
    )
    reasons = Description(whole=WHY, cause="It counts from 1.", way="- `a.py`: counts from 0")
    assert re.split(r"\n{2,}", fill_template(template, reasons, DEEDS)[0].rstrip()) == [
        "### What does this change",
        WHY,
        "### What was wrong",
        "It counts from 1.",
        "### How this fixes it",
        "- `a.py`: counts from 0",
        "<!-- In short -->\n <!-- If any -->",
        "### Checklist",
        "- [ ] Read",
    ]
    told = template.replace("Description of the root cause of the issue.", "Say it in your words.")
    kept = fill_template(told, reasons, DEEDS)[0]
    assert "Say it in your words." in kept
    assert "It counts from 1." not in kept
