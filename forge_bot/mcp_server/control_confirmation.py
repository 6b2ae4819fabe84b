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
    """Return the question about `wanted`, and the refusal for a client that cannot ask its
    person.
    """
    gate, state = run.action, run.state
    name = state.gate.name if state.gate is not None else state.current_phase
    does = (
        "end the run; its branch stays"
        if wanted.operation == "abandon"
        else f"send the run back to {target}"
    )
    where = ("--run", run.name, "--repo", folder)
    typed = shlex.join(
        ["forge-bot", wanted.operation, *where, *([target] if wanted.operation == "retry" else [])]
    )
    notes = f"\n\nNotes for it: {wanted.notes}" if wanted.notes.strip() else ""
    data: dict[str, JsonValue] = {"run": run.name, "gate": name, "notes": wanted.notes}
    component = UIComponent(
        kind="confirmation",
        title="Past an open question",
        data=data,
        actions=(
            Choice(answer=wanted.operation, effect=does),
            Choice(answer="decline", effect="the question stays open"),
        ),
    )
    return PastQuestion(
        component=component.shown,
        action_id=gate.action_id,
        digest=state.gate.digest if state.gate is not None else "",
        message=(
            f"## {state.title}\n\nThe run {run.name} waits for an answer at {name}. The client's"
            f" model wants to {does}, without that answer.\n\n- `{wanted.operation}`: {does}\n-"
            f" decline: the question stays open{notes}"
        ),
        options=(wanted.operation,),
        refusal=PersonDecides(
            say(
                "client.control_confirmation.question_is_open",
                name=run.name,
                gate=name,
                does=does,
            ),
            hint=say("client.control_confirmation.show_the_question", typed=typed),
        ),
    )
