"""The reference pages are made from the help of the commands and from the configuration's schema."""

import re
import subprocess
import sys

from tests.test_agreements import ROOT

WORDS_OF_ALL_PAGES = 21_500


def test_the_reference_pages_say_what_help_and_schema_say() -> None:
    script = ROOT / "scripts" / "reference-pages"
    compared = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_the_pages_are_few_enough_to_be_read() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    texts = (page.read_text(encoding="utf-8") for page in pages)
    # The lines of tables are no words.
    words = sum(bool(re.search(r"\w", word)) for text in texts for word in text.split())
    assert words <= WORDS_OF_ALL_PAGES
