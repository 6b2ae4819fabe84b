"""A worker tells an OpenTelemetry collector of its work."""

import queue
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.temporal.scene import Server, clone


def test_a_collector_gets_the_metrics_of_a_worker(server: Server, tmp_path: Path) -> None:
    told = queue.Queue[tuple[str, bytes]]()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.put((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

    http = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{http.server_address[1]}/v1/metrics"
    with clone(tmp_path / "clone", server) as place:
        words = ("worker", "--address", server.address, "--metrics", url)
        worker = subprocess.Popen(
            [sys.executable, "-m", "forge_bot", *words],
            cwd=place.path,
            env=place.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            path, body = told.get(timeout=60)
        finally:
            worker.kill()
            worker.wait()
            http.shutdown()
            http.server_close()
        assert path == "/v1/metrics"
        assert b"temporal_" in body
        refused = place.forge("worker", "--address", server.address, "--metrics", "4317")
        assert (refused.code, "http://localhost:4317" in refused.err) == (2, True), refused.err
