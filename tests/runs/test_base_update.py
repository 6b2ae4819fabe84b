"""A run that is done takes in what came to its base branch, and is verified again."""

import subprocess

import pytest

from tests.fakes.sample import Said, Sample


def _commit(sample: Sample, place: str, **files: str) -> str:
    """Somebody commits files on a branch; main is checked out again."""
    sample.git("switch", "-q", place)
    for name, text in files.items():
        (sample.path / name).write_text(text)
    sample.git("add", *files)
    sample.git("commit", "-qm", f"Ann's {', '.join(files)}")
    sample.git("switch", "-q", "main")
    return sample.git("rev-parse", place)


def _update(sample: Sample, *options: str) -> Said:
    return sample.forge("update", *options, "--model", sample.model())


@pytest.fixture
def done(ended_sample: Sample) -> Sample:
    """A run that is done."""
    return ended_sample


def test_the_base_is_merged_verified_and_offered_and_what_was_approved_stands(done: Sample) -> None:
    offered, first = done.offered, done.git("rev-parse", done.offered)
    decided = _reports(done, '"decided"') + _reports(done, '"answered"')
    main = _commit(done, "main", news="news")
    said = _update(done)
    assert said.code == 0, said.out + said.err
    assert done.git("log", "-1", "--format=%P", offered).split() == [first, main]
    assert done.git("diff", "--stat", f"main...{offered}", "--", ".specs", "news") == ""
    assert _reports(done, '"commands_ran"') == 2
    assert _reports(done, '"decided"') + _reports(done, '"answered"') == decided
    assert "✓ Done" in said.out
    assert "(from main, 2 commits)" in said.out, "the change and the merge, not the base's own"
    assert "news" not in said.out.partition("✓ Done")[2]


def _reports(sample: Sample, kind: str, branch: str = "") -> int:
    """The number of reports of a kind in the record of the run."""
    branch = branch or sample.branch
    names = sample.git("ls-tree", "-r", "--name-only", branch, ".specs").splitlines()
    record = next(name for name in names if name.endswith("/reports.jsonl"))
    return sample.git("show", f"{branch}:{record}").count(f'"type":{kind}')


def _changed(done: Sample, branch: str) -> tuple[str, str]:
    """The file of the program that the run changed, and its text on the base."""
    (path,) = [
        name
        for name in done.git("diff", "--name-only", f"main...{branch}").splitlines()
        if not name.startswith(("tests/", ".specs/"))
    ]
    return path, (done.path / path).read_text()


@pytest.mark.slow
def test_a_conflict_is_left_to_a_person_whose_merge_the_run_takes_and_verifies(
    done: Sample,
) -> None:
    offered, branch = done.offered, done.branch
    changed, _ = _changed(done, offered)
    before = done.git("rev-parse", branch)
    done.git("rm", "-q", changed)
    done.git("commit", "-qm", "Theirs")
    said = _update(done)
    told = " ".join(said.err.split())
    assert ("RUN-005" in told, changed in told) == (True, True)
    assert done.git("rev-parse", branch) == before
    command = f"git switch {offered} && git merge main"
    assert command in told
    subprocess.run(command, shell=True, cwd=done.path, capture_output=True, check=False)  # noqa: S602 - as a person types it
    done.git("add", changed)
    done.git("commit", "-qm", "Join")
    done.git("switch", "-q", "main")
    joined = done.git("rev-parse", offered)
    said = _update(done)
    assert said.code == 0, said.out + said.err
    assert done.git("rev-parse", offered) == joined
    assert done.git_code("merge-base", "--is-ancestor", joined, branch) == 0
    assert _reports(done, '"commands_ran"', branch) == 2
