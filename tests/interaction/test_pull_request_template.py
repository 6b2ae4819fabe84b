"""A repository's own template is found where GitHub looks for it, filled, and otherwise kept."""

import pytest

from forge_bot.artifacts.change_name import ChangeType
from forge_bot.interaction.pull_request_template import Filled, fill_template, find_template

TEMPLATE = """<!-- Thank you! -->
## Description
<!-- What and why -->
Describe your change here.

Fixes # (issue)

**Type of change**

- [ ] Bug fix (non-breaking)
- [ ] New feature

## How has this been tested?

## Checklist:
- [ ] I have read CONTRIBUTING
- [ ] Tests are added

```
## Description
```
"""
PARTS = {"why": "Nobody is on call before the start.", "tests": "- `pytest`: green", "issue": ""}


@pytest.mark.parametrize(
    ("paths", "kind", "found"),
    [
        (["README.md", "src/pull_request_template.md"], "fix", ""),
        ([".github/PULL_REQUEST_TEMPLATE.md"], "fix", ".github/PULL_REQUEST_TEMPLATE.md"),
        (["pull_request_template.txt"], "fix", "pull_request_template.txt"),
        (["PULL_REQUEST_TEMPLATE"], "fix", "PULL_REQUEST_TEMPLATE"),
        (["docs/Pull_Request_Template.md"], "fix", "docs/Pull_Request_Template.md"),
        (
            ["docs/pull_request_template.md", "pull_request_template.md"],
            "fix",
            "pull_request_template.md",
        ),
        ([".github/PULL_REQUEST_TEMPLATE/only.md"], "fix", ".github/PULL_REQUEST_TEMPLATE/only.md"),
        (
            ["docs/PULL_REQUEST_TEMPLATE/bug.md", "docs/PULL_REQUEST_TEMPLATE/feature.md"],
            "feat",
            "docs/PULL_REQUEST_TEMPLATE/feature.md",
        ),
        (["PULL_REQUEST_TEMPLATE/one.md", "PULL_REQUEST_TEMPLATE/two.md"], "fix", ""),
    ],
)
def test_it_is_found_in_each_place_that_github_knows(
    paths: list[str], kind: str, found: str
) -> None:
    assert find_template(paths, ChangeType(kind)) == found


def test_sections_that_ask_for_what_is_known_are_filled_and_all_else_stays() -> None:
    filled = fill_template(TEMPLATE, PARTS, ChangeType.FIX)
    lines = [line for line in filled.text.splitlines() if line.strip()]
    assert filled.taken == {"why", "tests"}
    assert lines[:5] == [
        "## Description",
        "Nobody is on call before the start.",
        "**Type of change**",
        "- [x] Bug fix (non-breaking)",
        "- [ ] New feature",
    ]
    assert lines[5:7] == ["## How has this been tested?", "- `pytest`: green"]
    assert lines[7:10] == [
        "## Checklist:",
        "- [ ] I have read CONTRIBUTING",
        "- [ ] Tests are added",
    ]
    assert "<!--" not in filled.text


def test_problem_and_solution_are_filled_and_a_heading_with_only_a_comment_goes() -> None:
    template = (
        "## Problem\n<!-- What? -->\n## Solution\n## Notes\n### Deployed by\n\nMe\n## Log\n<!-- -->"
    )
    parts = {**PARTS, "problem": "Nobody is on call."}
    filled = fill_template(template, parts, ChangeType.FIX)
    assert filled.taken == {"problem", "why"}
    assert filled.text == (
        "## Problem\n\nNobody is on call.\n\n## Solution\n\nNobody is on call before the start.\n\n"
        "## Notes\n\n### Deployed by\n\nMe"
    )


def test_of_a_template_with_nothing_but_comments_for_authors_nothing_is_left() -> None:
    template = "<!--\nOpen a ticket first.\n-->\n\n<!--\nfixes #<issue number>\n-->\n"
    assert fill_template(template, PARTS, ChangeType.FIX) == Filled()


def test_what_a_heading_does_not_ask_for_is_left_to_the_rest_of_the_text() -> None:
    filled = fill_template("## Rollout\n\nSay who deploys.\n", PARTS, ChangeType.FIX)
    assert (filled.text, filled.taken) == ("## Rollout\n\nSay who deploys.", frozenset())


@pytest.mark.parametrize("acts", ["Closes #7", "@lighthouse/everybody", "fixes lighthouse/rota#3"])
def test_words_of_a_template_close_nothing_and_call_nobody(acts: str) -> None:
    text = fill_template(f"## Notes\n\n{acts}\n", PARTS, ChangeType.FIX).text
    assert acts not in text
