"""`run_control` past an open question: a person decides, through the client where it can ask, else
at a terminal.
"""

import shlex
from typing import Literal, NamedTuple

from pydantic import JsonValue

from forge_bot.errors import PersonDecides
from forge_bot.mcp_server.ui_component import UIComponent
from forge_bot.runs.question import Choice
from forge_bot.runs.run import Run
from forge_bot.sentences import say
from forge_bot.values import PhaseId

Operation = Literal["abandon", "retry", "update"]


class Wanted(NamedTuple):
    """The operation that a client wants for a run."""

    operation: Operation
    phase: str = ""
    notes: str = ""


class PastQuestion(NamedTuple):
    """The question before a run is ended or sent back past the question `action_id`."""

    action_id: str
    digest: str
    message: str
    options: tuple[str, ...]
    refusal: PersonDecides
    component: dict[str, JsonValue]


def past_question(run: Run, wanted: Wanted, target: PhaseId, folder: str) -> PastQuestion:
    """Return the question about `wanted`, and the refusal if a client cannot ask its person."""
    gate, state = run.action, run.state
    name = state.gate.name if state.gate is not None else state.current_phase
    does = (
        say("client.control_confirmation.ends_the_run")
        if wanted.operation == "abandon"
        else say("client.control_confirmation.sends_back", target=target)
    )
    where = ("--run", run.name, "--repo", folder)
    typed = shlex.join(
        ["forge-bot", wanted.operation, *where, *([target] if wanted.operation == "retry" else [])]
    )
    stays = say("client.control_confirmation.question_stays_open")
    message = say(
        "client.control_confirmation.model_wants_to",
        title=state.title,
        run=run.name,
        gate=name,
        does=does,
        operation=wanted.operation,
        stays=stays,
    )
    if wanted.notes.strip():
        notes = say("client.control_confirmation.notes_for_it", notes=wanted.notes)
        message = f"{message}\n\n{notes}"
    return PastQuestion(
        component=_component(
            {"run": run.name, "gate": name, "notes": wanted.notes},
            Choice(answer=wanted.operation, effect=does),
            Choice(answer="decline", effect=stays),
        ),
        action_id=gate.action_id,
        digest=state.gate.digest if state.gate is not None else "",
        message=message,
        options=(wanted.operation,),
        refusal=PersonDecides(
            say(
                "client.control_confirmation.question_is_open", name=run.name, gate=name, does=does
            ),
            hint=say("client.control_confirmation.show_the_question", typed=typed),
        ),
    )


def _component(data: dict[str, JsonValue], *choices: Choice) -> dict[str, JsonValue]:
    """Return the question as clients that draw it get it."""
    title = say("client.control_confirmation.title")
    return UIComponent(kind="confirmation", title=title, data=data, actions=choices).shown
