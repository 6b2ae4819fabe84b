"""The yes that a person gives to the servers of a repository before one is started.

It is bound to a digest of the definition of all servers, of what the policy lets them do, and of
the bytes of their programs that lie in the repository. Values of variables are no part of it.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined
from forge_bot.agent.tools.placeholders import TREE, resolved, texts_of
from forge_bot.agent.tools.server_files import as_placed, folder_of
from forge_bot.agent.tools.setup import CapabilitySetup
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
        for place, top in _named(setup, text)
        for file in _files_beside(place, top)
    }
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(files.items())
    }


def _named(setup: CapabilitySetup, text: str) -> Iterator[tuple[Path, Path]]:
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
