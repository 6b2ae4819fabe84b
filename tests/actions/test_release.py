"""What a tag becomes: the workflow's first jobs run here, the rest needs PyPI and GitHub."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from forge_bot import __version__
from forge_bot.forge.github import workflow_files as workflow_file
from tests.actions.runner import ROOT, STUBS, missing, pins, program

TEXT = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
TAG = f"v{__version__}"
LISTINGS = (
    "server.json",
    ".claude-plugin/marketplace.json",
    "templates/plugin/.claude-plugin/plugin.json",
)


def release(*words: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [root / "scripts" / "release", *words], capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A clone with the files of this checkout, whose changelog has a section for the version."""
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", ROOT, folder], check=True)
    for name in (
        "scripts/release",
        "scripts/action/find-uv",
        ".github/workflows/release.yml",
        "pyproject.toml",
        "uv.lock",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "scripts" / "release").chmod(0o755)
    for name in (*LISTINGS, "README.md", "docs/github.md", "forge_bot/__init__.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    log = folder / "CHANGELOG.md"
    log.write_text(
        log.read_text().replace(
            "## Unreleased", f"## Unreleased\n\n## {__version__} - 2026-01-31\n\n### Added", 1
        )
    )
    return folder


def test_a_tag_that_fits_version_changelog_and_pages_can_be_released(copy: Path) -> None:
    said = release("check", TAG, root=copy)
    assert (said.returncode, said.stdout) == (0, f"{TAG} can be released.\n")
    notes = release("notes", TAG, root=copy).stdout
    assert notes.startswith("### Added")
    assert "\n## " not in notes


def test_a_tag_of_another_version_is_refused_with_both(copy: Path) -> None:
    said = release("check", "v9.9.9", root=copy)
    assert said.returncode == 1
    assert f"The tag is v9.9.9, and forge_bot/__init__.py says {__version__}." in said.stdout


def test_a_version_without_a_section_in_the_changelog_is_refused(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- Much.\n")
    said = release("check", TAG, root=copy)
    assert said.returncode == 1
    assert f"CHANGELOG.md has no section `## {__version__} - YYYY-MM-DD`" in said.stdout


def test_a_page_that_names_another_release_is_named(copy: Path) -> None:
    page = copy / "docs" / "github.md"
    page.write_text(page.read_text().replace(f"# {TAG}", "# v0.0.1"))
    said = release("check", TAG, root=copy)
    assert said.returncode == 1
    assert f"docs/github.md names v0.0.1; this release is {TAG}." in said.stdout


def test_a_release_is_prepared_whole_and_its_commit_is_pinned_afterwards(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- Much.\n")
    assert release("prepare", "v0.2.0", root=copy).returncode == 0
    assert release("check", "v0.2.0", root=copy).stdout == "v0.2.0 can be released.\n"
    listing = json.loads((copy / "server.json").read_text())
    assert (listing["version"], listing["packages"][0]["version"]) == ("0.2.0", "0.2.0")
    assert release("pin", "v0.2.0", root=copy).returncode == 1
    for words in (["commit", "-qam", "release"], ["tag", "v0.2.0"]):
        subprocess.run(
            ["git", "-C", copy, "-c", "user.name=a", "-c", "user.email=a@b.c", *words], check=True
        )
    assert release("pin", "v0.2.0", root=copy).returncode == 0
    commit = subprocess.run(
        ["git", "-C", copy, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert f"@{commit.stdout.strip()} # v0.2.0" in (copy / "docs" / "github.md").read_text()


def test_the_pages_name_this_version() -> None:
    said = release("check", TAG).stdout
    assert "this release is" not in said


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_the_build_job_makes_a_wheel_of_the_tagged_files(copy: Path, tmp_path: Path) -> None:
    for words in (
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "release"],
        ["tag", TAG],
        ["remote", "set-url", "origin", f"https://github.com/{workflow_file.ACTION}.git"],
    ):
        subprocess.run(["git", "-C", str(copy), *words], check=True)
    used, artifacts = pins(TEXT), tmp_path / "artifacts"
    stubs = {"actions/checkout": "checkout", "actions/upload-artifact": "upload"}
    (tmp_path / "home").mkdir()
    event = tmp_path / "event.json"
    event.write_text(f'{{"ref": "refs/tags/{TAG}"}}')
    told = {
        "SHIPPED": str(copy),
        "ARTIFACTS": str(artifacts),
        **{name: value for name, value in os.environ.items() if name.startswith(("UV_", "PIP_"))},
    }
    act = program("act")
    assert act is not None
    words = [
        *(act, "push", "--job", "build", "--workflows", ".github/workflows/release.yml"),
        *("--eventpath", str(event), "--platform", "ubuntu-24.04=-self-hosted"),
        *("--no-cache-server", "--pull=false", "--no-skip-checkout"),
        *("--action-cache-path", str(tmp_path / "cache"), "--action-offline-mode"),
        "--use-new-action-cache",
        *(p for n, s in stubs.items() for p in ("--local-repository", f"{used[n]}={STUBS / s}")),
        *(p for name, value in told.items() for p in ("--env", f"{name}={value}")),
    ]
    ran = subprocess.run(
        words,
        cwd=copy,
        env={**os.environ, "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    wheel = next((artifacts / "dist").glob("*.whl"))
    assert wheel.name == f"forge_bot-{__version__}-py3-none-any.whl"
    assert "forge_bot/templates/pipelines/develop.yaml" in zipfile.ZipFile(wheel).namelist()
    assert list((artifacts / "dist").glob("*.tar.gz"))
