"""A box with network reaches registries and named hosts through a proxy, and nothing else; one
without it the services that are declared.
"""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import indent

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from forge_bot.sandbox.setup_network import (
    NetworkPolicy,
    machine_policy,
    named_places,
    registry_places,
)
from tests.sandbox.scene import Attempt, World

FETCH = """
import os, urllib.request
for name in {"REGISTRY", "NAMED", "OTHER"} & os.environ.keys():
    try: print(name, urllib.request.urlopen(os.environ[name], timeout=20).read().decode())
    except OSError as error: print(name, "refused", error)
"""
TUNNEL = """
import os, socket
proxy = socket.create_connection(("127.0.0.1", int(os.environ["HTTPS_PROXY"].rpartition(":")[2])), 20)
proxy.sendall(b"CONNECT " + os.environ["TARGET"].encode() + b" HTTP/1.1\\r\\n\\r\\n")
print(proxy.recv(500).decode())
"""


@contextmanager
def web(text: str) -> Generator[str]:
    """A web server on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        # The name of the parameter is the base class's.
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def registry() -> Generator[str]:
    with web("a package") as address:
        yield address


def test_registries_and_named_hosts_are_reached_and_another_server_is_not(
    walled: BackendName, worktree: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", registry)
    with web("a model") as named, web("a secret") as other:
        box = Box(worktree=worktree, network=True, hosts=(named.partition("//")[2],))
        # What the configuration declares counts as a registry, so the servers are named to the
        # command alone.
        code = (
            f"import os; os.environ |= {{'REGISTRY': '{registry}/simple', 'NAMED': '{named}',"
            f" 'OTHER': '{other}'}}{FETCH}"
        )
        output = run(walled, box, ["python3", "-c", code]).output
    assert "REGISTRY a package" in output
    assert "NAMED a model" in output
    assert "OTHER refused HTTP Error 403: 127.0.0.1 is not a registry" in output


def test_a_tunnel_to_this_machine_or_its_network_or_to_any_other_host_is_refused(
    walled: BackendName, worktree: Path
) -> None:
    targets = (
        *("127.0.0.1:1", "169.254.169.254:80", "10.0.0.1:443", "[::1]:22", "localhost:80"),
        *("93.184.216.34:443", "example.org:443", "metadata.google.internal:80"),
    )
    code = f"import os\nfor os.environ['TARGET'] in {targets}:\n{indent(TUNNEL, '  ')}"
    box = Box(worktree=worktree, network=True)
    output = run(walled, box, ["python3", "-c", code]).output
    answers = [line for line in output.splitlines() if line.startswith("HTTP/1.1 ")]
    assert [answer.split()[1] for answer in answers] == ["403"] * len(targets), output


def test_what_is_no_request_for_a_proxy_gets_an_error_and_the_next_one_is_served(
    walled: BackendName, worktree: Path, registry: str
) -> None:
    lines = ["GET / HTTP/1.1", "CONNECT nonsense HTTP/1.1", "GET ftp://a/ HTTP/1.1", "x"]
    first = TUNNEL.replace('b"CONNECT " + os.environ["TARGET"].encode() + b" HTTP/1.1', 'line + b"')
    code = f"for line in {[line.encode() for line in lines]}:\n{indent(first, '  ')}{FETCH}"
    box = Box(worktree=worktree, network=True, env={"REGISTRY": registry, "NAMED": registry})
    output = run(walled, box, ["python3", "-c", code + "\n"]).output
    assert output.count("HTTP/1.1 502 ") + output.count("HTTP/1.1 403 ") == len(lines)
    assert "REGISTRY a package" in output


def test_the_places_of_setup_are_registries_by_their_addresses_and_hosts_by_their_names() -> None:
    texts = ["registry=https://npm.corp.example/\nhttps-proxy=http://10.0.0.9:3128\n"]
    environ = {
        "PIP_INDEX_URL": "http://10.0.0.5:8080/simple",
        "HTTPS_PROXY": "http://10.0.0.9:3128",
    }
    assert registry_places(environ, texts) == {("npm.corp.example", 443), ("10.0.0.5", 8080)}
    assert named_places(["CDN.example.org", "10.0.0.5:8080"]) == {
        *(("cdn.example.org", 443), ("cdn.example.org", 80), ("10.0.0.5", 8080))
    }


def test_the_machines_own_proxy_is_asked_for_allowed_hosts_only() -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        policy = machine_policy(frozenset(), {"https_proxy": address, "no_proxy": ""})
        assert isinstance(policy, NetworkPolicy)
        connection, upstream = policy.connect("pypi.org", 443, "https")
        connection.close()
        assert upstream
        for host in ("vault.corp", "10.0.0.1", "example.org"):
            with pytest.raises(PermissionError, match="is not a registry"):
                policy.connect(host, 443, "https")


def test_with_network_nothing_of_this_machine_is_reached(
    walled: BackendName, worktree: Path, tmp_path: Path
) -> None:
    world = World(tmp_path / "outside")
    code = """
import os, socket
E = os.environ
try: socket.socket(type=2, family=2).sendto(b'x', ('127.0.0.1', int(E['UDP'])))
except OSError: pass  # in a network of its own it may send, since nobody is there
for attempt in (
    lambda: socket.create_connection(('127.0.0.1', int(E['TCP'])), 5),
    lambda: socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket().sendmsg([b'x'], [], socket.MSG_FASTOPEN, ('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket(proto=socket.IPPROTO_MPTCP).connect(('127.0.0.1', int(E['TCP']))),
    lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + E['ABSTRACT']),
    lambda: socket.socket(socket.AF_UNIX).connect(E['OUTSIDE'] + '/s'),
    lambda: socket.socketpair(1, 2)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'),
    lambda: socket.socketpair(1, 3)[0].sendmsg([b'x'], [], 0, E['OUTSIDE'] + '/d'),
    lambda: socket.socket(1, 3).sendto(b'x', E['OUTSIDE'] + '/d'),
    lambda: socket.socket(1, 5).connect(E['OUTSIDE'] + '/q'),
    lambda: socket.socketpair(1, 5)[0].connect(E['OUTSIDE'] + '/q'),
    lambda: socket.socketpair(1, 1)[0].connect(E['OUTSIDE'] + '/s'),
):
    try: attempt()
    except OSError: print('NO')
"""
    box = Box(worktree=worktree, network=True, env=world.variables(), readable=(world.folder,))
    outcome = run(walled, box, ["python3", "-c", code])
    reached = world.reached()
    world.close()
    assert outcome.output == "NO\n" * 12
    assert reached == []


ASK = """
import sys, urllib.request
for port in sys.argv[1:] or PORTS:
    try: print(port, urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=20).read().decode())
    except OSError as error: print(port, "failed")
"""


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_a_declared_service_answers_and_its_neighbour_does_not(
    bubblewrap: BackendName, attempt: Attempt
) -> None:
    with web("rows") as database, web("a secret") as other:
        ports = [port_of(database), port_of(other)]
        output = attempt(bubblewrap, f"PORTS = {ports}\n{ASK}", services=(ports[0],)).output
    assert f"{ports[0]} rows" in output
    assert f"{ports[1]} failed" in output


def test_setup_has_the_proxy_and_no_service(bubblewrap: BackendName, attempt: Attempt) -> None:
    with web("rows") as database:
        port = port_of(database)
        code = (
            "import socket\n"
            f"try: socket.create_connection(('127.0.0.1', {port}), 5); print('open')\n"
            "except OSError: print('closed')"
        )
        assert attempt(bubblewrap, code, services=(port,), network=True).output == "closed\n"
