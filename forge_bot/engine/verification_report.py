"""final-verification.md: the verifier's words, and under `## Commands` what the processes really
did.
"""

from forge_bot.artifacts.markdown import without_section
from forge_bot.engine.state import State
from forge_bot.text_format import code_block, command_line, several
from forge_bot.values import CommandResult, RedBeforeGreen, RequirementCheck, WeakenedTests
from forge_bot.verification.judgement import Judgement

HEADING = "Commands"
_NOTHING_WEAKENED = WeakenedTests()


def commands_section(state: State) -> str:
    """The section that our own process writes; no model has a say in it."""
    verification = state.verification
    if verification is None:
        return f"## {HEADING}\n\nNothing has run yet.\n"
    judgement = Judgement(
        red=verification.red, reasons=verification.reasons, notes=verification.notes
    )
    return section(
        verification.results,
        state.baseline,
        judgement,
        verification.red_before_green,
        verification.requirements,
        verification.weakened,
        accepted=verification.accepted,
    )


def section(
    results: tuple[CommandResult, ...],
    baseline: tuple[CommandResult, ...],
    judgement: Judgement,
    proof: RedBeforeGreen | None = None,
    requirements: RequirementCheck | None = None,
    weakened: WeakenedTests = _NOTHING_WEAKENED,
    *,
    accepted: bool = False,
) -> str:
    """Return a table of commands and exit codes, the new failures, and from the output of each
    failed command the failures and the end.
    """
    verdict = "red" if judgement.red else "green"
    if judgement.red and accepted:
        verdict = "red, and accepted by a person"
    lines = [f"## {HEADING}", "", f"Result: **{verdict}**.", ""]
    lines += ["| command | exit code | tests | before the change |", "| --- | --- | --- | --- |"]
    lines += [_row(result, baseline) for result in results] or ["| no command is known | | | |"]
    lines += [
        "",
        *[f"- {reason}" for reason in judgement.reasons],
        *[f"- {note}" for note in judgement.notes],
        *([f"- {proof.said}"] if proof is not None else []),
        *[f"- {fact}" for fact in (requirements.said if requirements is not None else ())],
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
