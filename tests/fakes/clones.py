"""The sample repository in the conditions in which people keep theirs: half merged, half
rebased.
"""

import subprocess

from tests.fakes.sample import Sample

WHO = ("-c", "user.name=a", "-c", "user.email=a@b.c")


def commit(sample: Sample) -> None:
    """Commit everything."""
    for words in (("add", "-A"), (*WHO, "commit", "-qm", "more")):
        subprocess.run(["git", "-C", str(sample.path), *words], check=True)


def configure(sample: Sample, text: str) -> None:
    """A committed .forge/config.yml."""
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text(text)
    commit(sample)


def begin_merge(sample: Sample) -> None:
    """A merge that only lacks its commit; the work tree is clean."""
    sample.git("switch", "-qc", "theirs")
    (sample.path / "theirs.txt").write_text("theirs\n")
    commit(sample)
    sample.git("switch", "-q", "-c", "mine", "main")
    sample.git(*WHO, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "theirs")


def begin_rebase(sample: Sample) -> None:
    """A rebase that stopped at a conflict."""
    for branch, text in (("mine", "mine\n"), ("main", "theirs\n")):
        sample.git("switch", "-q", *(["-c"] if branch == "mine" else []), branch)
        (sample.path / "both.txt").write_text(text)
        commit(sample)
    sample.git("switch", "-q", "mine")
    subprocess.run(
        ["git", "-C", str(sample.path), *WHO, "rebase", "-q", "main"],
        check=False,
        capture_output=True,
    )
