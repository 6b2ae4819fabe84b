"""Test suites that open servers: green under bubblewrap, refused with the reason under Landlock."""

import json
import shutil
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome
from tests.fakes.sample import Sample

HTTP = """
import json, threading, unittest, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == '/health' else 404)
        self.end_headers()
        self.wfile.write(json.dumps({'path': self.path}).encode())
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(body[::-1])
    def log_message(self, *words): pass
class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_port}'
    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
    def test_health(self):
        with urllib.request.urlopen(self.url + '/health', timeout=20) as answer:
            self.assertEqual(json.load(answer), {'path': '/health'})
    def test_by_name(self):
        with urllib.request.urlopen(f'http://localhost:{self.server.server_port}/health', timeout=20) as answer:
            self.assertEqual(answer.status, 200)
    def test_missing(self):
        with self.assertRaises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(self.url + '/nothing', timeout=20)
        self.assertEqual(raised.exception.code, 404)
    def test_post(self):
        with urllib.request.urlopen(self.url, data=b'abc', timeout=20) as answer:
            self.assertEqual((answer.status, answer.read()), (201, b'cba'))
"""
ASYNCIO = """
import asyncio, socket, unittest
async def echo(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
class EchoTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = await asyncio.start_server(echo, '127.0.0.1', 0)
        self.address = self.server.sockets[0].getsockname()
    async def asyncTearDown(self):
        self.server.close()
    async def ask(self, words):
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(words + b'\\n')
        answer = await asyncio.wait_for(reader.readline(), 20)
        writer.close()
        return answer
    async def test_one(self):
        self.assertEqual(await self.ask(b'hello'), b'HELLO\\n')
    async def test_many_at_once(self):
        answers = await asyncio.gather(*(self.ask(b'c%d' % number) for number in range(20)))
        self.assertEqual(answers, [b'C%d\\n' % number for number in range(20)])
    async def test_datagrams(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            server.bind(('127.0.0.1', 0))
            client.sendto(b'x', server.getsockname())
            self.assertEqual(server.recv(10), b'x')
"""
NODE = """
const test = require('node:test'), assert = require('node:assert'), http = require('node:http');
const served = (run) => new Promise((resolve, reject) => {
  const server = http.createServer((request, response) => {
    response.statusCode = request.url === '/health' ? 200 : 404;
    response.end(JSON.stringify({method: request.method, url: request.url}));
  });
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    run(server.address().port).then(resolve, reject).finally(() => server.close());
  });
});
const get = (port, path) => new Promise((resolve, reject) => {
  http.get({host: '127.0.0.1', port, path, agent: false}, (answer) => {
    let body = '';
    answer.on('data', (piece) => { body += piece; });
    answer.on('end', () => resolve({status: answer.statusCode, body: JSON.parse(body)}));
  }).on('error', reject);
});
test('health', () => served(async (port) => {
  assert.deepStrictEqual(await get(port, '/health'), {status: 200, body: {method: 'GET', url: '/health'}});
}));
test('missing', () => served(async (port) => assert.strictEqual((await get(port, '/no')).status, 404)));
"""
UNITTEST = ["python3", "-m", "unittest", "discover", "-s", "src"]
NEEDS_NODE = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
SUITES = [
    pytest.param("test_http.py", HTTP, UNITTEST, "Ran 4 tests", id="http.server"),
    pytest.param("test_echo.py", ASYNCIO, UNITTEST, "Ran 3 tests", id="asyncio"),
    pytest.param(
        "server.test.js", NODE, ["node", "--test", "src/"], "pass 2", id="node", marks=NEEDS_NODE
    ),
]
REFUSED = "under Landlock there is no 127.0.0.1, and no unix socket"


@pytest.mark.parametrize(("name", "suite", "command", "success"), SUITES)
def test_a_suite_with_servers_is_judged_or_said_to_be_beyond_the_backend(
    walled: BackendName, worktree: Path, name: str, suite: str, command: list[str], success: str
) -> None:
    (worktree / "src" / name).write_text(suite, encoding="utf-8")
    outcome = run(walled, Box(worktree=worktree), command)
    if walled is BackendName.BUBBLEWRAP:
        assert (outcome.exit_code, outcome.cannot_judge) == (0, ""), outcome.output
        assert success in outcome.output
    else:
        assert outcome.exit_code != 0
        assert REFUSED in outcome.cannot_judge


def python(backend: BackendName, worktree: Path, code: str) -> CommandOutcome:
    (worktree / "src" / "code.py").write_text(code, encoding="utf-8")
    return run(backend, Box(worktree=worktree), ["python3", "src/code.py"])


RED = """
import asyncio, os, pwd, socket, sys
pwd.getpwuid(os.getuid())
for family, kind in ((socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)):
    try: socket.socket(family, kind).close()
    except OSError: pass
try: socket.socket(socket.AF_UNIX).connect('/run/nscd/socket')
except OSError: pass
asyncio.run(asyncio.sleep(0))
sys.exit('1 test failed')
"""


def test_a_red_result_counts_although_libraries_looked_for_network_and_services(
    walled: BackendName, worktree: Path
) -> None:
    """urllib3 tries IPv6 when it is imported, names are looked up by datagrams, and users by a
    service of the machine.
    """
    outcome = python(walled, worktree, RED)
    assert (outcome.exit_code, outcome.output, outcome.cannot_judge) == (1, "1 test failed\n", "")


def with_server_tests(sample: Sample, backend: BackendName) -> None:
    (sample.path / "tests" / "test_http.py").write_text(HTTP, encoding="utf-8")
    (sample.path / ".forge").mkdir(exist_ok=True)
    words = json.dumps([["python3", "-m", "unittest", "tests.test_http"]])
    (sample.path / ".forge" / "config.yml").write_text(
        f"commands: {{setup: [], build: [], lint: [], test: {words}}}\nsandbox: {backend}\n",
        encoding="utf-8",
    )
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "tests of a server")


def test_a_run_whose_baseline_landlock_cannot_judge_is_refused_with_the_reason(
    sample: Sample, landlock: BackendName
) -> None:
    with_server_tests(sample, landlock)
    said = sample.forge(
        "run",
        "Who is it on a day before the rota starts?",
        "--effort",
        "S",
        "--model",
        sample.model(),
    )
    assert said.code == 5, said
    assert "SANDBOX-003" in said.err
    assert "127.0.0.1" in said.err
    assert "cannot judge tests that use 127.0.0.1" in said.out + said.err, (
        "the baseline names it before anything is red"
    )


def test_the_doctor_names_what_landlock_cannot_judge(sample: Sample, landlock: BackendName) -> None:
    with_server_tests(sample, landlock)
    said = sample.forge("doctor", "--model", sample.model())
    assert "landlock, which cannot judge tests that use 127.0.0.1" in said.out
