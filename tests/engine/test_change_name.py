"""The type and title of a change, read off its design or off its request."""

import pytest

from forge_bot.artifacts.plans import ChangeName, ChangeType, change_name, read_change_name
from tests.fakes.rows import rows

ROWS = rows(__file__)

APPROACH = "\n\n## Approach\n\nAs said.\n"


@pytest.mark.parametrize(("heading", "subject"), ROWS["the_first_heading_of_a"])
def test_the_first_heading_of_a_design_states_type_and_title(
    heading: str, subject: str | None
) -> None:
    found = read_change_name(heading + APPROACH)
    assert (found.subject if found is not None else None) == subject


@pytest.mark.parametrize("kind", ChangeType)
def test_each_conventional_type_is_read(kind: ChangeType) -> None:
    assert read_change_name(f"# {kind}: do it") == ChangeName(type=kind, title="do it")


def test_the_design_wins_over_title_labels_and_type() -> None:
    found = change_name(
        "# perf: cache the table" + APPROACH,
        title="feat: faster",
        labels=["bug"],
        issue_type="Feature",
    )
    assert found.subject == "perf: cache the table"


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("fix(auth): log out", "fix(auth): log out"),
        ("Bug: `a` and `b`", "fix: `a` and `b`"),
        ("[WIP] Crash on start", "chore: [WIP] Crash on start"),
    ],
)
def test_the_beginning_of_the_request_s_title_counts(title: str, subject: str) -> None:
    assert change_name("", title=title).subject == subject


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("bug", ChangeType.FIX),
        ("🐛 Bug", ChangeType.FIX),
        ("type: bug", ChangeType.FIX),
        ("kind/feature", ChangeType.FEAT),
        ("dependencies", ChangeType.BUILD),
        ("not a bug", ChangeType.CHORE),
        ("debug", ChangeType.CHORE),
    ],
)
def test_a_label_counts_by_its_whole_name(label: str, kind: ChangeType) -> None:
    assert change_name("", title="Sizes", labels=["help wanted", label]).type is kind
