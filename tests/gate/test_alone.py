"""The gate as it runs in the action: a file, an isolated Python without packages, an empty
environment.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.sampled import sampled
from tests.gate.conftest import read_outputs, surroundings
from tests.gate.payloads import commented, labelled, user
from tests.gate.small_api import SmallApi

ROOT = Path(__file__).parents[2]
FILE = ROOT / "forge_bot" / "gate" / "__main__.py"


def run(words: list[str], environ: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env=environ,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", [["-I", "-S", str(FILE)], ["-I", str(FILE)], [str(FILE)]])
def test_the_file_alone_lets_a_label_in(api: SmallApi, tmp_path: Path, words: list[str]) -> None:
    done = run(words, surroundings(tmp_path, api.url, "issues", labelled()), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    outputs = read_outputs((tmp_path / "output").read_text())
    assert (outputs["proceed"], outputs["issue"]) == ("true", "42")
    assert api.reactions == [("issue", 42, "eyes")]
    assert len(api.said()) == 1


def test_as_a_module_from_its_own_folder_it_does_the_same(api: SmallApi, tmp_path: Path) -> None:
    done = run(
        ["-S", "-m", "forge_bot.gate"],
        surroundings(tmp_path, api.url, "issue_comment", commented("/approve")),
        ROOT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert read_outputs((tmp_path / "output").read_text())["proceed"] == "true"


def test_files_that_lie_where_it_is_started_are_not_imported(api: SmallApi, tmp_path: Path) -> None:
    for name in ("json.py", "decimal.py", "urllib.py", "forge_bot.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the wrong place')\n")
    done = run(["-I", str(FILE)], surroundings(tmp_path, api.url, "issues", labelled()), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("event", sampled(["issue_comment", "issues", "push", ""], 2))
@pytest.mark.parametrize(
    "payload", [b"", b"{}", b"[1]", b"\xff", b'{"action":"created","issue":{"number":"42"}}']
)
def test_whatever_the_payload_is_the_step_ends_well_and_lets_nobody_in(
    api: SmallApi, tmp_path: Path, event: str, payload: bytes
) -> None:
    done = run(
        ["-I", "-S", str(FILE)], surroundings(tmp_path, api.url, event or "none", payload), tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert read_outputs((tmp_path / "output").read_text())["proceed"] == "false"


def test_outside_of_an_action_it_says_what_is_missing(tmp_path: Path) -> None:
    done = run(["-I", "-S", str(FILE)], {"PATH": os.environ.get("PATH", "")}, tmp_path)
    assert done.returncode == 5
    assert done.stdout.startswith(
        "::error title=forge-bot::ACTION-001: This step needs GITHUB_EVENT_NAME, GITHUB_EVENT_PATH"
    )


def test_an_output_that_cannot_be_written_is_an_error_of_one_line(
    api: SmallApi, tmp_path: Path
) -> None:
    environ = surroundings(tmp_path, api.url, "issues", labelled(by=user("bob")))
    done = run(
        ["-I", "-S", str(FILE)],
        {**environ, "GITHUB_OUTPUT": str(tmp_path / "no" / "such")},
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1].startswith(
        "::error title=forge-bot::ERR-001: FileNotFoundError"
    )


def test_the_token_is_in_nothing_that_is_said_or_handed_on(api: SmallApi, tmp_path: Path) -> None:
    done = run(
        ["-I", "-S", str(FILE)],
        surroundings(tmp_path, api.url, "issue_comment", commented("/forge")),
        tmp_path,
    )
    everything = (
        done.stdout
        + done.stderr
        + (tmp_path / "output").read_text()
        + (tmp_path / "summary").read_text()
        + str(api.comments)
    )
    assert "ghs_secret" not in everything
    assert {asked.token for asked in api.asked} == {"Bearer ghs_secret"}
