"""Time, memory, processes, file sizes and output: what a command may use up, and that nothing of it
stays behind.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits
from tests.fakes.processes import below
from tests.sandbox.scene import Attempt

MANY = """
import os, time
for _ in range({count}):
    if os.fork() == 0: time.sleep(60); os._exit(0)
print('ALL STARTED', flush=True); {then}
"""
RESERVED = """
import mmap, time
NO_RESERVE = 0x4000
reserved = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
time.sleep(0.3)
"""


def alive(marker: str) -> list[str]:
    """Processes of this machine with a word in their command line."""
    return [
        process.name for process in Path("/proc").glob("[0-9]*") if marker in _command_line(process)
    ]


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def shell(backend: BackendName, worktree: Path, script: str, **limits: float) -> CommandOutcome:
    return run(
        backend,
        Box(worktree=worktree, limits=ResourceLimits.model_validate(limits)),
        ["sh", "-c", script],
    )


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(
    backend: BackendName, worktree: Path
) -> None:
    marker = f"60.{os.getpid()}1"
    outcome = shell(
        backend,
        worktree,
        f"setsid sleep {marker} >/dev/null 2>&1 & echo begun; sleep {marker}",
        seconds=2,
    )
    assert (outcome.exit_code, outcome.timed_out) == (124, True)
    assert outcome.output == "begun\n\n[ended after 2 seconds]\n"
    assert 2000 <= outcome.duration_ms < 30_000
    assert alive(marker) == []


def test_a_command_can_be_called_off_from_another_thread(
    backend: BackendName, worktree: Path
) -> None:
    marker, called_off, outcomes = f"60.{os.getpid()}3", threading.Event(), list[CommandOutcome]()
    words = ["sh", "-c", f"touch src/begun; sleep {marker}"]
    thread = threading.Thread(
        target=lambda: outcomes.append(
            run(backend, Box(worktree=worktree), words, called_off=called_off)
        )
    )
    thread.start()
    wait_until(lambda: not thread.is_alive() or (worktree / "src" / "begun").exists())
    called_off.set()
    thread.join(30)
    assert [(outcome.exit_code, outcome.timed_out, outcome.output) for outcome in outcomes] == [
        (130, False, "\n[called off]\n")
    ]
    assert alive(marker) == []


def test_a_command_that_is_ended_by_a_signal_says_so(backend: BackendName, worktree: Path) -> None:
    for number, ending in {9: 137, 15: 143, 11: 139, 0: 3}.items():
        outcome = shell(backend, worktree, f"echo begun; kill -{number} $$; exit 3")
        assert outcome.exit_code == ending


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_processes_of_a_box_is_told_of_and_leaves_none(
    backend: BackendName, worktree: Path, number: signal.Signals
) -> None:
    marker, outcomes = f"61.{os.getpid()}{number:d}", list[CommandOutcome]()
    script = f"touch src/begun; exec sleep {marker}"
    thread = threading.Thread(target=lambda: outcomes.append(shell(backend, worktree, script)))
    thread.start()
    wait_until(lambda: not thread.is_alive() or (worktree / "src" / "begun").exists())
    for each in below(os.getpid()):
        words = _command_line(Path(f"/proc/{each}"))
        if marker in words or "helper_processes" in words:
            with suppress(ProcessLookupError):
                os.kill(each, number)
    thread.join(30)
    (outcome,) = outcomes
    # The keeper of bubblewrap's group ends what is left of it for certain.
    assert outcome.exit_code in {128 + number, 128 + signal.SIGKILL}
    assert alive(marker) == []


RUN = (
    "import sys; from pathlib import Path; from forge_bot.sandbox.backends import run\n"
    "from forge_bot.sandbox.box import BackendName, Box\n"
    "run(BackendName(sys.argv[1]), Box(worktree=Path(sys.argv[2])), ['sh', '-c', sys.argv[3]])"
)


@pytest.mark.slow
def test_a_kill_while_the_box_is_made_leaves_no_process(
    bubblewrap: BackendName, worktree: Path
) -> None:
    """The moments of the kill: bwrap has just started, its child exists, the command waits for its
    limits.
    """
    marker = f"60.{os.getpid()}5"
    for processes in (1, 2, 2):
        with subprocess.Popen(
            [sys.executable, "-c", RUN, bubblewrap, worktree, f": {marker}; sleep 60"]
        ) as process:
            wait_until(partial(seen_or_over, process, marker, processes))
            process.kill()
    wait_until(lambda: not boxes(marker))


def seen_or_over(process: "subprocess.Popen[bytes]", marker: str, count: int) -> bool:
    return process.poll() is not None or len(boxes(marker)) >= count


def boxes(marker: str) -> list[str]:
    """Processes of bwrap, by a word in their command lines."""
    return [
        pid
        for pid in alive(marker)
        if _command_line(Path("/proc") / pid).split("\0")[0].endswith("bwrap")
    ]


def test_nothing_outlives_us_when_we_are_killed(backend: BackendName, worktree: Path) -> None:
    marker = f"60.{os.getpid()}4"
    script = f"setsid sleep {marker} & touch src/begun; sleep {marker}"
    process = subprocess.Popen([sys.executable, "-c", RUN, backend, worktree, script])
    wait_until(lambda: process.poll() is not None or (worktree / "src" / "begun").exists())
    process.kill()
    process.wait()
    wait_until(lambda: not alive(marker))


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again for half a minute; what is waited for comes from other processes."""
    until = monotonic() + 30
    while not true():
        assert monotonic() < until
        threading.Event().wait(0.01)


def test_memory_of_all_processes_together_is_bounded(
    backend: BackendName, attempt: Attempt
) -> None:
    hog = "import os, time\nfor _ in range(3): os.fork()\nx = bytearray(40 << 20); time.sleep(60)"
    outcome = attempt(backend, hog, limits=ResourceLimits(memory_bytes=200 << 20, seconds=50))
    assert outcome.exit_code == 137
    assert outcome.output.endswith("[ended for using more than 200 MiB of memory]\n")


def test_memory_that_forked_processes_share_counts_once(
    walled: BackendName, attempt: Attempt
) -> None:
    share = "import os, time\nx = b'x' * (90 << 20)\nfor _ in range(2): os.fork()\ntime.sleep(1)"
    limits = ResourceLimits(memory_bytes=200 << 20)
    assert attempt(walled, share, limits=limits).exit_code == 0


def test_memory_that_is_only_reserved_does_not_count(walled: BackendName, attempt: Attempt) -> None:
    limits = ResourceLimits(memory_bytes=200 << 20)
    assert attempt(walled, RESERVED, limits=limits).exit_code == 0


FILLER = """
for number in range(4):
    with open(f'/dev/shm/{number}', 'wb') as file:
        for _ in range(50): file.write(bytes(1 << 20))
"""


def test_shared_memory_is_bounded_in_all_its_files_together_and_gone_afterwards(
    bubblewrap: BackendName, attempt: Attempt
) -> None:
    outcome = attempt(bubblewrap, FILLER, limits=ResourceLimits(shared_memory_bytes=60 << 20))
    assert outcome.exit_code == 1
    assert "No space left on device" in outcome.output
    assert attempt(bubblewrap, "import os; print(os.listdir('/dev/shm'))").output == "[]\n"


def test_a_command_that_asks_to_be_traced_and_stops_is_ended_as_any_other(
    backend: BackendName, attempt: Attempt
) -> None:
    code = (
        "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.execv('/bin/echo', ['echo'])"
    )
    outcome = attempt(backend, code, limits=ResourceLimits(seconds=0.5))
    # Bubblewrap ends it at once; otherwise it stands still until its time is over.
    assert outcome.exit_code in {255, 124}, outcome.output


def test_more_processes_than_allowed_end_the_command(
    backend: BackendName, attempt: Attempt
) -> None:
    outcome = attempt(
        backend,
        MANY.format(count=120, then="time.sleep(60)"),
        limits=ResourceLimits(processes=60, seconds=50),
    )
    assert outcome.exit_code == 137
    assert outcome.output.endswith("[ended for running more than 60 processes at a time]\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="the kernel does not count the processes of root")
def test_threads_are_bounded_by_the_kernel_at_eight_for_each_process(
    bubblewrap: BackendName, attempt: Attempt
) -> None:
    code = (
        "import threading\nstarted = 0\ntry:\n    for started in range(1_000):"
        " threading.Thread(target=threading.Event().wait, daemon=True).start()\nexcept RuntimeError"
        " as error: print(started, error)"
    )
    started, _, words = attempt(
        bubblewrap, code, limits=ResourceLimits(processes=20)
    ).output.partition(" ")
    assert words == "can't start new thread\n"
    assert 100 < int(started) <= 160


def test_no_file_grows_beyond_its_limit(walled: BackendName, worktree: Path) -> None:
    outcome = shell(
        walled, worktree, "head -c 3000000 /dev/zero > src/big; echo $?", file_bytes=1_000_000
    )
    assert outcome.output.splitlines()[-1] != "0"
    assert (worktree / "src" / "big").stat().st_size == 1_000_000


def test_a_flood_of_output_keeps_its_head_and_its_tail(walled: BackendName, worktree: Path) -> None:
    outcome = shell(
        walled, worktree, "echo first; yes | head -c 20000000; echo last", output_bytes=10_000
    )
    assert outcome.exit_code == 0
    assert outcome.output.startswith("first\ny\n")
    assert outcome.output.endswith("y\nlast\n")
    assert "\n[… 19990011 bytes left out …]\n" in outcome.output
    assert len(outcome.output) < 10_100


def test_a_box_goes_before_anything_of_the_users_when_memory_is_short(
    walled: BackendName, worktree: Path
) -> None:
    assert shell(walled, worktree, "cat /proc/self/oom_score_adj").output == "1000\n"
