"""The reference pages are made from the help of the commands and from the configuration's schema."""

import subprocess
import sys

from tests.test_agreements import ROOT

WORDS_OF_ALL_PAGES = 31_000


def test_the_reference_pages_say_what_help_and_schema_say() -> None:
    script = ROOT / "scripts" / "reference-pages"
    compared = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_the_pages_are_few_enough_to_be_read() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    assert words <= WORDS_OF_ALL_PAGES
