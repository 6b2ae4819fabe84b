"""The list of checks, in the order of their results, and the one function that runs it."""

from forge_bot.errors import ForgeError
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks import (
    clone_checks,
    configuration_checks,
    github_checks,
    machine_checks,
    request_checks,
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
    Check("git identity", _DOCTOR, clone_checks.identity, reads_commit=True),
    Check("commands", _DOCTOR, configuration_checks.test_commands, reads_commit=True),
    Check("branch", _ANY, clone_checks.branch),
    Check("operation", _RUN, clone_checks.operation, reads_commit=True),
    Check("operation in the run's tree", Occasion.BEFORE_GOING_ON, clone_checks.operation_in_run),
    Check("sparse checkout", _RUN, request_checks.sparse_checkout, reads_commit=True),
    Check("submodules", _RUN, request_checks.submodules, reads_commit=True),
    Check("Git LFS", _RUN, request_checks.git_lfs, reads_commit=True),
    Check("workflow files", _RUN, request_checks.workflow_files),
    Check("tests and programs", _RUN, configuration_checks.programs, reads_commit=True),
    Check("setup", _RUN, machine_checks.setup_network, reads_commit=True),
    Check("setup credentials", _RUN, configuration_checks.setup_credentials),
    Check("signing", _RUN | Occasion.BEFORE_GOING_ON, configuration_checks.signing),
    Check("disk space", _RUN | Occasion.BEFORE_GOING_ON, machine_checks.disk_space),
    Check("clock", _RUN, machine_checks.clock, reads_commit=True),
    Check("services", _RUN, machine_checks.services, reads_commit=True),
    Check("ignored", _RUN, configuration_checks.ignored, reads_commit=True),
    Check("rules", _RUN, configuration_checks.rules, reads_commit=True),
    Check("manifest", _RUN, configuration_checks.manifest, reads_commit=True),
    Check("run", _RUN, request_checks.named_runs),
    Check("history", _RUN, clone_checks.history, reads_commit=True),
    # Where git-lfs is required and missing, `git status` fails too.
    Check("uncommitted", _RUN, clone_checks.uncommitted, reads_commit=True, if_clear=True),
    Check("pipelines", _DOCTOR, configuration_checks.pipelines),
    Check("tools and skills", _DOCTOR, configuration_checks.capabilities),
    Check("sandbox", _DOCTOR, machine_checks.sandbox),
    Check("model", _DOCTOR, machine_checks.models),
    Check("gh", _DOCTOR, machine_checks.gh),
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
        if check.if_clear and any(result.weight == "refuse" for result in results):
            continue
        try:
            results.extend(check.look(subject))
        except ForgeError as error:
            if occasion is not Occasion.DOCTOR:
                raise
            unread = unread or check.reads_commit
            results.append(refuse(check.name, in_one_line(error), advice_at_terminal(error)))
    return CheckReport(results=tuple(results))
