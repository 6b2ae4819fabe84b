"""Attacks from inside a box. Each one works without walls, so each of these tests can fail."""

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from tests.sandbox.scene import SECRET, Attempt, World, project

# Prints DONE when it worked; what stops it is its own affair. The world is in the variables.
ATTACKS = {
    "read a file outside": (
        "print('DONE' if 'hunter2' in open(E['OUTSIDE'] + '/.netrc').read() else '')"
    ),
    "read through a link that was there": (
        "print('DONE' if 'hunter2' in open('src/secret').read() else '')"
    ),
    "list a folder outside": "print('DONE' if os.listdir(E['OUTSIDE']) else '')",
    "write a file outside": "open(E['OUTSIDE'] + '/new', 'w').write('x'); print('DONE')",
    "write through a link of its own": (
        "os.symlink(E['OUTSIDE'], 'src/l'); open('src/l/new', 'w').write('x'); print('DONE')"
    ),
    "cut a file outside": "os.truncate(E['OUTSIDE'] + '/.netrc', 0); print('DONE')",
    "move a file out": "os.rename('src/app.py', E['OUTSIDE'] + '/new'); print('DONE')",
    "link a file in": (
        "os.link(E['OUTSIDE'] + '/.netrc', 'src/in'); open('src/in', 'a').write('x'); print('DONE')"
    ),
    "read the environment of another process": (
        "print('DONE' if 'hunter2' in open(f'/proc/{W}/environ').read() else '')"
    ),
    "read the memory of another process": "open(f'/proc/{W}/mem', 'rb'); print('DONE')",
    "walk through the root of another process": (
        "os.listdir(f'/proc/{W}/root' + E['OUTSIDE']); print('DONE')"
    ),
    "signal another process": "os.kill(W, 0); print('DONE')",
    "signal the program that runs it": "os.kill(int(E['PARENT']), 0); print('DONE')",
    "signal it by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(W), 0); print('DONE')",
    "call a TCP server": "socket.create_connection(('127.0.0.1', int(E['TCP'])), 5); print('DONE')",
    "send a UDP datagram": (
        "s = socket.socket(type=2, family=2); s.sendto(b'x', ('127.0.0.1', int(E['UDP'])));"
        " print('DONE')"
    ),
    "call a unix socket": (
        "socket.socket(socket.AF_UNIX).connect(E['OUTSIDE'] + '/s'); print('DONE')"
    ),
    "call an abstract socket": (
        "socket.socket(socket.AF_UNIX).connect(chr(0) + E['ABSTRACT']); print('DONE')"
    ),
    "send a unix datagram": (
        "socket.socket(socket.AF_UNIX, 2).sendto(b'x', E['OUTSIDE'] + '/d'); print('DONE')"
    ),
    "send a unix datagram from a pair": (
        "socket.socketpair(1, 2)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'); print('DONE')"
    ),
    "send a unix datagram by a raw socket": (
        "socket.socket(1, 3).sendto(b'x', E['OUTSIDE'] + '/d'); print('DONE')"
    ),
    "send a unix datagram from a raw pair": (
        "socket.socketpair(1, 3)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'); print('DONE')"
    ),
    "call a unix socket of sequenced packets": (
        "socket.socket(1, 5).connect(E['OUTSIDE'] + '/q'); print('DONE')"
    ),
    "limit another process": "resource.prlimit(W, resource.RLIMIT_NOFILE, (64, 64)); print('DONE')",
    "read the limits of another process": (
        "resource.prlimit(W, resource.RLIMIT_NOFILE); print('DONE')"
    ),
    "slow another process down": "os.setpriority(os.PRIO_PROCESS, W, 1); print('DONE')",
    # Nobody has this number, so nobody becomes slow: an answer about processes comes from behind
    # the walls.
    "slow every process of a user down": (
        "C.setpriority(os.PRIO_USER, 54_321, 19);"
        " print('DONE' if ctypes.get_errno() == errno.ESRCH else '')"
    ),
    "let another process wait for the disk": (
        "print('DONE' if C.syscall(IOPRIO_SET, 1, W, 3 << 13) == 0 else '')"
    ),
    "hold another process on one processor": "os.sched_setaffinity(W, {0}); print('DONE')",
    "put another process last": (
        "os.sched_setscheduler(W, os.SCHED_IDLE, os.sched_param(0)); print('DONE')"
    ),
    "send to a queue of System V": (
        "print('DONE' if C.msgsnd(int(E['QUEUE']), b'1' * 8 + b'x', 1, 2048) == 0 else '')"
    ),
    "read from a queue of System V": (
        "print('DONE' if C.msgrcv(int(E['QUEUE']), bytes(16), 1, 0, 2048) >= 0 else '')"
    ),
    "look at shared memory of System V": (
        "print('DONE' if C.shmctl(int(E['SEGMENT']), 2, bytes(200)) == 0 else '')"
    ),
    "take shared memory of System V": (
        "C.shmat.restype = ctypes.c_long; print('DONE' if C.shmat(int(E['SEGMENT']), 0, 0) > 0"
        " else '')"
    ),
    "change a semaphore of System V": (
        "print('DONE' if C.semctl(int(E['SEMAPHORE']), 0, 16, 3) == 0 else '')"
    ),
    "raise a semaphore of System V": (
        "print('DONE' if C.semop(int(E['SEMAPHORE']), struct.pack('<Hhh', 0, 1, 0), 1) == 0"
        " else '')"
    ),
    "remove a queue of System V": (
        "print('DONE' if C.msgctl(int(E['QUEUE']), 0, None) == 0 else '')"
    ),
    "remove a POSIX queue": "print('DONE' if C.mq_unlink(E['POSIX_QUEUE'].encode()) == 0 else '')",
    "call the machine's own host": "socket.socket(40, 1); print('DONE')",
    "talk to the kernel's keyrings": "print('DONE' if C.syscall(KEYCTL, 0, -3, 1) > 0 else '')",
    "make a ring for system calls": (
        "C.syscall(425, 1, None); print('DONE' if ctypes.get_errno() == errno.EFAULT else '')"
    ),
    "become root in a namespace of its own": "print('DONE' if C.unshare(0x10000000) == 0 else '')",
    "start a process in such a namespace": (
        "print('DONE' if C.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0) >= 0 else '')"
    ),
    "plant a git hook": "open('.git/hooks/pre-commit', 'w').write('x'); print('DONE')",
    "change git's settings": "open('.git/config', 'a').write('x'); print('DONE')",
    "change a specification": "open('.specs/spec.md', 'w').write('x'); print('DONE')",
    "remove a specification": "os.unlink('.specs/spec.md'); print('DONE')",
    "add a workflow": "open('.github/workflows/new.yml', 'w').write('x'); print('DONE')",
    "move the specifications away": "os.rename('.specs', 'src/specs'); print('DONE')",
    "make settings where none were": (
        "os.mkdir('.forge'); open('.forge/config.yml', 'w').write('x'); print('DONE')"
    ),
    "change permissions of a workflow": (
        "os.chmod('.github/workflows/ci.yml', 0o777); print('DONE')"
    ),
}
# Each attack in a child of its own, so that none spoils another; the names of those that worked are
# the output.
ATTACKER = """
import ctypes, errno, json, os, platform, resource, signal, socket, struct, sys
E = os.environ; W = int(E['WITNESS']); C = ctypes.CDLL(None, use_errno=True)
KEYCTL, CLONE, IOPRIO_SET = {'x86_64': (250, 56, 251), 'aarch64': (219, 220, 30)}[platform.machine()]
for name, code in json.loads(sys.argv[1]).items():
    heard, said = os.pipe()
    if os.fork() == 0:
        os.dup2(said, 1), os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        exec(code)
        sys.stdout.flush()
        os._exit(0)
    os.close(said)
    if b'DONE' in os.read(heard, 100):
        print(name, flush=True)
"""
# Landlock has no word for permissions (docs/sandbox.md says so). In a network of its own a box may
# send, since nobody is there; among its own processes it may slow all of them down.
HARMLESS = {
    BackendName.BUBBLEWRAP: {"send a UDP datagram", "slow every process of a user down"},
    BackendName.LANDLOCK: {"change permissions of a workflow"},
}


# Hardened kernels and containers have walls of their own.
SOMETIMES_REFUSED = {
    *(
        "read the memory of another process",
        "call the machine's own host",
        "talk to the kernel's keyrings",
    ),
    *(
        "make a ring for system calls",
        "become root in a namespace of its own",
        "start a process in such a namespace",
    ),
}


@dataclass(frozen=True)
class Aftermath:
    """What a box with all attacks in it has done."""

    worked: frozenset[str]
    reached: tuple[str, ...]
    changed: tuple[str, ...]


def aftermath(backend: BackendName) -> Aftermath:
    with TemporaryDirectory() as folder:
        tree, world = project(Path(folder) / "project"), World(Path(folder) / "outside")
        (tree / "src" / "secret").symlink_to(world.folder / ".netrc")
        before = _files(tree) | _files(world.folder)
        box = Box(worktree=tree, env=world.variables())
        outcome = run(backend, box, ["python3", "-c", ATTACKER, json.dumps(ATTACKS)])
        after = _files(tree) | _files(world.folder)
        changed = sorted(
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        )
        reached = tuple(world.reached())
        world.close()
    return Aftermath(
        frozenset(outcome.output.splitlines()),
        reached,
        tuple(name for name in changed if "/src/" not in name),
    )


def _files(root: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_every_attack_ends_at_the_walls(walled: BackendName) -> None:
    after = aftermath(walled)
    assert after.worked == HARMLESS[walled]
    assert (after.changed, after.reached) == ((), ())


def test_the_same_attacks_work_without_walls() -> None:
    after = aftermath(BackendName.OFF)
    assert ATTACKS.keys() - SOMETIMES_REFUSED <= after.worked
    assert after.reached == ("tcp", "udp", "unix", "abstract", "datagram", "sequenced")


def test_a_box_sees_its_own_processes_only(bubblewrap: BackendName, attempt: Attempt) -> None:
    outcome = attempt(
        bubblewrap,
        "import os; print(len([name for name in os.listdir('/proc') if name.isdigit()]))",
    )
    assert outcome.output.strip() == "2"


def test_the_kernels_settings_cannot_be_changed(walled: BackendName, attempt: Attempt) -> None:
    code = "open('/proc/sys/kernel/core_pattern', 'r+').close(); print('DONE')"
    assert "DONE" not in attempt(walled, code).output


def test_what_not_everyone_may_read_under_etc_is_not_there_even_for_root(
    walled: BackendName, attempt: Attempt
) -> None:
    outcome = attempt(
        walled, "print(open('/etc/passwd').read()[:5]); print(open('/etc/shadow').read())"
    )
    assert "root:\n" in outcome.output
    assert "PermissionError" in outcome.output


def test_no_descriptor_of_ours_is_inherited(backend: BackendName, attempt: Attempt) -> None:
    code = (
        "import os; print(sorted(os.listdir('/proc/self/fd'))[:-1], os.readlink('/proc/self/fd/0'))"
    )
    assert attempt(backend, code).output == "['0', '1', '2'] /dev/null\n"


def test_a_box_has_no_powers_of_root(walled: BackendName, attempt: Attempt) -> None:
    code = (
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapPrm',"
        " 'CapEff'))])"
    )
    assert attempt(walled, code).output == f"{['0' * 16] * 2}\n"


PLACES = (
    *("config", "config.worktree", "worktrees/other/config.worktree", "modules/vendor/config"),
    *("modules/lib/deep/modules/inner/config", "worktrees/other/modules/vendor/config"),
)


def test_a_password_in_the_settings_of_git_a_submodule_or_a_work_tree_is_not_shown(
    walled: BackendName, worktree: Path
) -> None:
    own = worktree / ".git" / "config"
    address = '[remote "origin"]\n\turl = https://me:hunter2@example.org/x.git\n'
    texts = dict.fromkeys(PLACES, f"[http]\n\textraheader = AUTHORIZATION: basic {SECRET}\n")
    texts["config"] = own.read_text(encoding="utf-8") + address
    for place, text in texts.items():
        file = worktree / ".git" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.parent.name in {"vendor", "deep", "inner", "other"}:
            (file.parent / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    outcome = run(walled, Box(worktree=worktree), ["cat", *(f".git/{place}" for place in PLACES)])
    assert SECRET not in outcome.output
    # Landlock cannot show a cleaned copy in its place, so it shows nothing.
    assert ("repositoryformatversion" in outcome.output) == (walled is BackendName.BUBBLEWRAP)
    assert own.read_text(encoding="utf-8") == texts["config"]
