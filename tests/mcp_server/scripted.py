"""A model provider on loopback for programs of others: says what it is told to over the wire they
speak, and keeps what it was sent.
"""

import json
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Block = dict[str, Any]


class Wire(NamedTuple):
    """How a provider is spoken to: the key of a question that holds the conversation, and an answer
    as server-sent events.
    """

    conversation: str
    stream: Callable[[Block], str]
    aside: Block
    """The answer to a question without tools, which is about the session and no part of it: a
    title, say."""


@dataclass
class Provider:
    """Answers in order, the last one for ever."""

    url: str
    wire: Wire
    answers: Sequence[Block]
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def words(self) -> str:
        """Everything that the model was sent."""
        return json.dumps(
            [question[self.wire.conversation] for question in self.asked], ensure_ascii=False
        )

    def answer(self, question: dict[str, Any]) -> str:
        if not question.get("tools"):
            return self.wire.stream(self.wire.aside)
        self.asked.append(question)
        return self.wire.stream(self.answers[min(len(self.asked), len(self.answers)) - 1])


@contextmanager
def providing(wire: Wire, answers: Sequence[Block]) -> Generator[Provider]:
    """A provider that gives these answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = made.answer(question).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Provider(f"http://127.0.0.1:{http.server_address[1]}", wire, answers)
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield made
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def events(*data: Block) -> str:
    """Server-sent events; one with a type has it as its name too."""
    return "".join(
        (f"event: {item['type']}\n" if "type" in item else "") + f"data: {json.dumps(item)}\n\n"
        for item in data
    )
