"""Issues in scripts that are not Latin: the bot knows its own comments again."""

import pytest

from forge_bot.bot.comments.checkpoint_comment import checkpoint
from tests.bot import scene
from tests.bot.reading import elements

TITLES = {
    "Hindi": "शिफ्ट से पहले के दिन",
    "Arabic": "الأمر يسمي شخصًا قبل بداية المناوبة",
    "Japanese": "最初の日より前は誰も当番ではない 🐛",
}


@pytest.mark.parametrize("language", TITLES)
def test_a_title_from_right_to_left_does_not_turn_the_line_below_it(language: str) -> None:
    view = scene.budget_used_up()
    view = view.replace(state=view.state.replace(title=TITLES[language]))
    (title,) = [
        "".join(each.itertext())
        for each in elements(checkpoint(view), "p")
        if TITLES[language] in "".join(each.itertext())
    ]
    assert ("The next question" in title) == (language != "Arabic")
