"""A repository's own template is found where GitHub looks for it, and stands whole."""

import pytest

from forge_bot.interaction.pull_request_template import fill_description, find_template

WHY = "Nobody is on call before the start."
CHECKLIST = "## Checklist:\n\n- [ ] I have read CONTRIBUTING\n- [ ] Bug fix"


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


@pytest.mark.parametrize(
    ("template", "shown", "asks"),
    [
        (
            f"<!-- Thank you! -->\n## Description\n<!-- What? -->\n\n{CHECKLIST}\n",
            f"## Description\n\n{WHY}\n\n{CHECKLIST}",
            True,
        ),
        ("**What changed**\n\nSay it.", f"**What changed**\n\n{WHY}\n\nSay it.", True),
        (CHECKLIST, CHECKLIST, False),
        ("<!--\nOpen a ticket first.\n-->\n", "", False),
    ],
)
def test_only_its_description_is_filled(template: str, shown: str, asks: bool) -> None:
    text, asked = fill_description(template, WHY)
    assert [line for line in text.splitlines() if line] == [
        line for line in shown.splitlines() if line
    ]
    assert asked is asks


@pytest.mark.parametrize("acts", ["Closes #7", "@lighthouse/everybody", "fixes lighthouse/rota#3"])
def test_words_of_a_template_close_nothing_and_call_nobody(acts: str) -> None:
    assert acts not in fill_description(f"## Notes\n\n{acts}\n", WHY)[0]
