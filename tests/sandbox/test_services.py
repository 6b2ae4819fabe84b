"""A declared port of this machine is reached from the box, and no other."""

from forge_bot.sandbox.box import BackendName
from tests.sandbox.scene import Attempt
from tests.sandbox.test_setup_network import web

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
