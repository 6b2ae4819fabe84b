"""The checks that `doctor` and a run's beginning and continuation share, in the order of their
results.
"""

from forge_bot.errors import ForgeError
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks import github_checks, local_checks
from forge_bot.runs.checks.check import (
    Check,
    CheckReport,
    CheckResult,
    CheckSubject,
    Occasion,
    RunIntent,
    refuse,
)
from forge_bot.runs.checks.local_checks import in_one_line

__all__ = ["CheckReport", "CheckResult", "CheckSubject", "Occasion", "RunIntent", "run_checks"]

_DOCTOR = Occasion.DOCTOR
_RUN = Occasion.DOCTOR | Occasion.BEFORE_RUN
_ANY = Occasion.BEFORE_RUN | Occasion.CHANGED_PLAN | Occasion.BEFORE_GOING_ON

CHECKS = (
    Check("git", _DOCTOR, local_checks.head, reads_commit=True),
    Check("operation", _RUN | Occasion.BEFORE_GOING_ON, local_checks.operation),
    Check("uncommitted", _RUN, local_checks.uncommitted),
    Check("branch", _ANY, local_checks.branch),
    Check("tests", _DOCTOR, local_checks.test_commands, reads_commit=True),
    Check("tests and programs", _RUN, local_checks.programs, reads_commit=True),
    Check("sandbox", _DOCTOR, local_checks.sandbox),
    Check("setup", _RUN, local_checks.setup_network, reads_commit=True),
    Check("disk space", _RUN | Occasion.BEFORE_GOING_ON, local_checks.disk_space),
    Check("model", _DOCTOR, local_checks.models),
    Check("signing", _RUN | Occasion.BEFORE_GOING_ON, local_checks.signing),
    Check("caps", _RUN, local_checks.caps),
    Check("changes by AI", _RUN, local_checks.ai_rules, reads_commit=True),
    Check("manifest", _RUN, local_checks.manifest, reads_commit=True),
    Check("pipelines", _DOCTOR, local_checks.pipelines),
    Check("approvals", _RUN, local_checks.approvals),
    Check("tools and skills", _DOCTOR, local_checks.capabilities),
    Check("GitHub", _DOCTOR, github_checks.github),
)


def run_checks(occasion: Occasion, subject: CheckSubject) -> CheckReport:
    """Run the checks of one occasion; nothing is written.

    For `doctor` a check that fails is a refusal. Otherwise raises DetachedHead, NoCommits,
    GitFailed.
    """
    results: list[CheckResult] = []
    unread = False
    for check in CHECKS:
        if occasion not in check.occasions or (unread and check.reads_commit):
            continue
        try:
            results.extend(check.look(subject))
        except ForgeError as error:
            if occasion is not Occasion.DOCTOR:
                raise
            unread = unread or check.reads_commit
            results.append(refuse(check.name, in_one_line(error), advice_at_terminal(error)))
    return CheckReport(results=tuple(results))
