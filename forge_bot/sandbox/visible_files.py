"""The folders and environment that one command sees, the same for every backend; and places in a
work tree that it may read but not change: folders, files, links, and paths that do not exist yet.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox.box import Box
from forge_bot.sandbox.git_folders import private_parts, texts_in, without_secrets
from forge_bot.sandbox.setup_network import (
    NetworkPolicy,
    machine_policy,
    named_places,
    registry_places,
)
from forge_bot.sandbox.toolchains import ROOTS, Registries, Tools, find_tools, registries

USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_ETC = Path("/etc")
_ALWAYS_PRIVATE = ("environment", "netrc")
_OFTEN_WITH_PASSWORDS = ("pip.conf", "npmrc", "gitconfig", "uv/uv.toml", "apt/auth.conf")


@dataclass(frozen=True)
class VisibleFiles:
    """Everything about a command except the command itself."""

    worktree: Path
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    hidden: tuple[Path, ...]
    """Private files and folders inside readable ones."""
    replaced: dict[Path, Path]
    """Files that hold secrets, each with a copy that does not."""
    temporary: Path
    """An empty folder of the host for the command's temporary files, deleted afterwards."""
    env: dict[str, str]
    policy: NetworkPolicy | None
    """The permitted connections of a box with network."""


@contextmanager
def visible_files(box: Box, temporary_seen: str | None = None) -> Generator[VisibleFiles]:
    """Prepare a box.

    `temporary_seen` is the place where the command sees its temporary folder, if it is another
    place.
    """
    worktree = box.worktree.resolve()
    if not worktree.is_dir():
        raise SandboxFailed(
            f"The work tree {box.worktree} is not a folder.",
            hint="Check the path, or start the run again.",
        )
    if worktree == Path.home() or worktree in Path.home().parents:
        raise SandboxFailed(
            f"{worktree} is or holds a home folder; its keys would be open to the command.",
            hint=(
                "Keep the project in a folder of its own, or leave --here out: a run then uses "
                "a work tree elsewhere."
            ),
        )
    host = Path(tempfile.mkdtemp(prefix="forge-box-"))
    try:
        temporary, copies = host / "tmp", host / "copies"
        (temporary / "home").mkdir(parents=True)
        copies.mkdir()
        yield _view(box, worktree, temporary, copies, temporary_seen or str(temporary))
    finally:
        _remove(host)


def _view(box: Box, worktree: Path, temporary: Path, copies: Path, seen: str) -> VisibleFiles:
    writable = _existing(box.writable, make=True)
    readable = _existing(box.readable, make=False)
    fetching = registries(os.environ, Path.home()) if box.network else Registries({}, {}, ())
    for place, text in fetching.files.items():
        file = temporary / "home" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for name, folder in box.copied.items():
        if folder.is_dir():
            shutil.copytree(folder, temporary / name, symlinks=True)
    path = box.env.get("PATH") or os.environ.get("PATH") or USUAL_PATH
    tools = find_tools(path, (*ROOTS, worktree, *writable, *readable))
    home = f"{seen}/home"
    private, cleaned = private_parts(
        [folder for folder in (worktree / ".git", *readable) if (folder / "HEAD").is_file()]
    )
    places = fetching.places | registry_places({**box.env, **box.secret_env}, ())
    places |= named_places(box.hosts)
    return VisibleFiles(
        worktree=worktree,
        readable=tuple(dict.fromkeys((*tools.readable, *fetching.readable, *readable))),
        writable=writable,
        hidden=(*_private_in_etc(), *private),
        replaced=_copies(_with_passwords() | cleaned, copies),
        temporary=temporary,
        env=_clean(home, seen) | _declare_variables(box, tools, fetching, seen),
        policy=machine_policy(places, box.env) if box.network else None,
    )


def _declare_variables(box: Box, tools: Tools, fetching: Registries, seen: str) -> dict[str, str]:
    """Return the variables of a box's tools, registries, copied folders and own environment."""
    rust = {
        name: value
        for name, value in tools.env.items()
        if not (box.network and name == "CARGO_HOME")
    }
    copied = {name: f"{seen}/{name}" for name in box.copied}
    return {**rust, **fetching.env, **copied, **box.env, **box.secret_env, "PATH": tools.path}


def _clean(home: str, temporary: str) -> dict[str, str]:
    """Return the whole environment of a command that declares nothing.

    Of our own variables it has only the language and the name of the terminal.
    """
    kept = {"TERM": os.environ["TERM"]} if "TERM" in os.environ else {}
    return {
        **kept,
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": os.environ.get("LANG") or "C.UTF-8",
        "CI": "true",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        # Names of tests that pytest makes of a set depend on it, and both commits are compared.
        "PYTHONHASHSEED": "0",
    }


def _existing(folders: tuple[Path, ...], *, make: bool) -> tuple[Path, ...]:
    """Return the folders by their given name, and by their real one if a link is on the way."""
    places: list[Path] = []
    for folder in folders:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            places += [folder.absolute(), folder.resolve()]
    return tuple(dict.fromkeys(places))


def _copies(texts: dict[Path, str], folder: Path) -> dict[Path, Path]:
    placed: dict[Path, Path] = {}
    for number, (place, text) in enumerate(texts.items()):
        placed[place] = folder / str(number)
        placed[place].write_text(text, encoding="utf-8")
    return placed


def _remove(folder: Path) -> None:
    """Delete a folder whose write permission the command may have removed.

    Go's module cache does that.
    """
    for parent, folders, _ in os.walk(folder):
        for inner in (Path(parent) / name for name in folders):
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _private_in_etc() -> tuple[Path, ...]:
    """Return the topmost files and folders under /etc that only some users may read.

    We must be one of these users; root may read all of them.
    """
    return tuple(_not_for_everyone(_ETC))


def _not_for_everyone(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        needed = stat.S_IROTH | stat.S_IXOTH if is_folder else stat.S_IROTH
        always = folder == _ETC and entry.name in _ALWAYS_PRIVATE
        if always or (
            entry.stat(follow_symlinks=False).st_mode & needed != needed
            and os.access(entry.path, os.R_OK)
        ):
            yield Path(entry.path)
        elif is_folder:
            yield from _not_for_everyone(Path(entry.path))


def _with_passwords() -> dict[Path, str]:
    """Return the visible settings of this machine with secrets, each with its text without them."""
    return {
        file: clean
        for file, text in texts_in(_ETC, _OFTEN_WITH_PASSWORDS)
        if (clean := without_secrets(text)) != text
    }


@dataclass(frozen=True)
class Protected:
    """The mounts that protect each place."""

    locked: tuple[Path, ...]
    """Bound read-only."""
    pinned: tuple[Path, ...]
    """Folders on the way: bound onto themselves, since a mount point cannot be renamed."""


@contextmanager
def remove_new_files(worktree: Path, names: Sequence[str]) -> Generator[tuple[str, ...]]:
    """Yield the names that exist in the work tree; afterwards remove the others if they exist now.

    An empty folder in their place, as for covered places, would mislead tools that expect a file.
    """
    # Plain text: hundreds of names are looked for, before and after each command.
    there = tuple(name for name in names if os.path.lexists(f"{worktree}/{name}"))
    absent = {*names}.difference(there)
    try:
        yield there
    finally:
        new = [name for name in absent if os.path.lexists(f"{worktree}/{name}")]
        for place in (worktree / name for name in new):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)


def with_targets(worktree: Path, entries: Sequence[str]) -> tuple[Path, ...]:
    """Return the protected places and, for links, also their targets inside the work tree."""
    places: list[Path] = []
    todo = [worktree / entry for entry in entries]
    while todo:
        place = todo.pop()
        if place not in places:
            places.append(place)
            real = place.resolve()
            todo += [real] if real.is_relative_to(worktree) and real != worktree else []
    return tuple(sorted(places))


def split_around(folder: Path, left_out: Sequence[Path]) -> Iterator[Path]:
    """Yield the fewest files and folders that make up `folder` without some places in it.

    Links are left out: they lead elsewhere.
    """
    above = {parent for place in left_out for parent in place.parents}
    todo = [folder]
    while todo:
        place = todo.pop()
        if place in left_out:
            continue
        if place not in above:
            yield place
        elif place.is_dir():
            todo += [child for child in place.iterdir() if not child.is_symlink()]


@contextmanager
def protected_mounts(worktree: Path, entries: Sequence[str]) -> Generator[Protected]:
    """Prepare the places for mounts: for one that is missing an empty folder is made. Afterwards
    remove these, and restore replaced links.
    """
    places = with_targets(worktree, entries)
    # Nothing can be mounted over a link itself; it is checked when the command has ended.
    links = {place: place.readlink() for place in places if place.is_symlink()}
    made: list[Path] = []
    for step in [step for place in places for step in (*reversed(place.parents), place)]:
        inside = step.is_relative_to(worktree) and step.parent.resolve() == step.parent
        if inside and not os.path.lexists(step) and step.parent.is_dir():
            step.mkdir()
            made.append(step)
    locked = [place for place in places if place not in links and place.exists()]
    above = dict.fromkeys(parent for place in locked for parent in place.parents)
    pinned = [folder for folder in above if folder.is_relative_to(worktree) and folder != worktree]
    try:
        yield Protected(tuple(locked), tuple(pinned))
    finally:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        for link, target in links.items():
            _put_back(link, target)


def _put_back(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    else:
        link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
