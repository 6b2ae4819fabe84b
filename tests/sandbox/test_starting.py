"""Commands that cannot be started are outcomes in plain words; boxes that cannot be made are
errors.
"""

import sys
from pathlib import Path

import pytest

from forge_bot.errors import NoSandbox, SandboxFailed
from forge_bot.sandbox.backends import choose, failure_reason, run
from forge_bot.sandbox.box import BackendName, Box
from tests.sandbox.scene import Attempt


def script(file: Path, text: str, mode: int = 0o755) -> Path:
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_a_command_that_does_not_exist_is_said_so(walled: BackendName, worktree: Path) -> None:
    outcome = run(walled, Box(worktree=worktree), ["no-such-tool", "--fast"])
    assert (outcome.exit_code, outcome.output) == (
        127,
        "no-such-tool: no such command in the sandbox.\n",
    )
    assert run(walled, Box(worktree=worktree), ["./src/missing.sh"]).exit_code == 127


def test_a_file_that_is_no_program_is_said_so(walled: BackendName, worktree: Path) -> None:
    outcome = run(walled, Box(worktree=worktree), ["src/app.py"])
    assert (outcome.exit_code, outcome.output) == (
        126,
        "src/app.py: cannot be executed (Permission denied).\n",
    )
    assert run(walled, Box(worktree=worktree), ["./src"]).exit_code == 126


def test_a_program_outside_of_the_box_is_not_found_in_it(
    walled: BackendName, worktree: Path, tmp_path: Path
) -> None:
    outside = script(tmp_path / "tool", "#!/bin/sh\necho ran\n")
    (worktree / "src" / "tool").symlink_to(outside)
    outcome = run(walled, Box(worktree=worktree), ["src/tool"])
    assert outcome.exit_code in {126, 127}
    assert "ran" not in outcome.output


def test_a_script_without_a_first_line_is_the_shells(walled: BackendName, worktree: Path) -> None:
    script(worktree / "src" / "plain", "echo $0 $1\n")
    assert run(walled, Box(worktree=worktree), ["src/plain", "a b"]).output == "src/plain a b\n"


def test_words_reach_the_command_as_they_are(
    walled: BackendName, attempt: Attempt, worktree: Path
) -> None:
    words = ["", "a b", "$HOME", "*", "--", "ä", "new\nline"]
    code = "import sys; print(sys.argv[1:], end='')"
    assert run(walled, Box(worktree=worktree), ["python3", "-c", code, *words]).output == str(words)


@pytest.mark.parametrize("argv", [[], [""], ["echo", "a\0b"]])
def test_a_command_that_no_program_could_be_given_is_an_error(
    walled: BackendName, worktree: Path, argv: list[str]
) -> None:
    with pytest.raises(SandboxFailed):
        run(walled, Box(worktree=worktree), argv)


def test_a_work_tree_that_is_not_there_is_an_error_with_its_path(
    walled: BackendName, tmp_path: Path
) -> None:
    with pytest.raises(SandboxFailed, match="gone is not a folder"):
        run(walled, Box(worktree=tmp_path / "gone"), ["true"])


def test_a_home_folder_is_no_work_tree(
    walled: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "someone").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "someone"))
    for folder in (tmp_path / "someone", tmp_path):
        with pytest.raises(SandboxFailed, match="home folder"):
            run(walled, Box(worktree=folder), ["true"])


def test_the_strongest_that_works_is_chosen() -> None:
    troubles = {name: failure_reason(name) for name in BackendName}
    assert list(troubles) == ["bubblewrap", "landlock", "off"]
    assert troubles[BackendName.OFF] == ""
    walled = [
        name for name, trouble in troubles.items() if name is not BackendName.OFF and not trouble
    ]
    if not walled:
        with pytest.raises(NoSandbox):
            choose("auto")
    else:
        assert choose("auto") is walled[0]


def test_a_backend_that_does_not_work_is_refused_with_its_reason(
    landlock: BackendName, worktree: Path
) -> None:
    """A box may not nest another one: from inside, neither bubblewrap nor choice is left."""
    project = Path(__file__).parents[2]
    packages = [Path(entry) for entry in sys.path if entry.endswith("site-packages")]
    code = (
        f"import sys; sys.path[:0] = {[str(project), *map(str, packages)]!r}\n"
        "from forge_bot.sandbox.backends import choose\nfrom forge_bot.errors import NoSandbox\n"
        "try: choose('bubblewrap')\nexcept NoSandbox as error: print('REFUSED', error.details[0])\n"
    )
    box = Box(worktree=worktree, readable=(project, *packages, Path(sys.prefix)))
    outcome = run(landlock, box, [sys.executable, "-c", code])
    assert "REFUSED bubblewrap: " in outcome.output
