"""The parts of Go's standard library that are compiled once, for all runs of this machine.

Only our own process writes the folder: it lets Go compile a module of our own that imports these
parts, in a box without any file of the project. A run gets a copy, so no project's code changes
what another run is given. Go looks up what it compiled by the inputs and by its own version, so a
part that fits nothing is only never used.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from forge_bot.errors import RunBusy, WriteFailed
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.process_signals import this_process
from forge_bot.sandbox.box import Box, CommandOutcome, ResourceLimits
from forge_bot.sentences import say
from forge_bot.settings import state_home
from forge_bot.store import held, write_whole

GO_CACHE = "GOCACHE"
_MOST_VERSIONS = 2
"""Versions of Go whose parts are kept."""
_MOST_PACKAGES = 400
"""Packages of one project; the standard library has fewer."""
_CHANGES_GO = ("GO", "CGO_", "CC", "CXX", "PATH")
"""First letters of variables that change what Go compiles, or which Go it is."""
_IMPORTS = re.compile(
    r"^import\s*(?:\((?P<many>[^()]*)\)|(?:[\w.]+\s+)?\"(?P<one>[^\"\n]+)\")", re.MULTILINE
)
_QUOTED = re.compile(r"\"(?P<name>[^\"\n]+)\"")
_PACKAGE = re.compile(r"[a-z0-9]+(?:/[a-z0-9]+)*")
_NEEDED = ("testing",)
_NO_IMPORTS = frozenset({"internal", "vendor", "cmd"})
_LISTED, _CACHE = "packages", "cache"

Run = Callable[[Box, Sequence[str]], CommandOutcome]


def imported(texts: Iterable[str]) -> frozenset[str]:
    """Return the packages that files of Go import."""
    found: set[str] = set()
    for text in texts:
        for match in _IMPORTS.finditer(text):
            inside = _QUOTED.finditer(match["many"] or "")
            found |= {match["one"]} if match["one"] else {each["name"] for each in inside}
    return frozenset(found)


def fits(environment: Mapping[str, str]) -> bool:
    """Return whether a project leaves Go as it is: with other options its parts are other ones."""
    return not any(name.startswith(_CHANGES_GO) for name in environment)


def kept_parts(version: str) -> Path:
    """Return the folder with the parts that Go compiled, by what `go version` says of itself."""
    mark = hashlib.sha256(version.strip().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state_home() / "go-build" / mark


def give_parts(
    compiled: Path, wanted: Collection[str], seconds: float, run: Run, tell: Notify
) -> None:
    """Fill a run's folder of what Go compiled with the parts that its project imports, compiled now
    if this machine does not have them. Where that fails, the project's own commands compile them.

    Raises Interrupted.
    """
    half = compiled.with_name(f"{compiled.name}.part")
    try:
        tree = _own_module(half)
        said = run(_box(tree, tree, seconds), ("go", "version"))
        if said.exit_code:
            return
        kept = kept_parts(said.output)
        plain = sorted(filter(_PACKAGE.fullmatch, wanted))[:_MOST_PACKAGES]
        if lacking := {*plain, *_NEEDED} - _listed(kept):
            with suppress(RunBusy), held(kept / "lock", "what Go compiled", this_process()):
                _compile(kept, tree, lacking, seconds, run, tell)
        shutil.rmtree(half)
        # With new times: Go removes what it has not used for some days. What another process is
        # writing meanwhile does not have the size that Go wrote down, so Go does not use it.
        shutil.copytree(kept / _CACHE, half, copy_function=shutil.copyfile)
        half.rename(compiled)
        _leave_newest(kept)
    except (OSError, shutil.Error, WriteFailed):
        return
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _own_module(tree: Path) -> Path:
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    (tree / "go.mod").write_text("module parts\n", encoding="ascii")
    return tree


def _box(tree: Path, cache: Path, seconds: float) -> Box:
    """Return a box with our own module and nothing of a project."""
    return Box(
        worktree=tree,
        writable=(cache,) if cache != tree else (),
        env={GO_CACHE: str(cache), "GOTOOLCHAIN": "local", "GOFLAGS": ""},
        limits=ResourceLimits(seconds=seconds),
    )


def _listed(kept: Path) -> set[str]:
    try:
        return {*(kept / _LISTED).read_text("ascii").split()} if (kept / _CACHE).is_dir() else set()
    except (OSError, ValueError):
        return set()


def _compile(
    kept: Path, tree: Path, names: Collection[str], seconds: float, run: Run, tell: Notify
) -> None:
    """Let Go compile those packages that its standard library has, and test a module that imports
    them. None of the names is tried again.
    """
    box = _box(tree, kept / _CACHE, seconds)
    known = {*run(box, ("go", "list", "std")).output.split()}
    known = {name for name in known if _NO_IMPORTS.isdisjoint(name.split("/"))}
    # The earlier ones too: Go removes what it has not used for some days.
    chosen = sorted(known.intersection({*names, *_listed(kept)}))
    if new := known.intersection(names):
        tell(Message(text=say("runs.compiled_go.once_for_this_machine", count=len(new))))
        imports = "".join(f'import _ "{name}"\n' for name in chosen if name != "testing")
        test = (
            f'package parts\n\n{imports}import "testing"\n\nfunc TestNothing(t *testing.T) {{}}\n'
        )
        (tree / "parts_test.go").write_text(test, encoding="ascii")
        if run(box, ("go", "test", ".")).timed_out:
            return
    write_whole(kept / _LISTED, "\n".join(sorted(_listed(kept) | {*names})))


def _leave_newest(kept: Path) -> None:
    """Remove the parts of versions of Go that were not used for the longest time."""
    with suppress(OSError):
        os.utime(kept)
        others = sorted(kept.parent.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
        for folder in [each for each in others if each != kept][_MOST_VERSIONS - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)
