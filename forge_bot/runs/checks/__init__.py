"""The checks of `doctor`, before a run begins, and before one goes on: one list of
checks.
"""

from forge_bot.runs.checks.check import CheckReport, CheckResult, CheckSubject, Occasion, RunIntent
from forge_bot.runs.checks.check_list import run_checks

__all__ = ["CheckReport", "CheckResult", "CheckSubject", "Occasion", "RunIntent", "run_checks"]
