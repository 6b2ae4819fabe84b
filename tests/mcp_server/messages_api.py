"""The provider that Claude Code asks, on loopback: says what it is told to, and keeps what it was
sent (https://docs.claude.com/en/api/messages-streaming).
"""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]


@dataclass
class Provider:
    """Answers in order, the last one for ever."""

    url: str
    answers: Sequence[Block]
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def words(self) -> str:
        """Everything that the model was sent."""
        return json.dumps([question["messages"] for question in self.asked], ensure_ascii=False)

    def answer(self, question: dict[str, Any]) -> str:
        if not question.get("tools"):
            # About the session and no part of it: a title, say.
            return _stream(says("A title"))
        self.asked.append(question)
        return _stream(self.answers[min(len(self.asked), len(self.answers)) - 1])


@contextmanager
def provider(*answers: Block) -> Generator[Provider]:
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
    made = Provider(f"http://127.0.0.1:{http.server_address[1]}", answers)
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


def says(text: str) -> Block:
    return {"type": "text", "text": text}


def uses(tool: str, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"use-{tool}", "name": tool, "input": given}


def _stream(block: Block) -> str:
    usage = {"input_tokens": 1, "output_tokens": 1}
    opened: Block = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    if block["type"] == "text":
        start, delta, why = says(""), {"type": "text_delta", "text": block["text"]}, "end_turn"
    else:
        empty: Block = {**block, "input": {}}
        start, delta, why = (
            empty,
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            "tool_use",
        )
    return events(
        {"type": "message_start", "message": opened},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": why, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    )
