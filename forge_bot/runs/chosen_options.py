"""The options that a person chose with an approval, in the words of the document shown."""

from forge_bot.artifacts.open_decisions import read_open_decisions
from forge_bot.errors import BadOption
from forge_bot.runs.run import Run
from forge_bot.sentences import say


def chosen_options(run: Run, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of each choice such as `2a`. Raises BadOption for one that the open question
    does not have.
    """
    gate = run.state.gate
    if gate is None or not choices:
        return ()
    offered = {
        f"{decision.number}{option.letter}": option.text
        for file in gate.files
        for decision in read_open_decisions(run.artifact(file.name) or "")[0]
        for option in decision.options
    }
    unknown = [choice for choice in choices if choice not in offered]
    if unknown:
        there = ", ".join(offered) or say("runs.chosen_options.none")
        raise BadOption(say("runs.chosen_options.unknown", unknown=", ".join(unknown), there=there))
    return tuple(offered[choice] for choice in choices)
