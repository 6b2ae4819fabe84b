"""Attacks from inside a box. Each one works without walls, so each of these tests can fail."""

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from tests.fakes.rows import rows
from tests.sandbox.scene import SECRET, Attempt, World, project

ROWS = rows(__file__)

# Prints DONE when it worked; what stops it is its own affair. The world is in the variables.
ATTACKS = ROWS["attacks"]
# Each attack in a child of its own, so that none spoils another; the names of those that worked are
# the output.
ATTACKER: str = ROWS["attacker"]
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
