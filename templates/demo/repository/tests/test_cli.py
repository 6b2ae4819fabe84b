import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from rota.cli import main

ROTA = "start 2026-01-05\ndays 7\nann\nbo\nchris\nswap 2026-01-14 ann\n"


class CommandLine(unittest.TestCase):
    def run_it(self, *words: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "team.rota"
            file.write_text(ROTA, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = main([words[0], str(file), *words[1:]])
        return code, out.getvalue()

    def test_who_names_the_person(self):
        self.assertEqual(self.run_it("who", "2026-01-14"), (0, "ann\n"))

    def test_week_lists_seven_days(self):
        code, out = self.run_it("week", "2026-01-12")
        self.assertEqual(code, 0)
        self.assertEqual(out.splitlines()[0], "Mon 2026-01-12  bo")
        self.assertEqual(len(out.splitlines()), 7)

    def test_a_bad_date_is_said(self):
        code, out = self.run_it("who", "tomorrow")
        self.assertEqual(code, 1)
        self.assertIn("tomorrow", out)
