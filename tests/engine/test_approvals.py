"""What an approval is bound to, what a checkpoint shows after its reviews gave up, and when a
person's task comes up.
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import count
from types import MappingProxyType

import pytest

from forge_bot.engine import Checkpoint, HumanGate, SpawnAgent, next_action, start
from forge_bot.engine.gates import digest_in
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    Answer,
    Answered,
    ArtifactChanged,
    GateShown,
    RunFlags,
    RunStarted,
)
from forge_bot.engine.state import ShownVersion
from forge_bot.errors import NoGateOpen, StaleApproval
from forge_bot.gate.arguments import SHORTEST_DIGEST
from forge_bot.values import Effort, PhaseId, TaskId, TaskMode, TaskSpec, Verdict
from tests.fakes.bench import DEVELOP, MAJOR, Bench, blob


def digest_of(bench: Bench) -> str:
    action = bench.action
    assert isinstance(action, Checkpoint)
    return action.digest


def asking(
    facts: Mapping[str, object] = MappingProxyType({}),
    *,
    pipeline: Pipeline = DEVELOP,
    gate: str = "checkpoint-a",
) -> Bench:
    """A large run at a checkpoint, begun with these facts."""
    bench = Bench(Effort.L, pipeline=pipeline)
    first = bench.reports[0]
    assert isinstance(first, RunStarted)
    first = first.model_copy(update=dict(facts))
    bench.state, bench.reports = start(pipeline, first), [first]
    return bench.until(gate)


@pytest.mark.parametrize(("fact", "value"), [("request_hash", "e" * 64), ("base_commit", "1" * 40)])
def test_an_approval_is_bound_to_the_request_and_the_base_commit(fact: str, value: str) -> None:
    assert digest_of(asking({fact: value})) != digest_of(asking())


def test_an_approval_is_bound_to_the_content_of_each_file_that_is_shown() -> None:
    shown = digest_of(asking())
    for name in ("design.md", "review-design.md"):
        bench = asking()
        bench.tell(
            ArtifactChanged(key="by hand", at=bench.now(), artifact=name, blob=blob("by hand"))
        )
        assert digest_of(bench) != shown, name


def test_an_approval_is_bound_to_its_gate_and_to_its_round() -> None:
    bench = asking()
    first = digest_of(bench)
    files = bench.action.files if isinstance(bench.action, Checkpoint) else ()
    bench.reject()
    bench.until("checkpoint-a")
    for file in files:
        bench.tell(
            ArtifactChanged(
                key=f"as before {file.name}", at=bench.now(), artifact=file.name, blob=file.blob
            )
        )
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert action.files == files, "the very same files"
    assert digest_of(bench) != first
    renamed = DEVELOP.model_dump_json().replace("checkpoint-a", "checkpoint-z")
    assert (
        digest_of(asking(pipeline=Pipeline.model_validate_json(renamed), gate="checkpoint-z"))
        != first
    )


def test_an_approval_is_bound_to_nothing_else_of_the_state() -> None:
    other = {
        "title": "Other words",
        "branch": "fix/other",
        "by": "bob",
        "run": "20261122-other",
        "flags": RunFlags(skip_pr=True),
    }
    assert digest_of(asking(other)) == digest_of(asking())


def test_a_bare_approval_that_was_given_before_a_newer_version_was_shown_is_refused() -> None:
    bench = asking()
    bench.show()
    given = bench.now()
    bench.tell(
        ArtifactChanged(key="by hand", at=bench.now(), artifact="design.md", blob=blob("newer"))
    )
    bench.show()
    late = Answered(
        key="late",
        at=given,
        gate=PhaseId("checkpoint-a"),
        answer=Answer.APPROVE,
        by="ann",
        via="comment",
    )
    with pytest.raises(StaleApproval, match="newer version"):
        bench.tell(late)
    bench.tell(late.model_copy(update={"at": bench.now() + timedelta(minutes=1)}))
    assert bench.action.phase == "phase-4"


def shown_late(bench: Bench) -> GateShown:
    """What waits, shown by somebody whose report has not come yet."""
    return GateShown(
        key="shown late",
        at=bench.now(),
        gate=PhaseId("checkpoint-a"),
        digest=digest_of(bench),
        via="comment",
    )


def test_a_version_that_waits_no_longer_does_not_count_as_shown() -> None:
    bench = asking()
    late = shown_late(bench)
    bench.tell(
        ArtifactChanged(key="by hand", at=bench.now(), artifact="design.md", blob=blob("newer"))
    )
    with pytest.raises(StaleApproval, match="What was shown is"):
        bench.tell(late)


def test_a_question_that_is_not_open_does_not_count_as_shown() -> None:
    bench = asking()
    late = shown_late(bench)
    with pytest.raises(NoGateOpen, match="checkpoint-b was shown"):
        bench.tell(late.model_copy(update={"gate": PhaseId("checkpoint-b")}))
    bench.approve()
    with pytest.raises(NoGateOpen, match="checkpoint-a was shown"):
        bench.tell(late)


def versions_alike(bench: Bench) -> tuple[str, str, str]:
    """Return two versions of a design, and the beginning that the digests with them share."""
    gate = bench.state.gate
    assert gate is not None
    others = [file for file in gate.files if file.name != "design.md"]
    seen: dict[str, str] = {}
    for number in count():
        design = ShownVersion(name="design.md", blob=blob(str(number)))
        digest = digest_in(bench.state, gate.name, gate.round, (design, *others))
        begins = digest[:SHORTEST_DIGEST]
        if begins in seen:
            return seen[begins], design.blob, begins
        seen[begins] = design.blob
    raise AssertionError


def test_the_beginning_of_a_digest_does_not_approve_another_version_that_begins_so() -> None:
    bench = asking()
    *versions, begins = versions_alike(bench)
    for version in versions:
        now = bench.now()
        bench.tell(ArtifactChanged(key=version, at=now, artifact="design.md", blob=version))
        assert bench.show().startswith(begins)
    with pytest.raises(StaleApproval, match="begins the digest of another version"):
        bench.answer(Answer.APPROVE, digest=begins)
    assert bench.answer(Answer.APPROVE, digest=digest_of(bench)).gate is None


def test_when_the_rounds_for_the_tasks_are_used_up_the_checkpoint_shows_the_open_findings() -> None:
    bench = Bench(Effort.L)
    for _ in range(3):
        bench.until("phase-4b").wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert (action.name, action.reason, action.findings) == ("checkpoint-b", None, (MAJOR,))


def test_findings_that_were_open_when_a_person_approved_are_shown_to_the_implementer() -> None:
    bench = Bench()
    for _ in range(3):
        bench.until("phase-3b").wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    bench.approve()
    for phase in ("phase-4", "phase-5"):
        action = bench.until(phase).action
        assert isinstance(action, SpawnAgent)
        assert "review-design.md" in action.input_files, phase
    assert bench.state.artifacts["review-design.md"].findings == (MAJOR,)


def test_a_task_for_a_person_comes_up_when_no_other_task_is_ready() -> None:
    tasks = (
        TaskSpec(id=TaskId("1"), title="Ask the operators", mode=TaskMode.HUMAN_GATE),
        TaskSpec(id=TaskId("2"), title="Two", mode=TaskMode.PARALLEL, files=("b.py",)),
        TaskSpec(
            id=TaskId("3"),
            title="Three",
            mode=TaskMode.PARALLEL,
            files=("c.py",),
            depends_on=(TaskId("2"),),
        ),
        TaskSpec(id=TaskId("4"), title="Four", files=("d.py",), depends_on=(TaskId("1"),)),
    )
    bench = Bench(tasks=tasks).until("phase-5")
    worked: list[str] = []
    while not isinstance(bench.action, HumanGate):
        action = next_action(bench.pipeline, bench.state)
        if isinstance(action, SpawnAgent) and action.phase == "phase-5":
            worked += action.parallel_task_ids or ()
        bench.step()
    assert worked == ["2", "3"]
    assert bench.action.task == "1"
