"""Dependencies can be installed in a box with network, and used afterwards in one without."""

from pathlib import Path

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from tests.sandbox.scene import World


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
