"""A run whose reports end anywhere, in the middle of a line too, with artifacts left, gone or
changed, opens and says where it stands.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge_bot.engine import REPORT, fold, next_action
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.finding_runs.snapshot_of_run import run_snapshot
from forge_bot.runs.open_run import open_run
from forge_bot.settings import Config
from forge_bot.settings.load_pipeline import load_pipeline
from tests.recovery.conftest import Told
from tests.recovery.world import World

MANY = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
GARBAGE = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.sampled_from([b"{}", b'{"schemaVersion": \xc2\xb2}', b'{"schemaVersion": "x"}']),
)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[World], World]:
    """Brings a world to its end and lets this process work in it."""

    def ended(world: World) -> World:
        world.back("end")
        world.git("update-ref", "refs/run/end", world.branch)
        monkeypatch.setenv("XDG_STATE_HOME", str(world.state))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        return world

    return ended


def opens(world: World, share: float, state: bytes | None, changed: list[int]) -> None:
    """Cut the reports after a share of their bytes, on disk and in git, and open the run."""
    world.git("reset", "-q", "--hard", "refs/run/end", folder=world.tree)
    raw = (world.here / "reports.jsonl").read_bytes()
    first = raw.index(b"\n") + 1
    cut = first + int(share * (len(raw) - first))
    # Back to the first commit of the run, with everything that came later left in the work tree.
    start = world.git("rev-list", "--reverse", f"main..{world.branch}").splitlines()[0]
    world.git("reset", "-q", "--soft", start, folder=world.tree)
    (world.here / "reports.jsonl").write_bytes(raw[:cut])
    _garble(world.here, state, changed)
    whole = raw[: raw.rfind(b"\n", 0, cut) + 1]
    pipeline = load_pipeline("develop", None)
    expected = fold(pipeline, [REPORT.validate_json(line) for line in whole.splitlines()])

    repository = Repository.find(world.path)
    assert run_snapshot(repository, resolve_run(repository, None), Config()).state == expected
    with open_run(repository, resolve_run(repository, None), Config()) as run:
        assert run.state.model_copy(update={"seen": None}).current_phase == expected.current_phase
        assert (
            next_action(pipeline, run.state).action_id == next_action(pipeline, expected).action_id
        )
        outside = [
            change.path for change in run.tree.status() if not change.path.startswith(".specs/")
        ]
        assert outside == []
        known = (world.here / "reports.jsonl").read_bytes()
        assert known.startswith(whole)
        assert known.endswith(b"\n")
    with open_run(repository, resolve_run(repository, None), Config()) as again:
        assert again.state == run.state
        assert not again.notices


def _garble(folder: Path, state: bytes | None, changed: list[int]) -> None:
    file = folder / "state.json"
    file.unlink()
    if state is not None:
        file.write_bytes(state)
    artifacts = sorted(path for path in folder.glob("*.md") if path.name != "request.md")
    for number in changed:
        artifact = artifacts[number % len(artifacts)]
        if number % 2:
            artifact.unlink(missing_ok=True)
        else:
            artifact.write_bytes(b"# Something else\n\xff\n")


@pytest.mark.slow
@MANY
@given(st.floats(0, 1), GARBAGE, st.lists(st.integers(0, 30), max_size=3))
def test_any_beginning_of_a_long_run_opens_where_it_ends(
    long: Told,
    here: Callable[[World], World],
    share: float,
    state: bytes | None,
    changed: list[int],
) -> None:
    opens(here(long[0]), share, state, changed)
