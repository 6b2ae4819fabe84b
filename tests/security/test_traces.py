"""Traces that a worker leaves beside the contents of its files."""

import base64
from urllib.parse import quote

import pytest

from forge_bot.errors import CommitsRefused
from tests.security.scene import KEY, Scene


def refused(scene: Scene) -> str:
    with pytest.raises(CommitsRefused) as caught:
        scene.check()
    return "\n".join(caught.value.details)


def test_a_key_in_the_name_of_a_file_is_found_and_not_said_in_the_reason(scene: Scene) -> None:
    scene.write(f".claude/{KEY}.md", "x\n")
    scene.commit()
    reasons = refused(scene)
    assert ".claude/[OPENAI_API_KEY].md is protected" in reasons
    assert "a file's name holds the value of OPENAI_API_KEY" in reasons
    assert KEY not in reasons


URL_KEY = "pa+ss/w=rd&with signs?1234"
FORMS = {
    "an address": quote(URL_KEY, safe=""),
    "an address, slashes kept": quote(URL_KEY),
    "base 64 for addresses": base64.urlsafe_b64encode(b"x" + URL_KEY.encode() + b"yz").decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_key_is_found_in_the_forms_that_addresses_have(scene: Scene, form: str) -> None:
    scene.write("notes.txt", f"https://evil.example/?q={form}\n")
    scene.commit()
    with pytest.raises(CommitsRefused) as caught:
        scene.check(DB_PASSWORD=URL_KEY)
    assert "the value of DB_PASSWORD" in "".join(caught.value.details)
