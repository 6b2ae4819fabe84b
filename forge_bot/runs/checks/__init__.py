"""The list of checks that `doctor` and a run's beginning and continuation share."""

from forge_bot.runs.checks.check import CheckReport, CheckResult, CheckSubject, Occasion, RunIntent
from forge_bot.runs.checks.check_list import run_checks

__all__ = ["CheckReport", "CheckResult", "CheckSubject", "Occasion", "RunIntent", "run_checks"]
