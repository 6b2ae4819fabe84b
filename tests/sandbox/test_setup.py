"""Dependencies can be installed in a box with network, and used afterwards in one without."""

from pathlib import Path

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box, ResourceLimits
from tests.sandbox.scene import World


# The proxy of setup belongs to the test's own process, and this test needs a registry.
@pytest.mark.block_network(allowed_hosts=[".*"])
@pytest.mark.slow
def test_a_package_is_installed_with_network_and_used_without(
    walled: BackendName, worktree: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    setup = Box(
        worktree=worktree, network=True, writable=(tools,), limits=ResourceLimits(seconds=120)
    )
    python = str(tools / "bin" / "python")
    for words in (["python3", "-m", "venv", str(tools)], [python, "-m", "pip", "install", "six"]):
        outcome = run(walled, setup, words)
        assert outcome.exit_code == 0, outcome.output
    later = run(
        walled,
        Box(worktree=worktree, readable=(tools,)),
        [python, "-c", "import six; print(six.__name__)"],
    )
    assert later.output == "six\n"
    changed = run(walled, Box(worktree=worktree, readable=(tools,)), ["touch", f"{tools}/bin/new"])
    assert changed.exit_code != 0
    assert not (tools / "bin" / "new").exists()


def test_with_network_nothing_of_this_machine_is_reached(
    walled: BackendName, worktree: Path, tmp_path: Path
) -> None:
    world = World(tmp_path / "outside")
    code = """
import os, socket
E = os.environ
try: socket.socket(type=2, family=2).sendto(b'x', ('127.0.0.1', int(E['UDP'])))
except OSError: pass  # in a network of its own it may send, since nobody is there
for attempt in (
    lambda: socket.create_connection(('127.0.0.1', int(E['TCP'])), 5),
    lambda: socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket().sendmsg([b'x'], [], socket.MSG_FASTOPEN, ('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket(proto=socket.IPPROTO_MPTCP).connect(('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + E['ABSTRACT']),
    lambda: socket.socket(socket.AF_UNIX).connect(E['OUTSIDE'] + '/s'),
    lambda: socket.socketpair(1, 2)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'),
    lambda: socket.socketpair(1, 3)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'),
    lambda: socket.socket(1, 3).sendto(b'x', E['OUTSIDE'] + '/d'),
    lambda: socket.socket(1, 5).connect(E['OUTSIDE'] + '/q'),
    lambda: socket.socketpair(1, 5)[0].connect(E['OUTSIDE'] + '/q'),
    lambda: socket.socketpair(1, 1)[0].connect(E['OUTSIDE'] + '/s'),
):
    try: attempt()
    except OSError: print('NO')
"""
    box = Box(worktree=worktree, network=True, env=world.variables(), readable=(world.folder,))
    outcome = run(walled, box, ["python3", "-c", code])
    reached = world.reached()
    world.close()
    assert outcome.output == "NO\n" * 12
    assert reached == []
