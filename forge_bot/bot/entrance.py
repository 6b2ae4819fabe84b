"""`forge-bot work`: one step of a workflow, from the gate's word to the exit code. State, comment, summary and exit code say the same."""

import base64
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType

from forge_bot.bot.away import Away
from forge_bot.bot.beginning import find_or_begin
from forge_bot.bot.receiving import received, run_of
from forge_bot.bot.speech import Commands, Links, Reply, short_summary, summary
from forge_bot.bot.supervisor import Ended, Supervisor
from forge_bot.bot.surroundings import Surroundings, read_surroundings
from forge_bot.bot.troubles import reply_to
from forge_bot.bot.wall import Wall, handed
from forge_bot.checkout import Repository, clone_repository
from forge_bot.errors import ForgeError
from forge_bot.gate import outputs
from forge_bot.github_api import GitHub, PyGitHub
from forge_bot.runs.find import RunInfo, choose
from forge_bot.runs.run import Run
from forge_bot.runs.session import Outcome
from forge_bot.settings import load_config, state_home

_NO_COMMIT = "0" * 40


def work(environ: Mapping[str, str] = os.environ) -> int:
    """Wake up, carry the run on, and say how it ended; the exit code."""
    return _supervised(environ, None, None)


def publish(folder: Path | None, *, last: bool = False, environ: Mapping[str, str] = os.environ) -> int:
    """The same without a worker on this machine: take in what another one left in the folder, and hand over what one has to do next."""
    return _supervised(environ, Wall(last=last), folder)


def deliver(folder: Path, environ: Mapping[str, str] = os.environ) -> int:
    """The worker's part on a machine of its own: what was handed over is done and lies in the folder. Who publishes says how it ended."""
    around, _ = read_surroundings(environ)
    wanted = handed(environ)
    _hide_token(around)
    away = Away(_repository(around), around, environ)
    with _stopped_by_signals(away.cancel):
        told = away.deliver(wanted, folder)
    outputs.notice(f"delivered: {told.head[:12]} of {wanted.branch}")
    return 0


def _supervised(environ: Mapping[str, str], wall: Wall | None, folder: Path | None) -> int:
    around, inputs = read_surroundings(environ)
    _hide_token(around)
    with PyGitHub(around.repository, around.token, around.api) as github:
        commands = Commands(prefix=inputs.prefix, short=inputs.bare)
        links = Links(repository=around.url, commit=_NO_COMMIT, workspace=".specs", job=around.run_url)
        try:
            repository = _repository(around)
            config = load_config(repository.text_here)
            supervisor = Supervisor(repository, config, github, around, inputs, environ=environ, wall=wall)
            with _stopped_by_signals(supervisor.cancel):
                info, ended = (find_or_begin(supervisor), None) if folder is None else _taken_in(supervisor, folder, environ)
                outcome, reply = ended or ((Outcome.DONE, None) if info is None else supervisor.carry_on(info))
        except ForgeError as error:
            reply = reply_to(error, links, commands)
            outcome, info, supervisor = Outcome(error.exit_code), None, None
        return _ended(around, github, supervisor, info, outcome, reply)


def _taken_in(supervisor: Supervisor, folder: Path, environ: Mapping[str, str]) -> tuple[RunInfo, Ended | None]:
    wanted = handed(environ)
    info = run_of(supervisor, wanted)
    try:
        return info, received(supervisor, info, wanted, folder)
    except ForgeError as error:
        reply = reply_to(error, supervisor.desk.links(info), supervisor.commands, info.branch)
        return info, (Outcome(error.exit_code), reply)


def _hide_token(around: Surroundings) -> None:
    """Let git use the token for this server only, and keep other processes of this user from reading it out of ours."""
    basic = base64.b64encode(f"x-access-token:{around.token}".encode()).decode()
    os.environ.update(
        {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{around.server}/.extraheader",
            "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {basic}",
        }
    )
    _undumpable()


def _undumpable() -> None:
    """prctl(PR_SET_DUMPABLE, 0), prctl(2): /proc/PID/environ and memory of this process are closed to others of the same user."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def _repository(around: Surroundings) -> Repository:
    """A clone of our own, and in it a tree at the default branch's newest commit: configuration, pipelines and prompts are read from there.

    What is checked out in the workspace is nothing to us: it may be shallow, another branch, or not there.
    """
    cloned = clone_repository(f"{around.url}.git", state_home() / "repositories" / around.repository)
    default = cloned.default_branch() or "main"
    tip = cloned.commit_id(f"refs/remotes/origin/{default}")
    return Repository.find(cloned.detached_tree(state_home() / "default-branch" / around.repository, tip).path)


class _stopped_by_signals:  # noqa: N801 - used like a function, in a `with`
    """Calls `stop` on SIGINT and SIGTERM, which is how a job is cancelled (the runner sends the first, and the second 7.5 s later)."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: dict[int, object] = {}

    def __enter__(self) -> None:
        def stop(_number: int, _frame: FrameType | None) -> None:
            self._stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, stop)

    def __exit__(self, *error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # pyright: ignore[reportArgumentType] - what signal() itself gave back


def _ended(
    around: Surroundings, github: GitHub, supervisor: Supervisor | None, info: RunInfo | None, outcome: Outcome, reply: Reply | None
) -> int:
    """The last words: in the tracking comment where there is a run, in the thread where there is none, in the summary always."""
    text, pull = short_summary(reply) if reply is not None else "", ""
    if supervisor is not None and info is not None:
        run = _look(supervisor, info)
        if run is not None:
            view = supervisor.desk.view(run, reply)
            with suppress(ForgeError):
                supervisor.desk.track(view)
            text, pull = summary(view), run.state.pull_request
    elif reply is not None:
        with suppress(ForgeError):
            github.comment(around.wake.issue, reply.comment())
    if around.summary is not None and text:
        outputs.write_summary(str(around.summary), text)
    if around.outputs is not None:
        branch = info.branch if info is not None else ""
        handed_over = supervisor.wall.handed if supervisor is not None and supervisor.wall is not None else None
        told = {
            "outcome": outcome.name.lower() if handed_over is None else "working",
            "issue": str(around.wake.issue),
            "branch": branch,
            "pull-request": pull,
        }
        told |= {"handed": handed_over.model_dump_json()} if handed_over is not None else {}
        outputs.write_outputs(str(around.outputs), told)
    if reply is not None and outcome is not Outcome.DONE:
        outputs.error(reply.headline)
    return _exit_code(outcome)


def _look(supervisor: Supervisor, info: RunInfo) -> Run | None:
    with suppress(ForgeError), supervisor.opened(choose(supervisor.repository, info.branch)) as run:
        return run
    return None


def _exit_code(outcome: Outcome) -> int:
    """A job is red where something failed. Waiting for a person is no failure, nor is an end that a person wanted."""
    return 0 if outcome in {Outcome.DONE, Outcome.WAITING, Outcome.BUDGET, Outcome.ABANDONED} else int(outcome)
