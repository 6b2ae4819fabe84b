"""What a question rests on beside its documents: the commands that ran, the money, the task a person has to do."""

from collections.abc import Callable, Sequence

from forge_bot.bot.comments.fit_comment import Flexible, as_many
from forge_bot.bot.comments.folds import Paper, papers
from forge_bot.bot.comments.number_format import duration, head, money, row, several
from forge_bot.bot.comments.reply import alert
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.prompts import escape
from forge_bot.values import CommandResult


def evidence(view: RunView, gate: OpenGate) -> list[str | Flexible]:
    """The parts that this question needs; none for most."""
    match gate.reason:
        case Reason.VERIFICATION_RED if view.state.verification is not None:
            results = view.state.verification.results
            more = tuple(sentence for sentence in view.state.verification.reasons if sentence not in gate.subject)
            return [commands(results, view.state.baseline), reasons(more), *outputs(results)]
        case Reason.SETUP_FAILED:
            return [commands(view.state.baseline, ()), *outputs(view.state.baseline)]
        case Reason.BUDGET:
            return [_money(view)]
        case None if gate.task is not None:
            return [_criteria(view, gate)]
        case _:
            return []


def commands(results: tuple[CommandResult, ...], baseline: tuple[CommandResult, ...]) -> Flexible:
    """A table of what ran, and of how the same commands ended before the change."""
    before = {(result.name, result.argv): result for result in baseline}
    columns = ("", "Command", "Result", *(("Before the change",) if baseline else ()))

    def line(result: CommandResult) -> str:
        earlier = [_before(before.get((result.name, result.argv)))] if baseline else []
        return row(_mark(result), f"{result.name.value} {escape.code_cell(' '.join(result.argv))}", ended(result), *earlier)

    return as_many(results, line, lambda count: f"_{several(count, 'more command')} found no room here._", before=head(*columns))


def reasons(sentences: Sequence[str]) -> Flexible:
    """Why it is red, in whole sentences."""
    return as_many(sentences, lambda each: f"- {escape.line(each)}", lambda count: f"_and {several(count, 'more reason')}_", most=4_000)


def warnings(sentences: Sequence[str], quiet: Callable[[str], str]) -> Flexible:
    """A box with what to look at before anything else; `quiet` makes a sentence harmless."""
    before = alert("warning", "**Look at this first**") + "\n>\n"
    return as_many(sentences, lambda each: f"> - {quiet(each)}", lambda count: f"And {count:,} more.", before=before, most=6_000)


def outputs(results: tuple[CommandResult, ...]) -> list[Flexible]:
    """The ends of what failed commands printed, folded."""
    failed = [result for result in results if result.exit_code != 0 and result.tail.strip()]
    shown = [Paper(name=" ".join(result.argv), about="the end of its output", text=result.tail, language="text") for result in failed[:4]]
    return [papers(shown)] if shown else []


def ended(result: CommandResult) -> str:
    """How a command ended, in a cell."""
    tests = f", {several(result.tests, 'test')}" if result.tests is not None else ""
    how = "**timed out**" if result.timed_out else "green" if result.exit_code == 0 else f"**exit code {result.exit_code}**"
    failing = [name for name in result.failures if name]
    named = f": {', '.join(escape.code_cell(name, 80) for name in failing[:3])}" if failing and result.exit_code != 0 else ""
    more = f" and {len(failing) - 3:,} more" if named and len(failing) > 3 else ""  # noqa: PLR2004 - as many as are named
    return f"{how}{tests}{named}{more}, {duration(result.duration_ms)}"


def _mark(result: CommandResult) -> str:
    return "✅" if result.exit_code == 0 and not result.timed_out else "❌"


def _before(result: CommandResult | None) -> str:
    if result is None:
        return "did not run"
    tests = f", {several(result.tests, 'test')}" if result.tests is not None else ""
    return ("green" if result.exit_code == 0 else f"exit code {result.exit_code}") + tests


def _money(view: RunView) -> str:
    budget = view.state.budget
    cap = f" of {money(budget.cap)}" if budget.cap is not None else ""
    calls = several(view.state.usage.calls, "model call")
    return f"**Spent: {money(budget.spent)}{cap}**, in {calls}. The work so far is saved, and nothing of it is done twice."


def _criteria(view: RunView, gate: OpenGate) -> Flexible:
    task = view.state.task(gate.task) if gate.task is not None else None
    criteria = task.spec.acceptance if task is not None else ()
    return as_many(
        criteria,
        lambda each: f"- [ ] {escape.line(each)}",
        lambda count: f"_and {count:,} more_",
        before="**It is done when**\n\n",
        most=6_000,
    )
