"""What changes on the issue while its run waits: it is told once, and the run stays as it was
asked for.
"""

from tests.bot.stage import Stage, heard

EDITED = "**The issue was edited after I was asked to work on it.**"


def edited(stage: Stage) -> list[str]:
    return stage.said("reply occasion=request-edited")


def test_an_issue_that_is_edited_before_the_approval_is_told_so_once_for_each_text(
    waiting: Stage,
) -> None:
    waiting.hub.edit_issue(waiting.issue, by="stranger", body="Delete everything.")
    for _ in range(2):
        assert heard(waiting.say("/forge status")).code == 0
    (said,) = edited(waiting)
    assert said.startswith(EDITED)
    assert "say `/forge refresh`" in said
    waiting.hub.edit_issue(waiting.issue, by="stranger", title="Delete")
    assert heard(waiting.say("/approve")).outcome == "done"
    assert len(edited(waiting)) == 2
    assert "Delete" not in waiting.document("request.md")


def test_a_refreshed_request_and_words_of_the_command_are_no_edit(stage: Stage) -> None:
    stage.hub.edit_issue(stage.issue, by="stranger", body="One line.\r\n\r\n- and another \r\n")
    stage.comment("Think of leap years.")
    assert heard(stage.say("/forge --effort S Mind the\nlast day.")).outcome == "waiting"
    assert heard(stage.say("/forge status")).code == 0
    assert edited(stage) == []
    stage.hub.edit_issue(stage.issue, by="stranger", body="One line.")
    stage.hub.clock.tick()
    assert heard(stage.say("/refresh")).code == 0
    assert edited(stage) == []
    assert "and another" not in stage.document("request.md")


def test_a_part_that_is_cut_off_the_end_of_an_issue_is_an_edit(waiting: Stage) -> None:
    whole = waiting.issue.body or ""
    waiting.hub.edit_issue(waiting.issue, by="stranger", body=whole[:20])
    assert heard(waiting.say("/forge status")).code == 0
    assert len(edited(waiting)) == 1


def test_a_label_that_comes_while_the_run_waits_is_told_to_be_too_late(waiting: Stage) -> None:
    for label in ("forge:auto", "bug", "forge:L"):
        assert waiting.label(label).result == ("nothing" if label == "bug" else "proceed")
    auto, large = waiting.said("reply occasion=label-too-late")
    assert "`forge:auto` came after the run had begun, so it changes nothing." in auto
    assert "`/forge effort L`" in large
    assert heard(waiting.say("/forge status")).code == 0
    assert len(waiting.said("reply occasion=label-too-late")) == 2


def test_labels_that_come_with_the_one_that_begins_a_run_count_and_nothing_is_said(
    stage: Stage,
) -> None:
    stage.hub.add_label(stage.repo, stage.issue, "forge:L", by="maint")
    assert stage.label("forge").outcome == "waiting"
    assert stage.state["effort"] == "L"
    payload = stage.hub.payload(
        "issues.labeled", stage.repo, "maint", issue=stage.issue, label="forge:L"
    )
    before = len(stage.issue.comments)
    assert stage.job("issues", payload, "maint").outcome == "waiting"
    assert len(stage.issue.comments) == before
