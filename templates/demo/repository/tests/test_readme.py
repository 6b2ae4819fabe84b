import unittest
from pathlib import Path

from rota.cli import USAGE

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


class Readme(unittest.TestCase):
    def test_every_command_has_an_example(self):
        for line in USAGE.splitlines():
            command = line.removeprefix("usage:").split()[1]
            self.assertIn(f"    python3 -m rota {command} team.rota ", README)
