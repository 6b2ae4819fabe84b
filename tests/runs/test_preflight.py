"""What is looked at before a run: this clone and this machine."""

from collections.abc import Sequence

from forge_bot.git import Repository
from forge_bot.runs.checks import CheckResult, CheckSubject, Occasion, RunIntent, run_checks
from forge_bot.settings.config import load_config
from tests.fakes import clones
from tests.fakes.sample import Sample


def found(
    sample: Sample, intent: RunIntent | None = None, *, least_free: int = 0
) -> Sequence[CheckResult]:
    """Everything that is found, in its order."""
    repository = Repository.find(sample.path)
    config = load_config(repository.root)
    subject = CheckSubject(repository, config, intent or RunIntent(), least_free=least_free)
    return run_checks(Occasion.BEFORE_RUN, subject).results


def one(findings: Sequence[CheckResult]) -> tuple[str, str]:
    """Weight and words of the only finding."""
    assert len(findings) == 1, findings
    return findings[0].weight, f"{findings[0].sentence} {findings[0].way_out}"


def test_nothing_is_found_in_a_plain_clone(sample: Sample) -> None:
    assert found(sample, RunIntent(branch="fix/rota")) == ()


def test_little_room_on_the_disk_is_refused_wherever_the_run_writes(sample: Sample) -> None:
    weight, said = one(found(sample, least_free=10**18))
    assert weight == "refuse"
    assert "MB are free" in said
    assert "XDG_STATE_HOME" in said
    weight, said = one(found(sample, RunIntent(here=True), least_free=10**18))
    assert str(sample.path) in said


def test_uncommitted_work_is_counted_unless_the_run_works_there(sample: Sample) -> None:
    (sample.path / "rota" / "schedule.py").write_text("# half done\n")
    (sample.path / "notes").mkdir()
    (sample.path / "notes" / "one.txt").write_text("mine")
    (sample.path / "notes" / "two.txt").write_text("mine")
    assert one(found(sample))[1].startswith(
        "Uncommitted changes in 3 files are not part of the run"
    )
    assert found(sample, RunIntent(here=True)) == ()


def test_a_template_against_changes_by_ai_is_quoted_before_a_run(sample: Sample) -> None:
    (sample.path / "PULL_REQUEST_TEMPLATE.md").write_text("We do not accept code by AI.\n")
    clones.commit(sample)
    weight, said = one(found(sample))
    assert weight == "warn"
    assert "PULL_REQUEST_TEMPLATE.md says: “We do not accept code by AI.”" in said
