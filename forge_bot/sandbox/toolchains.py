"""Interpreters and package tools outside the system's folders: a box must see parts of them, and
has a PATH to them. And the configuration that package clients in a box with network need to reach
their registries.

These are variables, files, folders and certificates. All of them are filtered: an install may use a
mirror, but never a person's account.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.sandbox.git_folders import secret_name, secret_value, without_secrets
from forge_bot.sandbox.setup_network import Place, registry_places
from forge_bot.text_format import names

ROOTS = tuple(map(Path, names("/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix/store")))

_INSTALLED_WHOLE = ("python3", "python", "node", "go")
_SINGLE_FILES = ("uv", "uvx")
# A folder with one of these at its top is a home or keeps keys; it is never visible, whatever else
# it holds.
_PRIVATE = names("""
    .ssh .aws .gnupg .netrc .git-credentials .docker .kube .npmrc .pypirc .env .config
    .bash_history .profile .password-store credentials credentials.toml keyrings
    """)


@dataclass(frozen=True)
class Tools:
    """The tools of this machine that a box has to see."""

    readable: tuple[Path, ...]
    path: str
    env: dict[str, str]


def find_tools(path: str, visible: Sequence[Path]) -> Tools:
    """Return the tools of a PATH for a box that already sees the folders `visible`.

    Entries that the box could not use are dropped.
    """
    readable: list[Path] = []
    entries: list[Path] = []
    _show(Path(sys.base_prefix), readable)
    # Shims of version managers need all of their manager. At last comes the Python that runs us.
    own = Path(sys.base_prefix, "bin")
    for entry in [*(place for place in _absolute(path) if place.name != "shims"), own]:
        if is_within(entry, visible):
            entries.append(entry)
        else:
            entries += _from_elsewhere(entry, readable)
    rust = _rust(entries, readable)
    kept = [
        entry
        for entry in dict.fromkeys(entries)
        if is_within(entry, (*visible, *readable))
        or any(entry / name in readable for name in _SINGLE_FILES)
    ]
    return Tools(tuple(dict.fromkeys(readable)), os.pathsep.join(map(str, kept)), rust)


def is_safe_to_show(folder: Path) -> bool:
    """Return whether untrusted code may see a folder.

    A home, a folder above one, or a folder that keeps keys is not shown.
    """
    home = Path.home()
    inside = (home / name for name in (".local", ".local/share", ".cache", ".config"))
    private = {home, *home.parents, *inside, Path("/home")}
    if not folder.is_absolute() or folder in private or folder.parent == Path("/home"):
        return False
    holds_keys = any((folder / name).exists() for name in _PRIVATE)
    return not holds_keys and set(_PRIVATE).isdisjoint(folder.parts)


def _absolute(path: str) -> list[Path]:
    return [Path(entry) for entry in path.split(os.pathsep) if entry.startswith("/")]


def is_within(entry: Path, folders: Sequence[Path]) -> bool:
    """Return whether one of the folders is this one or above it, by their names: each command asks
    some hundred times, and `Path.is_relative_to` takes twenty times as long.
    """
    return f"{entry}/".startswith(tuple(f"{str(folder).rstrip('/')}/" for folder in folders))


def _show(prefix: Path, readable: list[Path]) -> bool:
    if is_within(prefix, (*ROOTS, *readable)):
        return True
    if prefix.is_dir() and is_safe_to_show(prefix):
        readable.append(prefix)
        return True
    return False


def _from_elsewhere(entry: Path, readable: list[Path]) -> Iterator[Path]:
    """Yield the replacements of a PATH entry outside the system's folders.

    They are the entry itself and the real folders of its interpreters.
    """
    if (entry.parent / "pyvenv.cfg").is_file() and _show(entry.parent, readable):
        yield entry
    for name in _INSTALLED_WHOLE:
        folder = (entry / name).resolve().parent
        # Go needs its own sources.
        whole = folder.name == "bin" and (name != "go" or (folder / "../src/runtime").is_dir())
        if whole and os.access(entry / name, os.X_OK) and _show(folder.parent, readable):
            yield entry
            yield folder
    if os.access(entry / "cargo", os.X_OK):
        yield entry
    for name in _SINGLE_FILES:
        tool = entry / name
        if os.access(tool, os.X_OK):
            readable += [tool, *([tool.resolve()] if tool.is_symlink() else [])]
            yield entry


# -- Rust: ~/.cargo also keeps credentials, so only parts of it are visible ------------------------


def _rust(entries: Sequence[Path], readable: list[Path]) -> dict[str, str]:
    cargo = next(
        (entry / "cargo" for entry in entries if os.access(entry / "cargo", os.X_OK)), None
    )
    if cargo is None or is_within(cargo, ROOTS):
        return {}
    cargo_home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    rustup_home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    parts = [cargo_home / name for name in ("bin", "registry", "git")]
    parts += [rustup_home / name for name in ("toolchains", "settings.toml")]
    readable += filter(Path.exists, parts)
    return {
        "CARGO_HOME": str(cargo_home),
        "RUSTUP_HOME": str(rustup_home),
        "RUSTUP_AUTO_INSTALL": "0",
    }


_PREFIXES = names("""
    PIP_ UV_ NPM_CONFIG_ YARN_ PNPM_ CARGO_NET_ CARGO_HTTP_ CARGO_REGISTRIES_
    """)
_NAMES = names("""
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    NIX_SSL_CERT_FILE GIT_SSL_CAINFO HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
    GOPROXY GOSUMDB GONOSUMDB GOPRIVATE
    """)
# These name a place to write, or a file that is copied without its secrets; the box has its own
# places.
_OWN_PLACES = re.compile(
    r"CACHE|_DIR$|STORE|PREFIX|TARGET|_ROOT$|CONFIG_FILE|USERCONFIG|GLOBALCONFIG|_LOG$"
    r"|PROJECT_ENVIRONMENT|USERBASE"
)
_READ_PLACES = ("SSL_CERT_DIR", "PIP_FIND_LINKS", "UV_FIND_LINKS")

# Below the user's home; copied to the same place below the home of the box.
_CONFIG_FILES = names("""
    .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml .npmrc .yarnrc .yarnrc.yml
    .config/pnpm/rc .cargo/config.toml .config/go/env .config/pip/constraints.txt
    """)


@dataclass(frozen=True)
class Registries:
    """The registry configuration of a box with network."""

    env: dict[str, str]
    files: dict[str, str]
    """The text of each file, by its place below the home folder of the box."""
    readable: tuple[Path, ...]
    places: frozenset[Place] = frozenset()
    """Hosts and ports of the registries, which may be private addresses."""


def registries(environ: Mapping[str, str], home: Path) -> Registries:
    """Read this machine's package configuration without anything that looks like a secret."""
    env = {name: value for name, value in environ.items() if _is_wanted(name.upper(), value)}
    files = {place: text for place in _CONFIG_FILES if (text := _clean_text(home / place))}
    texts = [
        *files.values(),
        *(_clean_text(Path(name)) for name in ("/etc/pip.conf", "/etc/uv/uv.toml", "/etc/npmrc")),
    ]
    named = [
        Path(word)
        for name, value in env.items()
        if name != "NO_PROXY"
        for word in value.split()
        if word.startswith("/")
    ]
    # /etc/resolv.conf is often a link into /run, which a box does not see.
    resolver = filter(Path.is_file, [Path("/etc/resolv.conf").resolve()])
    readable = (*resolver, *filter(_is_to_show, named))
    return Registries(env, files, tuple(dict.fromkeys(readable)), registry_places(env, texts))


def _is_wanted(name: str, value: str) -> bool:
    if secret_name(name) or secret_value(value):
        return False
    return name in _NAMES or (
        name.startswith(_PREFIXES) and (name in _READ_PLACES or not _OWN_PLACES.search(name))
    )


def _clean_text(file: Path) -> str:
    try:
        return without_secrets(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def _is_to_show(place: Path) -> bool:
    return place.exists() and is_safe_to_show(place) and is_safe_to_show(place.resolve())
