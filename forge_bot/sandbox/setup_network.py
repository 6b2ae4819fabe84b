"""The network of setup: an HTTP proxy that reaches public addresses and configured registries.

A box with network has no other connection. Under bubblewrap it has its own network namespace, in
which only the proxy answers. Under Landlock it may open TCP connections to the proxy's port only.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from forge_bot.sandbox.connections import IDLE_SECONDS, PIECE, ConnectionServer, relay
from forge_bot.sandbox.secrets import secret_value

PORT = 3128
"""The port of the proxy inside a network namespace."""

NOT_PUBLIC = "is not a public address; setup may call it only as a configured registry"
"""The proxy's answer, which package managers print."""

_ADDRESS = re.compile(r"https?://[^\s\"'<>,\]]+", re.IGNORECASE)
_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]")
_HOP_HEADERS = (b"proxy-", b"connection:", b"keep-alive:")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Python before 3.12.4 takes the first two for global ones, and every version the third. Metadata of
# a cloud may answer at 192.0.0.192.
_NEVER_PUBLIC = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "64:ff9b:1::/48", "fec0::/10")))
_OF_NETWORKS = (
    *("localhost", "local", "internal", "home.arpa", "lan"),
    *("home", "corp", "intranet", "private"),
)
"""Ends of names that no public name has (RFC 6761; RFC 6762, appendix G; RFC 8375)."""
_HEAD_BYTES = 65_536
_CONNECT_SECONDS = 30.0

Place = tuple[str, int]
"""A host name or address in lower case, and a port."""


_USUAL_HOSTS = (
    *("pypi.org", "files.pythonhosted.org"),
    *("registry.npmjs.org", "registry.yarnpkg.com"),
    *("index.crates.io", "static.crates.io"),
    *("proxy.golang.org", "sum.golang.org"),
    *("rubygems.org", "index.rubygems.org"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"),
    "api.nuget.org",
)
USUAL_REGISTRIES: frozenset[Place] = frozenset((host, 443) for host in _USUAL_HOSTS)
"""The registries that package clients ask without any setting. Where this machine's name service
leads to a mirror of one in its own network, setup may use the mirror."""


class Refused(Exception):
    """An address that setup may not reach, with a sentence that gives the reason."""


def registry_places(environ: Mapping[str, str], texts: Iterable[str]) -> frozenset[Place]:
    """Return the hosts and ports of the registries in a machine's package settings.

    Proxies are not among them.
    """
    values = [value for name, value in environ.items() if "PROXY" not in name.upper()]
    lines = [line for text in texts for line in text.splitlines() if "proxy" not in line.lower()]
    found = (_place(address) for text in (*values, *lines) for address in _ADDRESS.findall(text))
    return frozenset(place for place in found if place is not None)


def _place(address: str) -> Place | None:
    with suppress(ValueError):
        parts = urlsplit(address)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme.lower())
        if parts.hostname and port:
            return parts.hostname.lower(), port
    return None


def variables(port: int) -> dict[str, str]:
    """Return the variables by which package clients find the proxy.

    They replace the machine's own proxy settings.
    """
    address = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    own = (
        "PIP_PROXY",
        "NPM_CONFIG_PROXY",
        "NPM_CONFIG_HTTPS_PROXY",
        "YARN_HTTP_PROXY",
        "YARN_HTTPS_PROXY",
        "CARGO_HTTP_PROXY",
    )
    found = dict.fromkeys((*names, *map(str.lower, names), *own), address)
    return {**found, "NO_PROXY": "", "no_proxy": "", "NPM_CONFIG_NOPROXY": ""}


@dataclass(frozen=True)
class NetworkPolicy:
    """The destinations that the proxy allows."""

    registries: frozenset[Place]
    upstream: Mapping[str, str] = field(default_factory=dict[str, str])
    """The machine's own proxies by scheme, as `getproxies` reads them."""

    def connect(self, host: str, port: int, scheme: str) -> tuple[socket.socket, bool]:
        """Return a connection to a place, and whether it ends at the machine's own proxy.

        Raises Refused, OSError.
        """
        addresses = self._addresses(host, port)
        through = self._through(host, port, scheme)
        known = addresses or (host.lower(), port) in self.registries
        if through is not None and not known and _is_of_a_network(host):
            # The proxy would look the name up where it stands.
            raise Refused(f"{host} {NOT_PUBLIC}")
        if through is not None:
            return socket.create_connection(through, _CONNECT_SECONDS), True
        if not addresses:
            raise OSError(f"{host} has no address")
        for number, address in enumerate(addresses):
            try:
                # This is the address that was checked, so that a second answer of the name service
                # cannot lead elsewhere.
                return socket.create_connection((address, port), _CONNECT_SECONDS), False
            except OSError:
                if number == len(addresses) - 1:
                    raise
        raise AssertionError(host)

    def _addresses(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host; none when its name is unknown here.

        Raises Refused.
        """
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if (host.lower(), port) in self.registries:
            return addresses
        allowed = [address for address in addresses if is_public(address)]
        if addresses and not allowed:
            raise Refused(f"{host} {NOT_PUBLIC}")
        return allowed

    def _through(self, host: str, port: int, scheme: str) -> Place | None:
        upstream = self.upstream.get(scheme) or self.upstream.get("all") or ""
        if not upstream or secret_value(upstream):
            return None
        # It reads what speaks HTTP, and only setup with network needs it.
        from urllib.request import proxy_bypass

        if proxy_bypass(f"{host}:{port}"):
            return None
        return _place(upstream if "://" in upstream else f"http://{upstream}")


def _is_of_a_network(host: str) -> bool:
    """Return whether a name means something in a network of its own only."""
    name = host.rstrip(".").lower()
    return "." not in name or name.endswith(tuple(f".{each}" for each in _OF_NETWORKS))


def is_public(address: str) -> bool:
    """Return whether an address belongs to the internet, including IPv4 addresses inside IPv6."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    if any(found in network for network in _NEVER_PUBLIC):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


def machine_policy(registries: frozenset[Place], declared: Mapping[str, str]) -> NetworkPolicy:
    """Return the policy of this machine: its registries beside the usual ones, and its own or the
    configured proxies.
    """
    own = {
        name.lower().removesuffix("_proxy"): value
        for name, value in declared.items()
        if name.lower().endswith("_proxy")
    }
    from urllib.request import getproxies

    return NetworkPolicy(registries | USUAL_REGISTRIES, {**getproxies(), **own})


# -- listening sockets
# --------------------------------------------------------------------------------------------------


def listen_here() -> socket.socket:
    """Return a socket that listens on this machine's loopback, on a free port."""
    return socket.create_server(("127.0.0.1", 0), backlog=128)


# -- the proxy
# --------------------------------------------------------------------------------------------------


def serving(listening: socket.socket, policy: NetworkPolicy) -> AbstractContextManager[None]:
    """Answer on a listening socket until the block ends; then close every connection."""
    return _Proxy(listening, policy).serving()


class _Proxy(ConnectionServer):
    def __init__(self, listening: socket.socket, policy: NetworkPolicy) -> None:
        super().__init__(listening)
        self.policy = policy

    def answer(self, client: socket.socket) -> None:
        try:
            client.settimeout(IDLE_SECONDS)
            self._serve(client)
        except Refused as error:
            _say(client, f"403 {error}")
        except (OSError, ValueError) as error:
            _say(client, f"502 {error}")
        finally:
            self.drop(client)

    def _serve(self, client: socket.socket) -> None:
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
        server, upstream = self.policy.connect(*place, "https" if tunnel else "http")
        if not self.keep(server):
            server.close()
            return
        try:
            server.settimeout(IDLE_SECONDS)
            if tunnel and not upstream:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                server.sendall(
                    head + b"\r\n\r\n"
                    if tunnel
                    else _request(method, target, headers, whole=upstream)
                )
            server.sendall(rest)
            relay(client, server)
        finally:
            self.drop(server)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return the head of a request without the empty line after it, and the bytes after it."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = client.recv(PIECE)
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


def _say(client: socket.socket, status: str) -> None:
    line = status.encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")
    body = line[4:] + b"\n"
    with suppress(OSError):
        client.sendall(
            b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (line, len(body), body)
        )
