"""A provider of batches on loopback: Anthropic's message batches, and OpenAI's files and batches.

It keeps what it is given. A batch ends when a test says so, with an answer to each question.
"""

import json
import re
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from forge_bot.runs.this_process import now
from tests.fakes import script
from tests.fakes.agents import AgentServer, role_of
from tests.fakes.model_server import Asked, JsonObject, Question, Says, Told, envelope

DAY = timedelta(days=1)


@dataclass
class FakeBatch:
    """One batch of one account. `outcomes` has how a question ended that was not answered."""

    id: str
    account: str
    questions: dict[str, JsonObject]
    created: datetime
    file: str = ""
    ended: bool = False
    cancelled: bool = False
    outcomes: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class BatchServer(AgentServer):
    """`loses_reply`: the next batch is taken in, and the one who sent it never hears of it."""

    batches: list[FakeBatch] = field(default_factory=list[FakeBatch])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    loses_reply: bool = False
    broken: int = 0
    """The status with which handing in is refused, unless 0."""

    def __post_init__(self) -> None:
        self._lock = threading.Condition()

    # -- what a test says
    # ----------------------------------------------------------------------------------------------

    def end(self, **outcomes: str) -> int:
        """End all batches that are under way; how many. `all="expired"` answers none of them."""
        with self._lock:
            open_ = [each for each in self.batches if not each.ended]
            for each in open_:
                left_out = each.questions if outcomes else ()
                each.outcomes = dict.fromkeys(left_out, next(iter(outcomes.values()), ""))
                each.ended = True
            return len(open_)

    def wait_for_batches(self, count: int, seconds: float = 60.0) -> bool:
        """Whether that many batches came in, waiting at most `seconds` for the last."""
        with self._lock:
            return self._lock.wait_for(lambda: len(self.batches) >= count, timeout=seconds)

    @property
    def handed_in(self) -> list[str]:
        """The agents that were asked, in the order in which their questions were handed in."""
        return [
            role_of(_asked(body))[0] for each in self.batches for body in each.questions.values()
        ]

    # -- what a client says
    # ----------------------------------------------------------------------------------------------

    def elsewhere(self, asked: Asked) -> Told | None:
        path = urlsplit(asked.path).path
        for pattern, do in _ROUTES:
            found = re.fullmatch(pattern, f"{asked.method} {path}")
            if found:
                with self._lock:
                    told: Told = do(self, asked, *found.groups())
                    self._lock.notify_all()
                    return told
        return None

    def _taken(self, account: str, questions: dict[str, JsonObject], file: str = "") -> FakeBatch:
        number = len(self.batches) + 1
        name = f"batch_{number}" if file else f"msgbatch_{number}"
        batch = FakeBatch(name, account, questions, now(), file)
        self.batches.append(batch)
        return batch

    def _of(self, asked: Asked, name: str) -> FakeBatch | None:
        account = _account(asked.key)
        return next((x for x in self.batches if x.id == name and x.account == account), None)

    def _answered(self, batch: FakeBatch, question: str, path: str) -> JsonObject:
        body = batch.questions[question]
        says = Says(json.dumps(self.answer_to(body)), input_tokens=self.tokens, output_tokens=100)
        return envelope(path, body, says)

    def answer_to(self, body: JsonObject) -> script.Answer:
        """What the model says to a question."""
        agent, phase = role_of(_asked(body))
        return self.answers.get((agent, phase, "*")) or self.answers[agent, "*", "*"]

    def _refusal(self) -> Told | None:
        if not self.broken:
            return None
        error = {"type": "error", "error": {"type": "api_error", "message": "not today"}}
        return _json(error, self.broken)

    # Anthropic

    def anthropic_create(self, asked: Asked) -> Told:
        if (refused := self._refusal()) is not None:
            return refused
        requests = json.loads(asked.body)["requests"]
        questions = {each["custom_id"]: each["params"] for each in requests}
        batch = self._taken(_account(asked.key), questions)
        return self._told(self._anthropic(batch))

    def _told(self, value: object) -> Told:
        lost, self.loses_reply = self.loses_reply, False
        return Told(json.dumps(value).encode(), lost=lost)

    def anthropic_one(self, asked: Asked, name: str) -> Told:
        batch = self._of(asked, name)
        return _json(self._anthropic(batch)) if batch is not None else _missing()

    def anthropic_cancel(self, asked: Asked, name: str) -> Told:
        batch = self._of(asked, name)
        if batch is None:
            return _missing()
        batch.cancelled = batch.ended = True
        batch.outcomes = dict.fromkeys(batch.questions, "canceled")
        return _json(self._anthropic(batch))

    def anthropic_results(self, asked: Asked, name: str) -> Told:
        batch = self._of(asked, name)
        if batch is None:
            return _missing()
        lines: list[str] = []
        for question in reversed(batch.questions):
            kind = batch.outcomes.get(question, "succeeded")
            result: JsonObject = {"type": kind}
            if kind == "missing":
                continue
            if kind == "succeeded":
                result["message"] = self._answered(batch, question, "/v1/messages")
            if kind == "errored":
                error = {"type": "invalid_request_error", "message": "too odd"}
                result["error"] = {"type": "error", "error": error}
            lines.append(json.dumps({"custom_id": question, "result": result}))
        return Told("".join(f"{line}\n" for line in lines).encode())

    def _anthropic(self, batch: FakeBatch) -> JsonObject:
        place = f"{self.url}/v1/messages/batches/{batch.id}/results"
        return {**_anthropic(batch), "results_url": place if batch.ended else None}

    # OpenAI

    def openai_upload(self, asked: Asked) -> Told:
        name = f"file-{len(self.files) + 1}"
        found = re.search(rb"\r\n\r\n(\{.*\})\r\n--", asked.body, re.DOTALL)
        assert found, asked.body[:500]
        self.files[name] = found[1]
        return _json(_file(name, len(found[1])))

    def openai_content(self, asked: Asked, name: str) -> Told:
        del asked
        return Told(self.files[name]) if name in self.files else _missing()

    def openai_delete(self, asked: Asked, name: str) -> Told:
        del asked
        self.files.pop(name, None)
        return _json({"id": name, "object": "file", "deleted": True})

    def openai_create(self, asked: Asked) -> Told:
        if (refused := self._refusal()) is not None:
            return refused
        file = json.loads(asked.body)["input_file_id"]
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        questions = {line["custom_id"]: line["body"] for line in lines}
        return self._told(self._openai(self._taken(_account(asked.key), questions, file)))

    def openai_one(self, asked: Asked, name: str) -> Told:
        batch = self._of(asked, name)
        return _json(self._openai(batch)) if batch is not None else _missing()

    def openai_cancel(self, asked: Asked, name: str) -> Told:
        batch = self._of(asked, name)
        if batch is None:
            return _missing()
        batch.cancelled = batch.ended = True
        batch.outcomes = dict.fromkeys(batch.questions, "canceled")
        return _json(self._openai(batch))

    def _openai(self, batch: FakeBatch) -> JsonObject:
        whole = set(batch.outcomes.values())
        status = "in_progress" if not batch.ended else "completed"
        if batch.ended and len(batch.outcomes) == len(batch.questions):
            status = {"expired": "expired", "canceled": "cancelled"}.get(whole.pop(), status)
        output = self._output(batch) if batch.ended else None
        total = len(batch.questions)
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/responses",
            "completion_window": "24h",
            "created_at": int(batch.created.timestamp()),
            "input_file_id": batch.file,
            "status": status,
            "output_file_id": output,
            "request_counts": {"total": total, "completed": 0, "failed": 0},
        }

    def _output(self, batch: FakeBatch) -> str:
        name = f"file-out-{batch.id}"
        lines: list[str] = []
        for question in reversed(batch.questions):
            kind = batch.outcomes.get(question, "succeeded")
            if kind in {"missing", "expired", "canceled"}:
                continue
            body: JsonObject = {"error": {"message": "too odd", "type": "invalid_request_error"}}
            if kind == "succeeded":
                body = self._answered(batch, question, "/v1/responses")
            code = 200 if kind == "succeeded" else 400
            response = {"status_code": code, "request_id": "r", "body": body}
            lines.append(json.dumps({"id": question, "custom_id": question, "response": response}))
        self.files[name] = "".join(f"{line}\n" for line in lines).encode()
        return name


_ROUTES: list[tuple[str, Any]] = [
    (r"POST /v1/messages/batches", BatchServer.anthropic_create),
    (r"GET /v1/messages/batches/([^/]+)", BatchServer.anthropic_one),
    (r"GET /v1/messages/batches/([^/]+)/results", BatchServer.anthropic_results),
    (r"POST /v1/messages/batches/([^/]+)/cancel", BatchServer.anthropic_cancel),
    (r"POST /v1/files", BatchServer.openai_upload),
    (r"GET /v1/files/([^/]+)/content", BatchServer.openai_content),
    (r"DELETE /v1/files/([^/]+)", BatchServer.openai_delete),
    (r"POST /v1/batches", BatchServer.openai_create),
    (r"GET /v1/batches/([^/]+)", BatchServer.openai_one),
    (r"POST /v1/batches/([^/]+)/cancel", BatchServer.openai_cancel),
]


def _account(key: str) -> str:
    """The account of a key: what stands before its last dash. Keys of one account are changed."""
    return key.rpartition("-")[0]


def _json(value: object, status: int = 200) -> Told:
    return Told(json.dumps(value).encode(), status)


def _missing() -> Told:
    error = {"type": "not_found_error", "message": "There is no such thing."}
    return _json({"type": "error", "error": error}, 404)


def _file(name: str, size: int) -> JsonObject:
    return {
        "id": name,
        "object": "file",
        "bytes": size,
        "created_at": int(now().timestamp()),
        "filename": "batch.jsonl",
        "purpose": "batch",
        "status": "processed",
    }


def _anthropic(batch: FakeBatch) -> JsonObject:
    total = len(batch.questions)
    counts: dict[str, int] = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
    for question in batch.questions if batch.ended else ():
        kind = batch.outcomes.get(question, "succeeded")
        counts["succeeded" if kind == "missing" else kind] += 1
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.ended else "in_progress",
        "request_counts": {"processing": 0 if batch.ended else total, **counts},
        "created_at": batch.created.isoformat(),
        "expires_at": (batch.created + DAY).isoformat(),
        "ended_at": batch.created.isoformat() if batch.ended else None,
        "archived_at": None,
        "cancel_initiated_at": None,
    }


def _asked(body: JsonObject) -> Question:
    return Question("", body, "")
