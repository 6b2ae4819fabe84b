"""The network of setup: an HTTP proxy that reaches the registries of packages and the hosts that
the configuration names; and the services of a project, at ports inside the box.

A box with network has no other connection than the proxy. Under bubblewrap it has its own network
namespace, in which only the proxy answers. Under Landlock it may open TCP connections to the
proxy's port only.
"""

import re
import selectors
import socket
import subprocess
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from forge_bot.errors import SandboxFailed
from forge_bot.forge import DOWNLOAD_HOSTS
from forge_bot.sandbox.git_folders import secret_value
from forge_bot.sandbox.helper_processes import script
from forge_bot.text_format import names

PORT = 3128
"""The port of the proxy inside a network namespace."""

NOT_ALLOWED = "is not a registry, and `network:` in .forge/config.yml does not name it"
"""The proxy's answer, which package managers print."""

_ADDRESS = re.compile(r"https?://[^\s\"'<>,\]]+", re.IGNORECASE)
_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]")
_HOP_HEADERS = (b"proxy-", b"connection:", b"keep-alive:")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HEAD_BYTES = 65_536
_PIECE = 65_536
_CONNECT_SECONDS = 30.0
_IDLE_SECONDS = 600.0
_HELPER_SECONDS = 20
_MOST_CONNECTIONS = 256

Place = tuple[str, int]
"""A host name or address in lower case, and a port."""

USUAL_HOSTS = (
    *("pypi.org", "files.pythonhosted.org", "download.pytorch.org"),
    *("registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "nodejs.org"),
    *("index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org"),
    *("proxy.golang.org", "sum.golang.org", "go.dev", "dl.google.com"),
    *("rubygems.org", "index.rubygems.org", "api.nuget.org", "repo.packagist.org"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"),
    *DOWNLOAD_HOSTS,
    *("gitlab.com", "bitbucket.org"),
)
"""The hosts that package clients ask without any setting, and those that packages and toolchains
are downloaded from."""


def registry_places(environ: Mapping[str, str], texts: Iterable[str]) -> frozenset[Place]:
    """Return the hosts and ports of the registries in a machine's package settings.

    Proxies are not among them.
    """
    values = [value for name, value in environ.items() if "PROXY" not in name.upper()]
    lines = [line for text in texts for line in text.splitlines() if "proxy" not in line.lower()]
    places = (_place(address) for text in (*values, *lines) for address in _ADDRESS.findall(text))
    return frozenset(place for place in places if place is not None)


def _place(address: str) -> Place | None:
    with suppress(ValueError):
        parts = urlsplit(address)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme.lower())
        if parts.hostname and port:
            return parts.hostname.lower(), port
    return None


def named_places(hosts: Iterable[str]) -> frozenset[Place]:
    """Return the places of `HOST` and `HOST:PORT`; without a port both usual ones."""
    return frozenset(
        (name.lower(), int(port))
        for name, _, given in (host.partition(":") for host in hosts)
        for port in ([given] if given else _DEFAULT_PORTS.values())
    )


def variables(port: int) -> dict[str, str]:
    """Return the variables by which package clients find the proxy.

    They replace the machine's own proxy settings.
    """
    address = f"http://127.0.0.1:{port}"
    usual = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    own = names("""
        PIP_PROXY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY YARN_HTTP_PROXY YARN_HTTPS_PROXY
        CARGO_HTTP_PROXY
        """)
    variables = dict.fromkeys((*usual, *map(str.lower, usual), *own), address)
    return {**variables, "NO_PROXY": "", "no_proxy": "", "NPM_CONFIG_NOPROXY": ""}


@dataclass(frozen=True)
class NetworkPolicy:
    """The destinations that the proxy allows."""

    places: frozenset[Place]
    upstream: Mapping[str, str] = field(default_factory=dict[str, str])
    """The machine's own proxies by scheme, as `getproxies` reads them."""

    def connect(self, host: str, port: int, scheme: str) -> tuple[socket.socket, bool]:
        """Return a connection to a place, and whether it ends at the machine's own proxy.

        Raises PermissionError, OSError.
        """
        if (host.lower(), port) not in self.places:
            raise PermissionError(f"{host} {NOT_ALLOWED}")
        through = self._through(host, port, scheme)
        return socket.create_connection(through or (host, port), _CONNECT_SECONDS), bool(through)

    def _through(self, host: str, port: int, scheme: str) -> Place | None:
        upstream = self.upstream.get(scheme) or self.upstream.get("all") or ""
        if not upstream or secret_value(upstream):
            return None
        # It reads what speaks HTTP, and only setup with network needs it.
        from urllib.request import proxy_bypass

        if proxy_bypass(f"{host}:{port}"):
            return None
        return _place(upstream if "://" in upstream else f"http://{upstream}")


def machine_policy(places: frozenset[Place], declared: Mapping[str, str]) -> NetworkPolicy:
    """Return the policy of this machine: its registries beside the usual ones, and its own or the
    configured proxies.
    """
    own = {
        name.lower().removesuffix("_proxy"): value
        for name, value in declared.items()
        if name.lower().endswith("_proxy")
    }
    from urllib.request import getproxies

    return NetworkPolicy(places | named_places(USUAL_HOSTS), {**getproxies(), **own})


# -- connections -----------------------------------------------------------------------------------


def listen_inside(pid: int, port: int) -> socket.socket:
    """Return a socket that listens on 127.0.0.1 in the network namespace of a process.

    Raises SandboxFailed.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = theirs.fileno()
        ended = subprocess.run(
            script("listen", pid, line, port),
            pass_fds=(line,),
            env={},
            capture_output=True,
            text=True,
            timeout=_HELPER_SECONDS,
            check=False,
        )
        if ended.returncode != 0:
            last = ended.stderr.strip().rpartition("\n")[2]
            raise SandboxFailed(f"nothing can listen at port {port} in the sandbox: {last}")
        _, descriptors, _, _ = socket.recv_fds(ours, 16, 1)
    return socket.socket(fileno=descriptors[0])


@contextmanager
def _serving(listening: socket.socket, answer: Callable[[socket.socket], None]) -> Generator[None]:
    """Answer every connection in a thread of its own until the block ends. What is open then ends
    with the processes of the box.
    """
    room = threading.BoundedSemaphore(_MOST_CONNECTIONS)

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(_IDLE_SECONDS)
            answer(client)
        room.release()

    def accept() -> None:
        with suppress(OSError):
            while room.acquire():
                client, _ = listening.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        with listening, suppress(OSError):
            # It wakes the thread that accepts.
            listening.shutdown(socket.SHUT_RDWR)


def _relay(client: socket.socket, server: socket.socket) -> None:
    """Pass on the bytes of both sides until both have ended."""
    server.settimeout(_IDLE_SECONDS)
    others = {client: server, server: client}
    with selectors.DefaultSelector() as waiting:
        for side in others:
            waiting.register(side, selectors.EVENT_READ)
        while waiting.get_map() and (ready := waiting.select(_IDLE_SECONDS)):
            for key, _ in ready:
                source = client if key.fileobj is client else server
                if piece := source.recv(_PIECE):
                    others[source].sendall(piece)
                    continue
                waiting.unregister(source)
                with suppress(OSError):
                    others[source].shutdown(socket.SHUT_WR)


def service(listening: socket.socket, port: int) -> AbstractContextManager[None]:
    """Let a port of the box lead to the same port of this machine's loopback until the block ends.
    A connection is closed where nothing listens on this machine.
    """
    return _serving(listening, partial(_pass_on, port))


def _pass_on(port: int, client: socket.socket) -> None:
    with socket.create_connection(("127.0.0.1", port), _CONNECT_SECONDS) as server:
        _relay(client, server)


def proxy(listening: socket.socket, policy: NetworkPolicy) -> AbstractContextManager[None]:
    """Answer requests for a proxy on a listening socket until the block ends."""
    return _serving(listening, partial(_answer, policy))


def _answer(policy: NetworkPolicy, client: socket.socket) -> None:
    try:
        _forward(policy, client)
    except PermissionError as error:
        _refuse(client, f"403 {error}")
    except (OSError, ValueError) as error:
        _refuse(client, f"502 {error}")


def _forward(policy: NetworkPolicy, client: socket.socket) -> None:
    head, rest = _read_head(client)
    first, _, headers = head.partition(b"\r\n")
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise ValueError("this is no request for a proxy")
    method, target = match[1], match[2].decode("latin-1")
    tunnel = method == b"CONNECT"
    place = _place(f"https://{target}" if tunnel else target)
    if place is None or (not tunnel and not target.lower().startswith("http://")):
        raise ValueError("the target of the request is not understood")
    server, upstream = policy.connect(*place, "https" if tunnel else "http")
    with server:
        if tunnel and not upstream:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        elif tunnel:
            server.sendall(head + b"\r\n\r\n")
        else:
            server.sendall(_request(method, target, headers, whole=upstream))
        server.sendall(rest)
        _relay(client, server)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return the head of a request without the empty line after it, and the bytes after it."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = client.recv(_PIECE)
        if not piece or len(got) > _HEAD_BYTES:
            raise ValueError("the request has no end or is too long")
        got += piece
    head, _, rest = got.partition(b"\r\n\r\n")
    return head, rest


def _request(method: bytes, target: str, headers: bytes, *, whole: bool) -> bytes:
    """Return the head for the server, for this one request.

    It has only the path, unless the server is a proxy.
    """
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [
        line
        for line in headers.split(b"\r\n")
        if line and not line.lower().startswith(_HOP_HEADERS)
    ]
    first = b"%s %s HTTP/1.1" % (method, (target if whole else path).encode("latin-1"))
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


def _refuse(client: socket.socket, status: str) -> None:
    line = status.encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")
    body = line[4:] + b"\n"
    with suppress(OSError):
        client.sendall(
            b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (line, len(body), body)
        )
