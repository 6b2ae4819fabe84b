"""final-verification.md: the verifier's words, and under `## Commands` what the processes really
did.
"""

from forge_bot.artifacts.markdown import without_section
from forge_bot.engine.state import State
from forge_bot.text_format import code_block, command_line, several
from forge_bot.values import CommandResult

HEADING = "Commands"


def commands_section(state: State) -> str:
    """The section that our own process writes; no model has a say in it: a table of commands and
    exit codes, the new failures, and from the output of each failed command the failures and the
    end.
    """
    verification = state.verification
    if verification is None:
        return f"## {HEADING}\n\nNothing has run yet.\n"
    verdict = "red" if verification.red else "green"
    if verification.red and verification.accepted:
        verdict = "red, and accepted by a person"
    results, proof, weakened = (
        verification.results,
        verification.red_before_green,
        verification.weakened,
    )
    checked = verification.requirements
    lines = [f"## {HEADING}", "", f"Result: **{verdict}**.", ""]
    lines += ["| command | exit code | tests | before the change |", "| --- | --- | --- | --- |"]
    lines += [_row(result, state.baseline) for result in results]
    lines += [] if results else ["| no command is known | | | |"]
    lines += [
        "",
        *[f"- {reason}" for reason in verification.reasons],
        *[f"- {note}" for note in verification.notes],
        *([f"- {proof.said}"] if proof is not None else []),
        *[f"- {fact}" for fact in (checked.said if checked is not None else ())],
        *[f"- Weakened test: {fact}." for fact in weakened.unnamed],
        *[f"- Weakened test, as the design says: {fact}." for fact in weakened.named],
        "",
    ]
    for result in results:
        if result.exit_code != 0:
            heading = f"From the output of `{command_line(result.argv)}`:"
            lines += [heading, "", code_block(result.tail), ""]
    return "\n".join(lines).rstrip() + "\n"


def composed(artifact: str, state: State) -> str:
    """The verifier's document with our section in place of any it wrote under that heading."""
    return f"{without_section(artifact, HEADING).rstrip()}\n\n{commands_section(state)}"


def _row(result: CommandResult, baseline: tuple[CommandResult, ...]) -> str:
    before = next(
        (old for old in baseline if (old.name, old.argv) == (result.name, result.argv)), None
    )
    earlier = "not run" if before is None else f"exit code {before.exit_code}" + _count(before)
    words = command_line(result.argv).replace("|", "\\|")
    tests = "–" if result.tests is None else str(result.tests)
    return f"| {result.name.value}: `{words}` | {result.exit_code} | {tests} | {earlier} |"


def _count(result: CommandResult) -> str:
    return f", {several(result.tests, 'test')}" if result.tests is not None else ""
