import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from rota.cli import main
from tests.test_cli import ROTA


class Next(unittest.TestCase):
    """What `rota next` is to do; red until somebody writes it."""

    def next_of(self, person: str, day: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "team.rota"
            file.write_text(ROTA, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = main(["next", str(file), person, day])
        return code, out.getvalue()

    def test_it_prints_the_first_day_on_call(self):
        self.assertEqual(self.next_of("bo", "2026-01-14"), (0, "Thu 2026-01-15\n"))

    def test_a_day_that_was_swapped_to_somebody_counts(self):
        self.assertEqual(self.next_of("ann", "2026-01-12"), (0, "Wed 2026-01-14\n"))

    def test_a_stranger_is_told(self):
        code, out = self.next_of("zoe", "2026-01-14")
        self.assertEqual(code, 1)
        self.assertIn("zoe", out)
