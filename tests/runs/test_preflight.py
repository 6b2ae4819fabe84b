"""What is looked at before a run: this clone, this machine, and what the task names."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.checks import CheckResult, CheckSubject, Occasion, RunIntent, run_checks
from forge_bot.runs.checks.check import named_paths
from forge_bot.settings import load_config
from tests.fakes import clones
from tests.fakes.sample import Sample


def found(
    sample: Sample, intent: RunIntent | None = None, *, least_free: int = 0, at: Path | None = None
) -> Sequence[CheckResult]:
    """Everything that is found, in its order."""
    repository = Repository.find(at or sample.path)
    config = load_config(repository.root)
    subject = CheckSubject(repository, config, intent or RunIntent(), least_free=least_free)
    return run_checks(Occasion.BEFORE_RUN, subject).results


def one(findings: Sequence[CheckResult]) -> tuple[str, str]:
    """Weight and words of the only finding."""
    assert len(findings) == 1, findings
    return findings[0].weight, f"{findings[0].sentence} {findings[0].way_out}"


def test_nothing_is_found_in_a_plain_clone(sample: Sample) -> None:
    assert found(sample, RunIntent(text="Fix rota/cli.py", branch="fix/rota")) == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Fix rota/cli.py, then `docs`.", ("docs", "rota/cli.py")),
        ("Fix ./rota/cli.py and .github/workflows/.", ("rota/cli.py", ".github/workflows")),
        ("Do not touch rota/cli.py. Change setup.cfg.", ("setup.cfg",)),
        ("Change rota/*.py; don't change a/b.py", ("rota/*.py",)),
        ("It says so at https://example.com/a/b.py", ()),
        ("It fails:\n```\nFile vendor/lib/x.py, line 3\n```\nFix it", ()),
        ("> see vendor/lib/x.py\n\nNo.", ()),
        ("Fix the rota", ()),
        ("`../../etc/passwd` and `a b`", ("../../etc/passwd",)),
    ],
)
def test_paths_are_read_off_what_a_request_orders(text: str, named: tuple[str, ...]) -> None:
    assert set(named_paths(text)) == set(named)


@pytest.mark.parametrize(
    ("text", "deliver", "weight"),
    [
        ("Run the tests in .github/workflows/ci.yml", True, "warn"),
        ("Run the tests in .github/workflows/ci.yml", False, "refuse"),
        ("Add workflows below .github/workflows/ for Python 3.12, e.g. nightly", False, "refuse"),
        (
            "Let rota/cli.py print its version, and check it in .github/workflows/ci.yml",
            False,
            "warn",
        ),
        ("Add tests/test_new.py and run it in .github/workflows/ci.yml", False, "warn"),
        ("Fix the flaky test, but do not touch .github/workflows/ci.yml", False, ""),
        ("Our GitHub Actions are red since the rota starts on a Monday", False, ""),
    ],
)
def test_workflow_files_are_refused_only_where_nothing_else_is_asked_and_nobody_can_deliver_them(
    sample: Sample, text: str, deliver: bool, weight: str
) -> None:
    findings = found(sample, RunIntent(text=text, deliver_workflows=deliver))
    assert [finding.weight for finding in findings if finding.what == "workflow files"] == (
        [weight] if weight else []
    )
    assert all(finding.way_out for finding in findings)


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


def test_a_merge_matters_where_the_run_would_commit(sample: Sample) -> None:
    clones.begin_merge(sample)
    assert one(found(sample))[0] == "warn"
    weight, said = one(found(sample, RunIntent(here=True)))
    assert weight == "refuse"
    assert "git merge --abort" in said


def test_a_submodule_is_filled_by_hand_and_only_in_the_users_own_tree(sample: Sample) -> None:
    clones.add_submodule(sample, "vendor/lib")
    assert "comes without the files of vendor/lib" in one(found(sample))[1]
    assert found(sample, RunIntent(here=True)) == ()
    sample.git("submodule", "deinit", "-q", "-f", "vendor/lib")
    for here in (True, False):
        weight, said = one(found(sample, RunIntent(here=here)))
        assert weight == "warn"
        assert "`git submodule update --init`" in said
    assert "--here" in one(found(sample))[1]


def test_a_shallow_clone_says_how_much_of_it_is_here(sample: Sample, tmp_path: Path) -> None:
    (sample.path / "more.txt").write_text("more")
    clones.commit(sample)
    sample.git("clone", "-q", "--depth", "1", f"file://{sample.path}", str(tmp_path / "shallow"))
    weight, said = one(found(sample, at=tmp_path / "shallow"))
    assert weight == "note"
    assert "1 commit of the branch" in said
    assert "git fetch --unshallow" in said


def test_a_clock_far_behind_the_newest_commit_is_told(sample: Sample) -> None:
    (sample.path / "more.txt").write_text("more")
    clones.commit(sample, at="2090-05-01T12:00:00Z")
    weight, said = one(found(sample))
    assert weight == "warn"
    assert "2090-05-01 12:00 UTC" in said


@pytest.mark.parametrize(
    ("rules", "weight"),
    [
        (("--cone", "rota"), "refuse"),
        (("--cone", "rota", ".specs"), "warn"),
        (("--no-cone", "/*", "!/rota/"), "warn"),
        (("--no-cone", "/*", "!/*/", "/rota/"), "refuse"),
        (("--no-cone", "/*", "!/.specs/"), "refuse"),
    ],
)
def test_a_sparse_checkout_must_have_room_for_the_record(
    sample: Sample, rules: tuple[str, ...], weight: str
) -> None:
    sample.git("sparse-checkout", "set", *rules)
    (sample.path / ".specs").mkdir()
    (sample.path / ".specs" / "probe").write_text("x")
    findings = [
        finding.weight
        for finding in found(sample, RunIntent(here=True))
        if finding.what == "sparse checkout"
    ]
    assert findings == [weight]
    takes = sample.git_code("add", "--all", "--force", "--", ".specs") == 0
    assert takes == (weight != "refuse"), "git itself says the same"


def test_files_in_lfs_that_nobody_will_touch_are_a_warning_without_the_tool(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clones.without_lfs(tmp_path, monkeypatch)
    clones.keep_in_lfs(sample, "model.bin", "art/logo.png")
    weight, said = one(found(sample))
    assert weight == "warn"
    assert "2 files in Git LFS (art/logo.png and model.bin) will be there as pointers only" in said
    assert "git lfs install" in said


def test_with_the_tool_what_is_not_pulled_is_a_warning_and_what_is_there_a_note(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = clones.without_lfs(tmp_path, monkeypatch)
    clones.keep_in_lfs(sample, "model.bin")
    (programs / "git-lfs").write_text("#!/bin/sh\nexec cat\n")
    (programs / "git-lfs").chmod(0o755)
    assert "git-lfs is not set up" in one(found(sample, RunIntent(text="Shrink model.bin")))[1]
    sample.git("config", "filter.lfs.smudge", "git-lfs smudge")
    sample.git("config", "filter.lfs.clean", "git-lfs clean")
    weight, said = one(found(sample))
    assert weight == "warn"
    assert "`git lfs pull`" in said
    (sample.path / "model.bin").write_bytes(b"\0" * 5000)
    clones.commit(sample)
    weight, said = one(found(sample))
    assert weight == "note"
    assert "git lfs push" in said


def test_a_program_of_the_repository_itself_is_looked_for_in_its_commit(sample: Sample) -> None:
    clones.configure(sample, "commands: {setup: [], build: [], test: ./run-tests}\n")
    assert "./run-tests is not installed" in one(found(sample))[1]
    (sample.path / "run-tests").write_text("#!/bin/sh\n")
    clones.commit(sample)
    assert found(sample) == ()
    clones.configure(
        sample, "commands: {setup: [], build: python3 make.py, test: build/run-tests}\n"
    )
    assert found(sample) == (), "what is not committed may still be built"


@pytest.mark.parametrize("part", ["+", "*+", "a/", "a.", "`", "```\n", "../", "not "])
def test_a_hostile_request_is_read_in_no_time(part: str) -> None:
    began = time.perf_counter()
    named_paths(part * (100_000 // len(part)))
    assert time.perf_counter() - began < 2
