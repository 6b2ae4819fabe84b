"""What project commands need, and get, in every box; where a backend cannot give it, that is said
here.
"""

import shutil
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from tests.fakes.rows import rows
from tests.sandbox.scene import Attempt, git

ROWS = rows(__file__)

SERVER = """
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'HELLO'), daemon=True).start()
print(socket.create_connection(server.getsockname(), 5).recv(5))
"""
TESTS: str = ROWS["tests"]


def test_a_test_run_with_processes_pools_and_temporary_files_passes(
    backend: BackendName, worktree: Path
) -> None:
    (worktree / "src" / "test_all.py").write_text(TESTS, encoding="utf-8")
    outcome = run(
        backend, Box(worktree=worktree), ["python3", "-m", "unittest", "discover", "-s", "src"]
    )
    assert outcome.exit_code == 0, outcome.output
    assert "Ran 6 tests" in outcome.output


def test_only_bubblewrap_lets_new_files_into_the_root_of_the_work_tree(
    walled: BackendName, worktree: Path
) -> None:
    outcome = run(walled, Box(worktree=worktree), ["sh", "-c", "echo x > coverage.xml"])
    assert (outcome.exit_code == 0) == (walled is BackendName.BUBBLEWRAP)
    assert (worktree / "coverage.xml").exists() == (walled is BackendName.BUBBLEWRAP)


def test_only_bubblewrap_has_a_network_of_its_own_for_servers_under_test(
    walled: BackendName, attempt: Attempt
) -> None:
    outcome = attempt(walled, SERVER)
    assert ("HELLO" in outcome.output) == (walled is BackendName.BUBBLEWRAP)


def test_git_works_in_a_linked_work_tree_when_its_common_folder_is_readable(
    walled: BackendName, worktree: Path
) -> None:
    linked = worktree.parent / "linked"
    git(worktree, "worktree", "add", "-q", str(linked))
    (linked / "src" / "app.py").write_text("x = 2\n", encoding="utf-8")
    box = Box(worktree=linked, readable=(worktree / ".git",))
    outcome = run(walled, box, ["git", "status", "--porcelain"])
    assert outcome.output == " M src/app.py\n"
    assert run(walled, box, ["git", "log", "--format=%s"]).output == "start\n"


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_rust_runs_without_its_home_folder_being_shown(walled: BackendName, worktree: Path) -> None:
    (worktree / "src" / "main.rs").write_text(
        'fn main() { println!("{}", 6 * 7); }\n', encoding="utf-8"
    )
    script = "rustc --crate-type bin -o src/main src/main.rs && src/main; ls -A $CARGO_HOME"
    lines = run(walled, Box(worktree=worktree), ["sh", "-c", script]).output.splitlines()
    assert lines[0] == "42"
    assert walled is not BackendName.BUBBLEWRAP or not set(lines[1:]) - {"bin", "registry", "git"}
