import unittest
from datetime import date

from rota.schedule import Schedule

TEAM = Schedule(("ann", "bo", "chris"), date(2026, 1, 5), 7, {date(2026, 1, 14): "ann"})


class OnCall(unittest.TestCase):
    def test_the_first_shift_is_the_first_persons(self):
        self.assertEqual(TEAM.on_call(date(2026, 1, 5)), "ann")
        self.assertEqual(TEAM.on_call(date(2026, 1, 11)), "ann")

    def test_shifts_go_round(self):
        self.assertEqual(TEAM.on_call(date(2026, 1, 12)), "bo")
        self.assertEqual(TEAM.on_call(date(2026, 1, 26)), "ann")

    def test_a_swap_counts_for_its_day_only(self):
        self.assertEqual(TEAM.on_call(date(2026, 1, 14)), "ann")
        self.assertEqual(TEAM.on_call(date(2026, 1, 15)), "bo")

    def test_load_counts_days(self):
        self.assertEqual(TEAM.load(date(2026, 1, 5), date(2026, 1, 18)), {"ann": 8, "bo": 6, "chris": 0})
