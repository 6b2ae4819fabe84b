"""Configuration that package clients in a box with network need to reach their registries.

These are variables, files, folders and certificates. All of them are filtered by `secrets`: an
install may use a mirror, but never a person's account.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from forge_bot.sandbox.git_folders import secret_name, secret_value, without_secrets
from forge_bot.sandbox.setup_network import Place, registry_places
from forge_bot.sandbox.toolchains import is_safe_to_show

_PREFIXES = (
    "PIP_",
    "UV_",
    "NPM_CONFIG_",
    "YARN_",
    "PNPM_",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_REGISTRIES_",
)
_NAMES = (
    *(
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "NIX_SSL_CERT_FILE",
    ),
    *(
        "GIT_SSL_CAINFO",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "GOPROXY",
        "GOSUMDB",
        "GONOSUMDB",
        "GOPRIVATE",
    ),
)
# These name a place to write, or a file that is copied without its secrets; the box has its own
# places.
_OWN_PLACES = re.compile(
    r"CACHE|_DIR$|STORE|PREFIX|TARGET|_ROOT$|CONFIG_FILE|USERCONFIG|GLOBALCONFIG|_LOG$"
    r"|PROJECT_ENVIRONMENT|USERBASE"
)
_READ_PLACES = ("SSL_CERT_DIR", "PIP_FIND_LINKS", "UV_FIND_LINKS")

# Below the user's home; copied to the same place below the home of the box.
_CONFIG_FILES = (
    *(
        ".config/pip/pip.conf",
        ".pip/pip.conf",
        ".config/uv/uv.toml",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".config/pnpm/rc",
    ),
    *(".cargo/config.toml", ".config/go/env", ".config/pip/constraints.txt"),
)
_FILE_ADDRESS = re.compile(r"file://(/[^\s\"',\]]+)")
_FIND_LINKS = re.compile(r"find[-_]links\s*[=:]\s*(.+)", re.IGNORECASE)


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
    folders = [
        *_folders(" ".join(env.values())),
        *(folder for text in texts for folder in _folders(text)),
    ]
    readable = (*_name_service(), *(place for place in (*named, *folders) if _is_to_show(place)))
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


def _folders(text: str) -> Iterator[Path]:
    """Yield the folders that are named as an index or as a place for wheels."""
    for address in _FILE_ADDRESS.findall(text):
        folder = Path(unquote(address))
        # A simple index (PEP 503) links to files beside it.
        yield folder.parent if folder.name == "simple" else folder
    for places in _FIND_LINKS.findall(text):
        yield from (
            Path(word)
            for word in places.strip("[]").replace(",", " ").replace('"', " ").split()
            if word.startswith("/")
        )


def _is_to_show(place: Path) -> bool:
    return place.exists() and is_safe_to_show(place) and is_safe_to_show(place.resolve())


def _name_service() -> Iterator[Path]:
    """Yield the target of /etc/resolv.conf, often a link into /run, which a box does not see."""
    real = Path("/etc/resolv.conf").resolve()
    if real.is_file() and not real.is_relative_to("/etc"):
        yield real
