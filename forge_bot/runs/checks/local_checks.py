"""Checks of the clone, of its configuration, of the machine and of the forge, and the list of all
checks, in the order of their results.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase

from forge_bot.agent.models.known_providers import key_name, missing_key
from forge_bot.engine.phases import DecisionPhase, GatePhase
from forge_bot.errors import (
    BadManifest,
    CannotJudge,
    ForgeError,
    NoSandbox,
    NoTestCommand,
    SetupNotWalled,
)
from forge_bot.forge import RepositoryAddress, check_repository, parse_remote
from forge_bot.git import Tree
from forge_bot.git.commits import find_key, try_key
from forge_bot.git.revisions import under_way
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.agent_work.artifact_contract import ai_risks
from forge_bot.runs.checks import CheckResult, CheckSubject, Occasion, note, refuse, warn
from forge_bot.runs.model_access import spending_now
from forge_bot.runs.models_and_prompts import prompts_for
from forge_bot.runs.project_commands.commit_profile import (
    SETUP_NOT_WALLED,
    check_testable,
    waits_for_consent,
)
from forge_bot.runs.this_process import now
from forge_bot.sandbox.backends import cannot_judge, choose, failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sentences import say
from forge_bot.settings.load_pipeline import load_pipeline, pipeline_names
from forge_bot.text_format import several
from forge_bot.values import Tier

_MEGABYTE = 1_000_000


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
    profile, config = subject.profile, subject.config
    with suppress(ForgeError):
        if load_pipeline(config.pipeline, subject.repository.root).steps is not None:
            return
    try:
        check_testable(profile, config)
    except NoTestCommand as error:
        yield refuse("tests", error.message, advice_at_terminal(error))
    if not profile.commands.test and config.commands.test is not None:
        sentence = "There are no tests to verify with, as the configuration says."
        yield warn("tests", sentence, "Set commands.test when there are some.")
    for program in _missing_programs(subject):
        sentence = f"{program} is not installed, and a command of this repository needs it."
        way_out = (
            f"install {program}, or change the command in .forge/config.yml: what setup installs is"
            f" {{env}}/bin/{program}"
        )
        yield refuse(f"tool {program}", sentence, way_out)


def signing(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the key that commits for merge are signed with, if they are. Raises BadSigningKey."""
    root = subject.repository.root
    wanted = subject.config.sign
    key = find_key(root, subject.environ, wanted=wanted) if subject.signs_here else None
    if key is not None:
        try_key(root, key)
        yield note("signing", "Commits for merge are signed.")


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


def pipelines(subject: CheckSubject) -> Iterator[CheckResult]:
    """Load the pipeline and the prompts of a run."""
    repository, name = subject.repository, subject.config.pipeline
    pipeline = load_pipeline(name, repository.root)
    prompts_for(repository.root, pipeline)
    yield note(f"pipeline {name}", f"{len(pipeline.phases)} phases")


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
    from forge_bot.project.graph.verify_graph import MANIFEST, read_manifest

    data = subject.repository.read(subject.base, MANIFEST)
    try:
        read_manifest((data or b"").decode("utf-8", "replace"))
    except BadManifest as error:
        yield refuse("manifest", in_one_line(error), advice_at_terminal(error))


def ai_rules(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a warning for each text of the repository that forbids changes by AI."""
    for risk in ai_risks(subject.repository, subject.base):
        yield warn("changes by AI", f"{risk}.", "Ask its maintainers before a run.")


def capabilities(subject: CheckSubject) -> tuple[CheckResult, ...]:
    """Read the files about servers and skills; none is started. Raises BadCapabilities."""
    from forge_bot.runs.capabilities.outside_capabilities import capability_setup

    capability_setup(subject.repository.root, subject.config)
    return ()


def in_one_line(error: ForgeError) -> str:
    """Return the message of an error with its details, which name the places."""
    return " ".join((error.message, *(f"{detail};" for detail in error.details))).removesuffix(";")


def _missing_programs(subject: CheckSubject) -> list[str]:
    commands = subject.profile.commands
    every = (*commands.setup, *commands.build, *commands.test, *commands.lint)
    path = subject.config.environment.get("PATH") or os.environ.get("PATH")
    return [
        program
        for program in dict.fromkeys(command.argv[0] for command in every)
        # A program of the repository, named by its path, may still be built.
        if not program.startswith(ENV) and ("/" not in program or program.startswith("/"))
        if shutil.which(program, path=path) is None
    ]


def head(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the branch and commit that are checked out. Raises DetachedHead or NoCommits."""
    here = subject.repository.head()
    yield note("git", f"on {here.branch} at {here.commit[:12]}")


def branch(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for the default branch and for a protected one. Case does not matter."""
    name = subject.branch
    if not name:
        return
    default, way_out = (
        subject.repository.default_branch(),
        "Choose another branch with --branch NAME.",
    )
    protecting = [
        pattern
        for pattern in subject.config.protected_branches
        if fnmatchcase(name.casefold(), pattern.casefold())
    ]
    if default is not None and name.casefold() == default.casefold():
        sentence = f"{name} is the default branch; a run works on a branch of its own."
        yield refuse("branch", sentence, way_out)
    elif protecting:
        setting = f"protected_branches in .forge/config.yml has {protecting[0]!r}"
        yield refuse("branch", f"{name} is a protected branch: {setting}.", way_out)


def operation(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for a merge, rebase or the like that is under way where the run commits."""
    tree = subject.run_tree or (subject.repository.root if subject.intent.here else None)
    if tree is None or not (tree / ".git").exists():
        return
    if (pending := under_way(tree)) is not None:
        name, way_out = pending
        sentence = f"A {name} is under way in {tree}; commits of the run would get into it."
        yield refuse(name, sentence, way_out)


def uncommitted(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a note on uncommitted changes, unless the run works where they are."""
    if subject.intent.here:
        return
    if changes := Tree(subject.repository.root).status():
        files = several(len(changes), "file")
        sentence = (
            f"Uncommitted changes in {files} are not part of the run: it begins at the last commit."
        )
        yield note("uncommitted", sentence, "Commit them first, if the run needs them.")


def disk_space(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for each folder that cannot be written, or has too little room.

    A folder that is not there yet counts as its parent.
    """
    for place in subject.written:
        folder = next(parent for parent in (place, *place.absolute().parents) if parent.is_dir())
        free, least = shutil.disk_usage(folder).free, subject.least_free
        way_out = "make room"
        if place != subject.repository.common_dir:
            way_out += ", or set XDG_STATE_HOME to a folder elsewhere"
        if not os.access(folder, os.W_OK | os.X_OK):
            yield refuse("disk", f"{folder} cannot be written.", f"let it be written; {way_out}")
        elif free < least:
            has, needs = f"{free // _MEGABYTE} MB", f"{least // _MEGABYTE} MB"
            yield refuse("disk", f"Only {has} are free for {folder}; a run needs {needs}.", way_out)
            return


def sandbox(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the sandbox that commands will run in, or why there is none."""
    chosen = subject.config.sandbox
    if chosen == "off":
        way_out = "remove `sandbox: off` from .forge/config.yml"
        yield warn("sandbox", "switched off by the configuration", way_out)
        return
    try:
        working = choose(chosen)
    except NoSandbox as error:
        way_out = "see docs/sandbox.md; unprivileged user namespaces are the usual cause"
        yield refuse("sandbox", "; ".join(error.details), way_out, NoSandbox.code)
        return
    if lacking := cannot_judge(working):
        why = failure_reason(BackendName.BUBBLEWRAP)
        way_out = f"make bubblewrap work ({why})" if why else "remove `sandbox: landlock`"
        sentence = f"{working.value}, which cannot judge {lacking}"
        yield warn("sandbox", sentence, way_out, CannotJudge.code)
    else:
        yield note("sandbox", working.value)


def setup_network(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal if setup could bypass the proxy without permission."""
    if not subject.profile.commands.setup or subject.config.sandbox == "off":
        return
    # Without a sandbox a run says so at its first command; doctor has a line of its own for it.
    with suppress(NoSandbox):
        if waits_for_consent(choose(subject.config.sandbox), subject.config):
            way_out = (
                "make bubblewrap work, or set setup_without_namespace: true in .forge/config.yml "
                "if setup may reach any address at the proxy's port"
            )
            yield refuse("setup", say(SETUP_NOT_WALLED), way_out, SetupNotWalled.code)


def models(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield each model that will be asked, and a refusal for a key that is not set."""
    for name in dict.fromkeys(subject.model_names.values()):
        if (error := missing_key(name)) is not None:
            yield refuse("model", error.message, advice_at_terminal(error), error.code)
        else:
            yield note(f"model {name}", "will be asked; a run tries its key before anything else")


def origin(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the bot's requirements, where origin is on the forge."""
    place = parse_remote(subject.repository.remote_url(), subject.environ)
    if place is not None:
        key = key_name(subject.model_names[Tier.STRONG])
        yield from check_hosted(place, subject.environ, key)


def check_hosted(
    place: RepositoryAddress, environ: Mapping[str, str], key: str = ""
) -> Iterator[CheckResult]:
    """Yield the bot's requirements of a repository; `key` is the secret of the configured model, if
    that is known.
    """
    try:
        for need in check_repository(place, environ, key):
            problem, good = need.problem, need.good
            yield warn(need.what, problem, need.step) if problem else note(need.what, good)
    except ForgeError as error:
        yield warn("GitHub", error.message, advice_at_terminal(error))


_DOCTOR = Occasion.DOCTOR
_RUN = Occasion.DOCTOR | Occasion.BEFORE_RUN
_GOING_ON = _RUN | Occasion.BEFORE_GOING_ON
_ANY = Occasion.BEFORE_RUN | Occasion.CHANGED_PLAN | Occasion.BEFORE_GOING_ON
CHECKS: tuple[tuple[str, Occasion, Callable[[CheckSubject], Iterable[CheckResult]]], ...] = (
    ("git", _DOCTOR, head),
    ("operation", _GOING_ON, operation),
    ("uncommitted", _RUN, uncommitted),
    ("branch", _ANY, branch),
    ("tests", _DOCTOR, test_commands),
    ("tests and programs", _RUN, programs),
    ("sandbox", _DOCTOR, sandbox),
    ("setup", _RUN, setup_network),
    ("disk", _GOING_ON, disk_space),
    ("model", _DOCTOR, models),
    ("signing", _GOING_ON, signing),
    ("caps", _RUN, caps),
    ("changes by AI", _RUN, ai_rules),
    ("manifest", _RUN, manifest),
    ("pipelines", _DOCTOR, pipelines),
    ("approvals", _RUN, approvals),
    ("tools and skills", _DOCTOR, capabilities),
    ("GitHub", _DOCTOR, origin),
)
"""The checks: their names, their occasions, and what yields their results."""
