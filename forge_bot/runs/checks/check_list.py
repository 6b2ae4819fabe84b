"""The list of checks, in the order of their results, and the one function that runs it."""

from forge_bot.errors import ForgeError
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks import (
    clone_checks,
    configuration_checks,
    github_checks,
    machine_checks,
)
from forge_bot.runs.checks.check import (
    Check,
    CheckReport,
    CheckResult,
    CheckSubject,
    Occasion,
    refuse,
)
from forge_bot.runs.checks.configuration_checks import in_one_line

_DOCTOR = Occasion.DOCTOR
_RUN = Occasion.DOCTOR | Occasion.BEFORE_RUN
_ANY = Occasion.BEFORE_RUN | Occasion.CHANGED_PLAN | Occasion.BEFORE_GOING_ON

CHECKS = (
    Check("git", _DOCTOR, clone_checks.head, reads_commit=True),
    Check("operation", _RUN | Occasion.BEFORE_GOING_ON, clone_checks.operation),
    Check("uncommitted", _RUN, clone_checks.uncommitted),
    Check("branch", _ANY, clone_checks.branch),
    Check("tests", _DOCTOR, configuration_checks.test_commands, reads_commit=True),
    Check("tests and programs", _RUN, configuration_checks.programs, reads_commit=True),
    Check("sandbox", _DOCTOR, machine_checks.sandbox),
    Check("setup", _RUN, machine_checks.setup_network, reads_commit=True),
    Check("disk space", _RUN | Occasion.BEFORE_GOING_ON, machine_checks.disk_space),
    Check("model", _DOCTOR, machine_checks.models),
    Check("signing", _RUN | Occasion.BEFORE_GOING_ON, configuration_checks.signing),
    Check("caps", _RUN, configuration_checks.caps),
    Check("changes by AI", _RUN, configuration_checks.ai_rules, reads_commit=True),
    Check("rules", _RUN, configuration_checks.rules, reads_commit=True),
    Check("manifest", _RUN, configuration_checks.manifest, reads_commit=True),
    Check("pipelines", _DOCTOR, configuration_checks.pipelines),
    Check("approvals", _RUN, configuration_checks.approvals),
    Check("tools and skills", _DOCTOR, configuration_checks.capabilities),
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
