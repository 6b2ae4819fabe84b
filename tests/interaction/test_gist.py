"""The beginning of a long text ends where a sentence or a part of one ends."""

import pytest

from forge_bot.text_format import gist
from tests.fakes.rows import rows

ROWS = rows(__file__)


@pytest.mark.parametrize(("text", "shown"), ROWS["a_text_is_cut_where"])
def test_a_text_is_cut_where_its_sense_ends(text: str, shown: str) -> None:
    assert gist(text, 32) == shown
