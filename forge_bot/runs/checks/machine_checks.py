"""What this machine lacks for a run: programs, room on the disk, the right time."""

import os
import shutil
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from forge_bot.errors import NoTestCommand
from forge_bot.knowledge import ENV, Profile
from forge_bot.runs.checks.check import PreflightFinding
from forge_bot.runs.project import check_testable
from forge_bot.settings import Config

LEAST_FREE = 200_000_000
"""Bytes a file system must have free where a run writes: less does not hold a work tree and its tools."""

_FAR = timedelta(days=1)
_MEGABYTE = 1_000_000


def command_findings(profile: Profile, config: Config, files: Collection[str]) -> Iterator[PreflightFinding]:
    """No test command, and programs that the commands start and nobody has."""
    try:
        check_testable(profile, config)
    except NoTestCommand as error:
        yield PreflightFinding(what="tests", weight="refuse", sentence=error.message, way_out=error.advice)
    if not profile.commands.test and config.commands.test is not None:
        sentence = "There are no tests to verify with, as the configuration says."
        yield PreflightFinding(what="tests", weight="warn", sentence=sentence, way_out="Set commands.test when there are some.")
    for program in _missing(profile, config, files):
        sentence = f"{program} is not installed, and a command of this repository needs it."
        way_out = f"install {program}, or change the command in .forge/config.yml"
        yield PreflightFinding(what=f"tool {program}", weight="refuse", sentence=sentence, way_out=way_out)


def _missing(profile: Profile, config: Config, files: Collection[str]) -> list[str]:
    commands = profile.commands
    every = (*commands.setup, *commands.build, *commands.test, *commands.lint)
    programs = dict.fromkeys(command.argv[0] for command in every if not command.argv[0].startswith(ENV))
    path = config.environment.get("PATH") or os.environ.get("PATH")
    # A program named by its path is the repository's own; if it is not committed, setup or build may still make it.
    made = bool(commands.setup or commands.build)
    own = [program for program in programs if "/" in program and not program.startswith("/")]
    absent = [program for program in own if not made and os.path.normpath(program) not in files]
    return [*(program for program in programs if program not in own and shutil.which(program, path=path) is None), *absent]


def disk_findings(places: Collection[Path], least: int = LEAST_FREE) -> Iterator[PreflightFinding]:
    """A refusal for each file system with less than `least` bytes free; a folder that is not there yet counts as its parent."""
    seen: set[int] = set()
    for place in places:
        folder = next(each for each in (place, *place.absolute().parents) if each.is_dir())
        if folder.stat().st_dev in seen:
            continue
        seen.add(folder.stat().st_dev)
        free = shutil.disk_usage(folder).free
        if free < least:
            sentence = f"Only {free // _MEGABYTE} MB are free for {folder}; a run needs {least // _MEGABYTE} MB."
            way_out = "Make room there, or set XDG_STATE_HOME to a folder with more."
            yield PreflightFinding(what="disk space", weight="refuse", sentence=sentence, way_out=way_out)


def clock_findings(committed_at: datetime, at: datetime) -> Iterator[PreflightFinding]:
    """A warning when the newest commit is dated more than a day after the present time."""
    if committed_at - at > _FAR:
        sentence = f"The newest commit is dated {committed_at:%Y-%m-%d %H:%M} UTC, and this machine's clock says {at:%Y-%m-%d %H:%M} UTC."
        way_out = "Set the clock: names and commits of the run carry its date."
        yield PreflightFinding(what="clock", weight="warn", sentence=sentence, way_out=way_out)
