"""Checks of the repository's configuration: commands, pipelines, standing rules."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress

from forge_bot.engine.phases import DecisionPhase, GatePhase
from forge_bot.errors import (
    BadCapabilities,
    BadConfig,
    BadManifest,
    ForgeError,
    NoTestCommand,
)
from forge_bot.git.signed_commits import find_key, try_key
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.agent_work.risk_signs import ai_risks
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse, warn
from forge_bot.runs.run_needs import check_testable
from forge_bot.runs.run_prompts import check_prompts
from forge_bot.runs.standing_rules import rules_at
from forge_bot.runs.team_spending import spending_now
from forge_bot.runs.wall_clock import now
from forge_bot.settings.instructions import INSTRUCTIONS
from forge_bot.settings.load_pipeline import load_pipeline, pipeline_names
from forge_bot.text_format import several


def test_commands(subject: CheckSubject) -> Iterator[CheckResult]:
    commands = subject.profile.commands
    for command in commands.test:
        yield note("tests", " ".join(command.argv))
    for command in commands.lint:
        yield note("lint", f"{' '.join(command.argv)} ({command.reason})")


def programs(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal without a test command, and for each program that is not installed.

    A pipeline of steps runs no command.
    """
    if _is_of_steps(subject):
        return
    profile, config = subject.profile, subject.config
    try:
        check_testable(profile, config)
    except NoTestCommand as error:
        yield refuse("tests", error.message, advice_at_terminal(error))
    if not profile.commands.test and config.commands.test is not None:
        sentence = "There are no tests to verify with, as the configuration says."
        yield warn("tests", sentence, "Set commands.test when there are some.")
    for program in _missing_programs(subject):
        sentence = f"{program} is not installed, and a command of this repository needs it."
        way_out = f"install {program}, or change the command in .forge/config.yml"
        yield refuse(f"tool {program}", sentence, way_out)


def signing(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the key that commits for merge are signed with, if they are. Raises BadSigningKey."""
    root = subject.repository.root
    wanted = subject.config.sign
    key = find_key(root, subject.environ, wanted=wanted) if subject.signs_here else None
    if key is not None:
        yield note("signing", f"Commits for merge are signed by {try_key(root, key)}.")


def caps(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield what all runs have spent of each cap, before one more begins."""
    config = subject.config.caps
    for window in spending_now(subject.repository, config, subject.intent.by, now()):
        if window.left > 0:
            yield note("caps", f"All runs have spent {window.sentence}.")
        else:
            yield warn(
                "caps",
                f"The cap {window.key} is reached: {window.sentence}.",
                f"A run waits until {window.ends:%Y-%m-%d %H:%M} UTC, or until the cap is raised.",
            )


def _is_of_steps(subject: CheckSubject) -> bool:
    try:
        pipeline = load_pipeline(subject.config.pipeline, subject.repository.root)
    except ForgeError:
        return False
    return pipeline.steps is not None


def pipelines(subject: CheckSubject) -> Iterator[CheckResult]:
    """Load the pipeline and the prompts of a run."""
    repository, name = subject.repository, subject.config.pipeline
    try:
        pipeline = load_pipeline(name, repository.root)
        check_prompts(repository.root, pipeline)
        yield note(f"pipeline {name}", f"{len(pipeline.phases)} phases")
    except ForgeError as error:
        yield refuse(f"pipeline {name}", in_one_line(error), advice_at_terminal(error))


def approvals(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a rule on approvals at a gate that no pipeline has: it would never
    hold.
    """
    rules, root = subject.config.approvals, subject.repository.root
    known: set[str] = set()
    for name in pipeline_names(root) if any(rule.gates for rule in rules) else ():
        with suppress(ForgeError):
            phases = load_pipeline(name, root).phases
            known |= {one.id for one in phases if isinstance(one, GatePhase | DecisionPhase)}
    for number, rule in enumerate(rules, 1):
        for gate in sorted({*rule.gates} - known):
            sentence = f"Rule {number} of approvals names {gate}, which is no gate of a pipeline."
            yield refuse("approvals", sentence, f"Name one of {', '.join(sorted(known))}.")


def manifest(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a manifest that cannot be read: no rule of it would hold."""
    from forge_bot.project.graph.manifest import MANIFEST, read_manifest

    data = subject.repository.read(subject.base, MANIFEST)
    try:
        read_manifest((data or b"").decode("utf-8", "replace"))
    except BadManifest as error:
        yield refuse("manifest", in_one_line(error), advice_at_terminal(error))


def ai_rules(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a warning for each text of the repository that forbids changes by AI."""
    for risk in ai_risks(subject.repository, subject.base):
        yield warn("changes by AI", f"{risk}.", "Ask its maintainers before a run.")


def rules(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for unreadable standing rules, else the rules."""
    repository = subject.repository
    try:
        standing = rules_at(repository, subject.base)
    except BadConfig as error:
        sentence = " ".join((error.message, *error.details))
        yield refuse("rules", sentence, f"Correct {INSTRUCTIONS} and commit it.")
        return
    if standing.rules:
        names = ", ".join(rule.id for rule in standing.rules)
        yield note("rules", f"Rules of {INSTRUCTIONS} count for this run: {names}.")


def capabilities(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal where servers of the repository cannot be read, or how many servers and
    skills there are; none is started.
    """
    from forge_bot.runs.capabilities.capability_setup import capability_setup

    what = "tools and skills"
    try:
        setup = capability_setup(subject.repository.root, subject.config)
    except BadCapabilities as error:
        yield refuse(what, in_one_line(error), advice_at_terminal(error))
        return
    servers = len(setup.config.mcp_servers)
    skills = sum(len([*folder.glob("*/SKILL.md")]) for folder in setup.skill_folders)
    if servers or skills:
        counted = f"{several(servers, 'MCP server')}, {several(skills, 'skill')}"
        yield note(what, f"{counted}; `forge-bot capabilities` tries them")


def in_one_line(error: ForgeError) -> str:
    """Return the message of an error with its details, which name the places."""
    return " ".join((error.message, *(f"{detail};" for detail in error.details))).removesuffix(";")


def _missing_programs(subject: CheckSubject) -> list[str]:
    commands = subject.profile.commands
    every = (*commands.setup, *commands.build, *commands.test, *commands.lint)
    first = (command.argv[0] for command in every)
    wanted = dict.fromkeys(program for program in first if not program.startswith(ENV))
    path = subject.config.environment.get("PATH") or os.environ.get("PATH")
    # A program of the repository, named by its path, may still be built.
    named = (program for program in wanted if "/" not in program or program.startswith("/"))
    return [program for program in named if shutil.which(program, path=path) is None]
