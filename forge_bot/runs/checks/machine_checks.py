"""Checks of the machine: room on the disk, the sandbox, the keys of the models."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge_bot.agent.models.provider_keys import has_key
from forge_bot.errors import CannotJudge, ForgeError, NoModelKey, NoSandbox, SetupNotWalled
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, refuse, warn
from forge_bot.runs.run_needs import SETUP_NOT_WALLED, waits_for_consent
from forge_bot.sandbox.backends import cannot_judge, choose, failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sentences import say
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model

_MEGABYTE = 1_000_000
_FEW_TOKENS = 16


def disk_space(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal for each folder that cannot be written, or has too little room.

    A folder that is not there yet counts as its parent.
    """
    for place in subject.written:
        folder = next(parent for parent in (place, *place.absolute().parents) if parent.is_dir())
        moves = place != subject.repository.common_dir
        free, least = shutil.disk_usage(folder).free, subject.least_free
        if not os.access(folder, os.W_OK | os.X_OK):
            let, elsewhere = "preflight.disk.let_it_be_written", "preflight.disk.write_elsewhere"
            sentence = f"{folder} cannot be written."
            yield refuse("disk", sentence, say(elsewhere if moves else let))
        elif free < least:
            has, needs = f"{free // _MEGABYTE} MB", f"{least // _MEGABYTE} MB"
            sentence = f"Only {has} are free for {folder}; a run needs {needs}."
            room, elsewhere = "preflight.disk.make_room", "preflight.disk.make_room_or_elsewhere"
            yield refuse("disk space", sentence, say(elsewhere if moves else room))
            return


def sandbox(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the sandbox that commands will run in, or why there is none."""
    chosen = subject.config.sandbox
    if chosen == "off":
        yield warn(
            "sandbox",
            "switched off by the configuration",
            "remove `sandbox: off` from .forge/config.yml",
        )
        return
    try:
        working = choose(chosen)
    except NoSandbox as error:
        yield refuse(
            "sandbox",
            "; ".join(error.details),
            "see docs/sandbox.md; unprivileged user namespaces are the usual cause",
            NoSandbox.code,
        )
        return
    if lacking := cannot_judge(working):
        why = failure_reason(BackendName.BUBBLEWRAP)
        way_out = (
            f"make bubblewrap work ({why})"
            if why
            else "remove `sandbox: landlock` from .forge/config.yml: bubblewrap works here"
        )
        sentence = f"{working.value}, which cannot judge {lacking}"
        yield warn("sandbox", sentence, way_out, CannotJudge.code)
    else:
        yield note("sandbox", working.value)


def setup_network(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield a refusal if setup could bypass the proxy without permission, and a warning if there is
    no proxy.
    """
    if not subject.profile.commands.setup:
        return
    if subject.config.sandbox == "off":
        sentence = "Setup has this machine's network, without a proxy: `sandbox: off` says so."
        yield warn("setup", sentence, "remove `sandbox: off` from .forge/config.yml")
        return
    try:
        chosen = choose(subject.config.sandbox)
    except NoSandbox:
        # A run says it where its first command is to run; doctor has a line of its own for it.
        return
    if waits_for_consent(chosen, subject.config):
        yield refuse(
            "setup",
            say(SETUP_NOT_WALLED),
            (
                "make bubblewrap work, or set setup_without_namespace: true in "
                ".forge/config.yml if setup may reach any address at the proxy's port"
            ),
            SetupNotWalled.code,
        )


def models(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield each model that will be asked. With `ask_models` each is asked one short question."""
    if subject.models is None:
        return
    names = tuple(dict.fromkeys(subject.model_names.values()))
    if not subject.ask_models and all(map(has_key, names)):
        # To open one takes a library that takes seconds to import.
        for name in names:
            yield _ready(name)
        return
    try:
        opened = subject.models()
    except NoModelKey as error:
        yield refuse("model", error.message, advice_at_terminal(error), error.code)
        return
    for name, model in {model.name: model for model in opened.values()}.items():
        if subject.ask_models:
            yield _answer_of(model)
        else:
            yield _ready(name)


def _ready(name: str) -> CheckResult:
    return note(f"model {name}", "ready to be asked; --ask tries it")


def _answer_of(model: "Model") -> CheckResult:
    import asyncio

    from forge_bot.agent.model_answers import AnswerKind
    from forge_bot.agent.models.base import ChatMessage, MessageRole, ModelCall, ReplayKey

    call = ModelCall(
        key=ReplayKey("doctor", "doctor", "1.1", AnswerKind.DOCUMENT.value),
        messages=(
            ChatMessage(role=MessageRole.SYSTEM, text="You are being tried."),
            ChatMessage(role=MessageRole.USER, text="Say yes."),
        ),
        kind=AnswerKind.DOCUMENT,
        output_tokens=_FEW_TOKENS,
        tier=Tier.FAST,
    )
    try:
        reply = asyncio.run(model.ask(call))
    except ForgeError as error:
        return refuse(f"model {model.name}", error.message, advice_at_terminal(error))
    used = reply.usage.input_tokens + reply.usage.output_tokens
    return note(f"model {model.name}", f"answers ({used} tokens)")
