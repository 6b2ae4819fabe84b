"""A model provider on loopback: speaks OpenAI chat, OpenAI responses and Anthropic messages, and
says what it is told to say.
"""

import json
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Says:
    """One programmed reply. `status` other than 200 sends `text` as the error's message."""

    text: str = ""
    status: int = 200
    cut: bool = False
    refuses: bool = False
    hangs: bool = False
    raw: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    error_type: str = "api_error"
    code: str | None = None
    input_tokens: int = 100
    cached_tokens: int = 0
    output_tokens: int = 20


def busy(retry_after: str = "0.01") -> Says:
    """429 with the wait the provider asks for."""
    return Says(
        "slow down",
        status=429,
        headers=(("retry-after", retry_after),),
        error_type="rate_limit_error",
    )


@dataclass(frozen=True)
class Question:
    """One request as it came over the wire."""

    path: str
    body: JsonObject
    key: str


@dataclass(frozen=True)
class Asked:
    """One request as it came over the wire, of any kind."""

    method: str
    path: str
    body: bytes
    key: str


@dataclass(frozen=True)
class Told:
    """A reply. With `lost` the connection breaks, once the server is released, instead of it."""

    body: bytes
    status: int = 200
    lost: bool = False


@dataclass
class ModelServer:
    """Counts every request; answers from `replies` in order, and with the last one for ever
    after. `refuses_key` is said to who lists the models.
    """

    replies: list[Says] = field(default_factory=list[Says])
    refuses_key: bool = False
    questions: list[Question] = field(default_factory=list[Question])

    def __enter__(self) -> Self:
        self._arrived = threading.Condition()
        self._released = threading.Event()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Base URL without a path; OpenAI's clients want `/v1` after it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def will(self, *replies: Says) -> Self:
        """Program what is said from now on."""
        self.replies = [*replies]
        self._said = 0
        return self

    def wait_for(self, count: int, seconds: float = 20.0) -> bool:
        """Whether `count` requests have arrived, waiting at most `seconds` for the last."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.questions) >= count, timeout=seconds)

    def release(self) -> None:
        """Let go of requests that hang."""
        self._released.set()

    def hold(self) -> None:
        """Block the calling request until the server is released or closed."""
        self._released.wait(30)

    def take(self, question: Question) -> Says:
        """Count a request and give out the reply that is due."""
        with self._arrived:
            self.questions.append(question)
            reply = self.replies[min(self._said, len(self.replies) - 1)]
            self._said += 1
            self._arrived.notify_all()
        return reply

    def answered(self) -> None:
        """A reply is out."""

    def elsewhere(self, asked: "Asked") -> "Told | None":
        """Return the reply to anything but a question; None where it is one.

        The list of models is empty.
        """
        if asked.method != "GET" or not asked.path.partition("?")[0].endswith("/models"):
            return None
        if self.refuses_key:
            reply = Says("Incorrect API key provided", HTTPStatus.UNAUTHORIZED)
            return Told(json.dumps(envelope(asked.path, {}, reply)).encode(), reply.status)
        return Told(b'{"object": "list", "data": [], "has_more": false}')


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no event here."""


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            key = self.headers.get("x-api-key") or self.headers.get(
                "authorization", ""
            ).removeprefix("Bearer ")
            told = server.elsewhere(Asked(self.command, self.path, raw, key))
            if told is not None:
                self._tell(told)
                return
            body: JsonObject = json.loads(raw)
            says = server.take(Question(self.path, body, key))
            if says.hangs:
                server.hold()
                self.close_connection = True
                return
            self._send(
                says,
                says.raw if says.raw is not None else json.dumps(envelope(self.path, body, says)),
            )
            server.answered()

        def _tell(self, told: Told) -> None:
            if told.lost:
                server.hold()
                self.close_connection = True
                return
            self.send_response(told.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        def _send(self, says: Says, text: str) -> None:
            payload = text.encode()
            self.send_response(says.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            for name, value in says.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

    return Handler


def envelope(path: str, body: JsonObject, says: Says) -> JsonObject:
    if says.status != 200:
        error = {"type": says.error_type, "message": says.text, "code": says.code, "param": None}
        return {"type": "error", "error": error} if path.endswith("/messages") else {"error": error}
    if path.endswith("/messages"):
        return _messages(body, says)
    return _responses(body, says) if path.endswith("/responses") else _chat(body, says)


def _chat(body: JsonObject, says: Says) -> JsonObject:
    message = {
        "role": "assistant",
        "content": None if says.refuses else says.text,
        "refusal": says.text if says.refuses else None,
    }
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "length" if says.cut else "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": says.input_tokens,
            "completion_tokens": says.output_tokens,
            "total_tokens": says.input_tokens + says.output_tokens,
            "prompt_tokens_details": {"cached_tokens": says.cached_tokens},
        },
    }


def _responses(body: JsonObject, says: Says) -> JsonObject:
    kind = "refusal" if says.refuses else "output_text"
    content: JsonObject = {
        "type": kind,
        "refusal" if says.refuses else "text": says.text,
        "annotations": [],
    }
    return {
        "id": "resp-1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": body["model"],
        "status": "incomplete" if says.cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if says.cut else None,
        "output": [
            {
                "type": "message",
                "id": "m-1",
                "role": "assistant",
                "status": "completed",
                "content": [content],
            }
        ],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": says.input_tokens,
            "input_tokens_details": {"cached_tokens": says.cached_tokens},
            "output_tokens": says.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": says.input_tokens + says.output_tokens,
        },
    }


def _messages(body: JsonObject, says: Says) -> JsonObject:
    return {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [] if says.refuses else [{"type": "text", "text": says.text}],
        "stop_reason": "refusal" if says.refuses else "max_tokens" if says.cut else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": says.input_tokens - says.cached_tokens,
            "cache_read_input_tokens": says.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": says.output_tokens,
        },
    }
