"""Every heading that the pipeline asks for is really asked for, in every phase."""

import pytest

from forge_bot.artifacts.read_artifact import inspect
from forge_bot.engine.phases import AgentPhase, AnsweringPhase, ReviewPhase, TaskReviewPhase
from forge_bot.values import Verdict
from tests.fakes.bench import SHIPPED

SPEAKING = [phase for phase in SHIPPED.phases if isinstance(phase, AnsweringPhase)]


def rules() -> list[tuple[str, tuple[str, ...], tuple[Verdict, ...]]]:
    """Name, headings and verdicts of every artifact, the variants included."""
    found: list[tuple[str, tuple[str, ...], tuple[Verdict, ...]]] = []
    for phase in SPEAKING:
        verdicts = phase.verdicts if isinstance(phase, ReviewPhase | TaskReviewPhase) else ()
        if phase.headings:
            found.append((phase.id, phase.headings, verdicts))
        if isinstance(phase, AgentPhase):
            found += [
                (f"{phase.id} at {effort}", variant.headings, ())
                for effort, variant in phase.variants.items()
            ]
    return found


def written(headings: tuple[str, ...], verdicts: tuple[Verdict, ...]) -> str:
    title = {"Verdict": f"Verdict: {verdicts[0].value}"} if verdicts else {}
    return "# Title\n\n" + "\n\n".join(
        f"## {title.get(heading, heading)}\n\n{'None.' if heading == 'Findings' else 'Text.'}"
        for heading in headings
    )


@pytest.mark.parametrize(("phase", "headings", "verdicts"), rules())
def test_an_artifact_with_all_its_headings_is_taken(
    phase: str, headings: tuple[str, ...], verdicts: tuple[Verdict, ...]
) -> None:
    inspection = inspect(written(headings, verdicts), headings=headings, verdicts=verdicts)
    assert inspection.problems == (), phase
    assert inspection.verdict == (verdicts[0] if verdicts else None)


@pytest.mark.parametrize(
    ("phase", "headings", "verdicts", "removed"),
    [(*rule, heading) for rule in rules() for heading in rule[1]],
    ids=str,
)
def test_an_artifact_without_one_of_its_headings_is_refused_by_name(
    phase: str, headings: tuple[str, ...], verdicts: tuple[Verdict, ...], removed: str
) -> None:
    left = tuple(heading for heading in headings if heading != removed)
    problems = inspect(written(left, verdicts), headings=headings, verdicts=verdicts).problems
    assert any(removed in str(problem) for problem in problems), phase


@pytest.mark.parametrize(("phase", "headings", "verdicts"), rules())
def test_bare_headings_are_no_artifact(
    phase: str, headings: tuple[str, ...], verdicts: tuple[Verdict, ...]
) -> None:
    bare = "\n".join(f"## {heading}" for heading in headings)
    assert len(inspect(bare, headings=headings, verdicts=verdicts).problems) >= len(headings), phase


@pytest.mark.parametrize("phase", [phase.id for phase in SPEAKING])
def test_a_file_of_two_hashes_is_refused_in_every_phase(phase: str) -> None:
    found = next(each for each in SPEAKING if each.id == phase)
    tasks = isinstance(found, AgentPhase) and found.tasks
    assert inspect("## \n", headings=found.headings, tasks=tasks).problems
