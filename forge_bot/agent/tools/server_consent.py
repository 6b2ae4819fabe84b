"""The yes that a person gives to the servers of a repository before one is started.

It is bound to a digest of the definition of all servers, of what the policy lets them do, and of
the bytes of their programs that lie in the repository. Values of variables are no part of it.

The agents of a run change its work tree. So whatever a server's configuration names below that tree
is taken from a folder with the base commit's files; the tree as a whole stays the one at work.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_catalogue import Declined
from forge_bot.agent.tools.setup import TREE, CapabilitySetup, resolved, texts_of
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig

_BETWEEN = re.compile(r"[\s'\"=:;,|&()<>]+")
_LEFT_OUT = frozenset({".git", "__pycache__"})
_GRANTS = {"allow", "ask", "deny", "network"}


def require_yes(setup: CapabilitySetup) -> None:
    """Raise Declined where no person has said yes to the servers as they are now."""
    if setup.agreed is not None and servers_digest(setup) not in setup.agreed:
        why = (
            "No server is started: nobody has said yes to the servers of this repository as they"
            " are now. `forge-bot capabilities approve` shows them and asks."
        )
        raise Declined(ResultStatus.DENIED, why)


def servers_digest(setup: CapabilitySetup) -> str:
    """Return a sha256 of everything that a yes to the servers is a yes to."""
    agreed = [
        {name: server.model_dump(mode="json") for name, server in setup.servers.items()},
        setup.policy.model_dump(mode="json", include=_GRANTS),
        setup.sandbox,
        {name: program_digests(setup, server) for name, server in setup.servers.items()},
    ]
    return hashlib.sha256(json.dumps(agreed, sort_keys=True).encode()).hexdigest()


def program_digests(
    setup: CapabilitySetup, server: MCPServerConfig | MCPHttpServerConfig
) -> dict[str, str]:
    """Return a sha256 of each file of the repository that a program is made of, by its name."""
    if isinstance(server, MCPHttpServerConfig):
        return {}
    texts = [*texts_of(server)]
    if "/" not in server.command and (program := shutil.which(server.command)):
        texts.append(program)
    files = {
        str(file.relative_to(top)): file
        for text in texts
        for place, top in _find_named_files(setup, text)
        for file in _files_beside(place, top)
    }
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(files.items())
    }


def _find_named_files(setup: CapabilitySetup, text: str) -> Iterator[tuple[Path, Path]]:
    """Yield the files and folders of the repository that a text names, also as a module, each with
    the folder that it counts from.
    """
    folder = folder_of(setup)
    tops = [top.resolve() for top in (folder, setup.base or setup.tree, setup.repository) if top]
    # Only the default of another variable is known before it is read.
    whole = resolved(text, {TREE: str(setup.tree)})
    for word in {whole, *_BETWEEN.split(whole)}:
        module = word.replace(".", "/")
        for name in (word, module, f"{module}.py"):
            # Agents cannot change what is there at the base commit; nothing else is started.
            for place in (folder / as_placed(setup, name), setup.root / name):
                top = _top_of(place, tops)
                if top is not None:
                    yield place.resolve(), top
                    break


def _top_of(place: Path, tops: Sequence[Path]) -> Path | None:
    """Return the folder of the repository that a file or folder is in; None for it itself."""
    # A name may be too long for a path, or have a NUL.
    try:
        place = place.resolve()
        if place in tops or not place.exists():
            return None
    except (OSError, ValueError):
        return None
    return next((top for top in tops if place.is_relative_to(top)), None)


def _files_beside(place: Path, top: Path) -> Iterator[Path]:
    """Yield a program's file with those it may load: all in its folder and below. Directly in the
    repository's own folder these are only the files of the same kind.
    """
    folder = place if place.is_dir() else place.parent
    loaded = top.glob(f"*{place.suffix}") if folder == top else folder.rglob("*")
    yield from (
        file for file in (place, *loaded) if file.is_file() and not _LEFT_OUT & {*file.parts}
    )


def folder_of(setup: CapabilitySetup) -> Path:
    top, tree = setup.root.resolve(), setup.tree.resolve()
    if setup.base is not None and top.is_relative_to(tree):
        return setup.base / top.relative_to(tree)
    return top


def as_placed(setup: CapabilitySetup, text: str, *, searched: bool = False) -> str:
    """Return a text without placeholders, with what it names below the run's tree as it was at the
    base commit. In a variable that is `searched` for programs the tree itself is too.
    """
    if setup.base is None:
        return text
    for tree in dict.fromkeys((str(setup.tree), str(setup.tree.resolve()))):
        text = text.replace(f"{tree}/", f"{setup.base}/")
        text = text.replace(tree, str(setup.base)) if searched else text
    return text


def require_base_files(setup: CapabilitySetup, words: Sequence[str]) -> None:
    """Raise Declined where words of a command name files that the agents can change."""
    if setup.base is None:
        return
    for word in words:
        then, now = folder_of(setup) / as_placed(setup, word), setup.root / word
        if now.resolve() == setup.tree.resolve():
            continue
        if (now.exists() and not then.exists()) or _is_in_tree(setup, then):
            raise _changeable(word)


def require_outside(setup: CapabilitySetup, program: str | None) -> None:
    """Raise Declined where a program that was found by its name lies in the run's tree."""
    if program is not None and setup.base is not None and _is_in_tree(setup, Path(program)):
        raise _changeable(program)


def _is_in_tree(setup: CapabilitySetup, file: Path) -> bool:
    return any(
        place.is_relative_to(setup.tree.resolve()) for place in (file.absolute(), file.resolve())
    )


def _changeable(word: str) -> Declined:
    why = (
        f"{word} lies in the run's tree and is not in its base commit, so it is not started:"
        " commit it before the run, or install it outside of the repository."
    )
    return Declined(ResultStatus.DENIED, why)
