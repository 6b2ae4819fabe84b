"""A box with network reaches public addresses and configured registries through a proxy, and
nothing of this machine.
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
    Refused,
    is_public,
    machine_policy,
    registry_places,
)

FETCH = """
import os, urllib.request
for name in ("REGISTRY", "OTHER"):
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


def test_a_configured_registry_is_reached_and_another_local_server_is_not(
    walled: BackendName, worktree: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", registry)
    with web("a secret") as other:
        box = Box(
            worktree=worktree, network=True, env={"REGISTRY": registry + "/simple", "OTHER": other}
        )
        # What the configuration declares counts as a registry, so the other server is named to the
        # command alone.
        code = (
            "import os; os.environ['OTHER'] = 'http://127.0.0.2:' +"
            f" os.environ['OTHER'].rpartition(':')[2]{FETCH}"
        )
        output = run(walled, box, ["python3", "-c", code]).output
    assert "REGISTRY a package" in output
    assert "OTHER refused HTTP Error 403: 127.0.0.2 is not a public address" in output


def test_a_tunnel_to_an_address_of_this_machine_or_its_network_is_refused(
    walled: BackendName, worktree: Path
) -> None:
    targets = (
        "127.0.0.1:1",
        "169.254.169.254:80",
        "10.0.0.1:443",
        "[::1]:22",
        "[::ffff:10.0.0.1]:80",
        "localhost:80",
        "192.0.0.192:80",
        "[fec0::1]:80",
    )
    code = f"import os\nfor os.environ['TARGET'] in {targets}:\n{indent(TUNNEL, '  ')}"
    box = Box(worktree=worktree, network=True)
    said = run(walled, box, ["python3", "-c", code]).output
    answers = [line for line in said.splitlines() if line.startswith("HTTP/1.1 ")]
    assert [answer.split()[1] for answer in answers] == ["403"] * len(targets), said


@pytest.mark.parametrize(
    "request_line", ["GET / HTTP/1.1", "CONNECT nonsense HTTP/1.1", "GET ftp://a/ HTTP/1.1", "x"]
)
def test_what_is_no_request_for_a_proxy_gets_an_error_and_the_next_one_is_served(
    walled: BackendName, worktree: Path, registry: str, request_line: str
) -> None:
    code = (
        TUNNEL.replace(
            'b"CONNECT " + os.environ["TARGET"].encode() + b" HTTP/1.1', f'b"{request_line}'
        )
        + FETCH
    )
    box = Box(worktree=worktree, network=True, env={"REGISTRY": registry, "OTHER": registry})
    output = run(walled, box, ["python3", "-c", code]).output
    assert output.startswith(("HTTP/1.1 502 ", "HTTP/1.1 403 "))
    assert "REGISTRY a package" in output


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *(
            ("93.184.216.34", True),
            ("2606:4700::1111", True),
            ("127.0.0.1", False),
            ("0.0.0.1", False),
            ("224.0.0.1", False),
        ),
        *(
            ("100.64.0.1", False),
            ("fe80::1%eth0", False),
            ("fd00::1", False),
            ("::ffff:127.0.0.1", False),
            ("64:ff9b::a00:1", False),
        ),
    ],
)
def test_an_address_is_public_or_not(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_registries_are_read_from_settings_and_a_proxy_is_none_of_them() -> None:
    texts = ["registry=https://npm.corp.example/\nhttps-proxy=http://10.0.0.9:3128\n"]
    environ = {
        "PIP_INDEX_URL": "http://10.0.0.5:8080/simple",
        "HTTPS_PROXY": "http://10.0.0.9:3128",
    }
    assert registry_places(environ, texts) == {("npm.corp.example", 443), ("10.0.0.5", 8080)}


def test_the_usual_registries_may_have_a_mirror_in_the_machines_network_at_their_own_port() -> None:
    allowed = machine_policy(frozenset({("pypi.corp", 8080)}), {}).registries
    usual = {("pypi.org", 443), ("files.pythonhosted.org", 443), ("registry.npmjs.org", 443)}
    assert {*usual, ("pypi.corp", 8080)} <= allowed
    assert not {("pypi.org", 80), ("pypi.corp", 443), ("github.com", 443)} & allowed


@pytest.mark.parametrize(
    "host",
    ["metadata.google.internal", "Printer.LOCAL.", "intranet", "vault.corp", "nas.home.arpa"],
)
def test_the_machines_own_proxy_is_not_asked_for_names_of_networks_behind_it(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        policy = NetworkPolicy(frozenset(), {"https": address, "http": address})
        with pytest.raises(Refused):
            policy.connect(host, 443, "https")
        registry = NetworkPolicy(frozenset({(host.lower(), 443)}), policy.upstream)
        connection, upstream = registry.connect(host, 443, "https")
        connection.close()
        assert upstream


def test_the_machines_own_proxy_is_used_for_what_is_public_and_not_for_private_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        policy = NetworkPolicy(frozenset(), {"https": f"http://127.0.0.1:{proxy.getsockname()[1]}"})
        connection, upstream = policy.connect("93.184.216.34", 443, "https")
        connection.close()
        assert upstream
        with pytest.raises(Exception, match="not a public address"):
            policy.connect("10.0.0.1", 443, "https")
