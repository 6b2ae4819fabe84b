"""Issues in scripts that are not Latin: the bot knows its own comments again."""

import pytest

from forge_bot.bot.comments.checkpoint_comment import checkpoint
from tests.bot import scene
from tests.bot.reading import elements
from tests.bot.stage import Stage, heard

TITLES = {
    "Hindi": "शिफ्ट से पहले के दिन",
    "Arabic": "الأمر يسمي شخصًا قبل بداية المناوبة",
    "Japanese": "最初の日より前は誰も当番ではない 🐛",
}


@pytest.mark.parametrize(
    "language",
    [each if each == "Hindi" else pytest.param(each, marks=pytest.mark.slow) for each in TITLES],
)
def test_a_title_in_another_script_leads_to_one_question_and_one_notice(
    stage: Stage, language: str
) -> None:
    stage.hub.edit_issue(stage.issue, by="maint", title=TITLES[language], body="")
    assert stage.label("forge").code == 0
    stage.close()
    for _ in range(2):
        assert heard(stage.say("/forge status")).code == 0
    assert len(stage.said("reply occasion=issue-closed")) == 1
    assert stage.reopen().code == 0
    assert len(stage.said("checkpoint")) == 1
    assert len(stage.said("tracking")) == 1


@pytest.mark.parametrize("language", TITLES)
def test_a_title_from_right_to_left_does_not_turn_the_line_below_it(language: str) -> None:
    view = scene.design_waits()
    view = view.replace(state=view.state.replace(title=TITLES[language]))
    (title,) = [
        "".join(each.itertext())
        for each in elements(checkpoint(view), "p")
        if TITLES[language] in "".join(each.itertext())
    ]
    assert ("effort M" in title) == (language != "Arabic")
