"""The facts beside the documents of a question: the commands that ran, the cost, the task a
person has to do.
"""

from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction.check_table import commands, outputs, reasons
from forge_bot.interaction.fit_comment import LinesPart, Part
from forge_bot.interaction.number_format import money, tokens_of_cap
from forge_bot.prompts import escape
from forge_bot.sentences import say


def evidence(view: RunView, gate: OpenGate) -> list[Part]:
    """The parts that this question needs; none for most."""
    match gate.reason:
        case Reason.VERIFICATION_RED if view.state.verification is not None:
            results = view.state.verification.results
            more = tuple(
                reason for reason in view.state.verification.reasons if reason not in gate.subject
            )
            return [commands(results, view.state.baseline), reasons(more), *outputs(results)]
        case Reason.SETUP_FAILED:
            return [commands(view.state.baseline, ()), *outputs(view.state.baseline)]
        case Reason.BASELINE:
            return [commands(view.state.baseline, ())] if view.state.baseline else []
        case Reason.BUDGET:
            return [_money(view)]
        case None if gate.task is not None:
            return [_criteria(view, gate)]
        case _:
            return []


def _money(view: RunView) -> str:
    budget = view.state.budget
    spent = money(budget.spent)
    if budget.cap is not None:
        spent += say("checkpoint.spent_of_cap", cap=money(budget.cap))
    if budget.token_cap is not None:
        spent += say("checkpoint.spent_and_tokens", tokens=tokens_of_cap(budget))
    return say("checkpoint.spent", spent=spent, count=view.state.usage.calls)


def _criteria(view: RunView, gate: OpenGate) -> LinesPart:
    task = view.state.task(gate.task) if gate.task is not None else None
    criteria = task.spec.acceptance if task is not None else ()
    return LinesPart(
        [f"- [ ] {escape.line(each)}" for each in criteria],
        "checkpoint.and_more",
        before=f"**{say('checkpoint.done_when')}**\n\n",
        most=6_000,
    )
