"""The sample repository in the conditions in which people keep theirs: half merged, shallow, with
submodules or Git LFS.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fakes.sample import Sample

WHO = ("-c", "user.name=a", "-c", "user.email=a@b.c")
POINTER = (
    "version https://git-lfs.github.com/spec/v1\noid"
    " sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def commit(sample: Sample, *, at: str = "") -> None:
    """Commit everything, at a time if one is given."""
    env = {**os.environ, **({"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {})}
    for words in (("add", "-A"), (*WHO, "commit", "-qm", "more")):
        subprocess.run(["git", "-C", str(sample.path), *words], check=True, env=env)


def configure(sample: Sample, text: str) -> None:
    """A committed .forge/config.yml."""
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text(text)
    commit(sample)


def add_submodule(sample: Sample, path: str) -> None:
    """Another repository as a submodule."""
    other = sample.path.parent / "other"
    subprocess.run(["git", "init", "-q", "-b", "main", str(other)], check=True)
    (other / "lib.py").write_text("x = 1\n")
    for words in (("add", "-A"), (*WHO, "commit", "-qm", "lib")):
        subprocess.run(["git", "-C", str(other), *words], check=True)
    sample.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), path)
    commit(sample)


def without_lfs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without git-lfs, whatever this one has: the folder with its only programs."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("git", "python3", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "none"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return programs


def keep_in_lfs(sample: Sample, *names: str) -> None:
    """Files as pointers, as a clone without git-lfs has them."""
    (sample.path / ".gitattributes").write_text(
        "".join(f"{name} filter=lfs diff=lfs merge=lfs -text\n" for name in names)
    )
    for name in names:
        (sample.path / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.path / name).write_text(POINTER)
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
