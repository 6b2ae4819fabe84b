"""The reference pages are made from the help of the commands and from the configuration's schema."""

import re
import subprocess
import sys

import pytest

from tests.test_agreements import ROOT

WORDS_OF_ALL_PAGES = 22_000


def test_the_reference_pages_say_what_help_and_schema_say() -> None:
    script = ROOT / "scripts" / "reference-pages"
    compared = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr


QUESTIONS = {
    "What does it cost?": ("models.md", "What it costs"),
    "How do I limit that?": ("how-to.md", "… limit what it costs?"),
    "Which models can I use, with which key?": ("models.md", "Names and keys"),
    "Can the code stay on my machine?": ("how-to.md", "… use Ollama, or another server of my own?"),
    "Where does my data go?": ("data.md", "What the provider of the model gets"),
    "What is kept, and where?": ("data.md", "What is kept, where, for how long"),
    "How do I remove all of it?": ("data.md", "Take it away"),
    "What is a phase?": ("runs.md", "Phases"),
    "What are S, M and L?": ("runs.md", "Efforts"),
    "How do I stop it?": ("how-to.md", "… stop it, or undo it?"),
    "What if it crashes?": ("runs.md", "After a crash"),
    "Who may approve?": ("thread.md", "Who may give them"),
    "How do I set it up on GitHub?": ("github.md", "In two minutes"),
    "It took the wrong test command. What now?": ("projects.md", "When a command is wrong"),
    "What stops a misled model?": ("security.md", "The walls"),
}
"""Questions of a new user, and the heading of a page that the README links to."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_new_users_question_is_answered_two_clicks_from_the_readme(question: str) -> None:
    page, heading = QUESTIONS[question]
    assert f"(docs/{page})" in (ROOT / "README.md").read_text(encoding="utf-8")
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    assert heading in {line.lstrip("#").strip() for line in lines if line.startswith("#")}


def test_the_pages_are_few_enough_to_be_read() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    texts = (page.read_text(encoding="utf-8") for page in pages)
    # The lines of tables are no words.
    words = sum(bool(re.search(r"\w", word)) for text in texts for word in text.split())
    assert words <= WORDS_OF_ALL_PAGES
