"""Is this machine, this repository and this model ready for a run? Each finding with the exact next step."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Literal

from forge_bot.agent.model_answers import AnswerKind
from forge_bot.agent.models.base import ChatMessage, MessageRole, Model, ModelCall, ReplayKey
from forge_bot.errors import ForgeError
from forge_bot.git import Repository
from forge_bot.runs.checks.check import PreflightFinding, Weight
from forge_bot.runs.checks.clone_checks import PreflightRequest, preflight
from forge_bot.runs.project import profile_at
from forge_bot.runs.session import prompts_for
from forge_bot.sandbox import BackendName, available, cannot_judge
from forge_bot.settings import Config, load_pipeline
from forge_bot.settings.load_pipeline import PIPELINES, load_descriptor
from forge_bot.values import Frozen, Tier

_FEW_TOKENS = 16
_QUESTION = "Say yes."
_STATES: Mapping[Weight, Literal["good", "poor", "bad"]] = {"refuse": "bad", "warn": "poor", "note": "good"}


class Check(Frozen):
    """One thing that was looked at."""

    what: str
    state: Literal["good", "poor", "bad"]
    found: str
    next_step: str = ""


def check_readiness(repository: Repository, config: Config, models: Callable[[], Mapping[Tier, Model]], *, ask: bool) -> tuple[Check, ...]:
    """Look at everything a run needs. With `ask`, each model is asked one short question, which costs a few tokens."""
    pipelines = _pipelines(repository, config)
    return (*_git(repository), *_repository(repository, config), *pipelines, _sandbox(config), *_models(models, ask=ask))


def _git(repository: Repository) -> list[Check]:
    try:
        head = repository.head()
    except ForgeError as error:
        return [Check(what="git", state="bad", found=error.message, next_step=error.advice)]
    checks = [Check(what="git", state="good", found=f"on {head.branch} at {head.commit[:12]}")]
    if repository.identity() is None:
        step = 'git config --global user.name "Your Name" && git config --global user.email you@example.com'
        checks.append(Check(what="git identity", state="poor", found="commits will be forge-bot's own", next_step=step))
    else:
        checks.append(Check(what="git identity", state="good", found=repository.identity() or ""))
    return checks


def _repository(repository: Repository, config: Config) -> list[Check]:
    """The commands that were found, and what a run would be told or refused for before it begins."""
    try:
        profile = profile_at(repository, repository.head().commit, config)
        found = preflight(repository, config, profile, PreflightRequest())
    except ForgeError as error:
        return [Check(what="commands", state="bad", found=_told(error), next_step=error.advice)]
    tests = [Check(what="tests", state="good", found=" ".join(command.argv)) for command in profile.commands.test]
    return [*tests, *(_checked(finding) for finding in found.findings)]


def _pipelines(repository: Repository, config: Config) -> list[Check]:
    """Load the pipeline and the prompts of a run, and every pipeline of the repository's own. Each problem has its line."""
    own = {path.stem for path in (repository.root / PIPELINES).glob("*.yaml")} - {config.pipeline}
    return [_run_pipeline(repository, config.pipeline), *(_other_pipeline(repository, name) for name in sorted(own))]


def _run_pipeline(repository: Repository, name: str) -> Check:
    try:
        pipeline = load_pipeline(name, repository.text_here)
        prompts_for(repository.root, pipeline)
    except ForgeError as error:
        return Check(what=f"pipeline {name}", state="bad", found=_told(error), next_step=error.advice)
    return Check(what=f"pipeline {name}", state="good", found=f"{len(pipeline.phases)} phases")


def _other_pipeline(repository: Repository, name: str) -> Check:
    try:
        load_descriptor(name, repository.text_here)
    except ForgeError as error:
        return Check(what=f"pipeline {name}", state="poor", found=f"{_told(error)} No run uses it now.", next_step=error.advice)
    return Check(what=f"pipeline {name}", state="good", found="can be read; no run uses it now")


def _told(error: ForgeError) -> str:
    """Return the message of an error with its details, which name the places."""
    return " ".join((error.message, *(f"{detail};" for detail in error.details))).removesuffix(";")


def _checked(finding: PreflightFinding) -> Check:
    return Check(what=finding.what, state=_STATES[finding.weight], found=finding.sentence, next_step=finding.way_out)


def _sandbox(config: Config) -> Check:
    if config.sandbox == "off":
        step = "remove `sandbox: off` from .forge/config.yml"
        return Check(what="sandbox", state="poor", found="switched off by the configuration", next_step=step)
    backends = dict(available())
    wanted = [BackendName(config.sandbox)] if config.sandbox != "auto" else [BackendName.BUBBLEWRAP, BackendName.LANDLOCK]
    working = [name for name in wanted if backends.get(name) == ""]
    if working and (lacking := cannot_judge(working[0])):
        why = backends[BackendName.BUBBLEWRAP]
        step = f"make bubblewrap work ({why})" if why else "remove `sandbox: landlock` from .forge/config.yml: bubblewrap works here"
        return Check(what="sandbox", state="poor", found=f"{working[0].value}, which cannot judge {lacking}", next_step=step)
    if working:
        return Check(what="sandbox", state="good", found=working[0].value)
    reasons = "; ".join(f"{name.value}: {backends.get(name, 'unknown')}" for name in wanted)
    return Check(
        what="sandbox", state="bad", found=reasons, next_step="see docs/sandbox.md; unprivileged user namespaces are the usual cause"
    )


def _models(models: Callable[[], Mapping[Tier, Model]], *, ask: bool) -> list[Check]:
    try:
        opened = models()
    except ForgeError as error:
        return [Check(what="model", state="bad", found=error.message, next_step=error.advice)]
    distinct = {model.name: model for model in opened.values()}
    if not ask:
        return [Check(what=f"model {name}", state="good", found="ready to be asked; --ask tries it") for name in distinct]
    return [_asked(model) for model in distinct.values()]


def _asked(model: Model) -> Check:
    call = ModelCall(
        key=ReplayKey("doctor", "doctor", "1.1", AnswerKind.DOCUMENT.value),
        messages=(ChatMessage(role=MessageRole.SYSTEM, text="You are being tried."), ChatMessage(role=MessageRole.USER, text=_QUESTION)),
        kind=AnswerKind.DOCUMENT,
        output_tokens=_FEW_TOKENS,
        tier=Tier.FAST,
    )
    try:
        reply = asyncio.run(model.ask(call))
    except ForgeError as error:
        return Check(what=f"model {model.name}", state="bad", found=error.message, next_step=error.advice)
    used = reply.usage.input_tokens + reply.usage.output_tokens
    return Check(what=f"model {model.name}", state="good", found=f"answers ({used} tokens)")
