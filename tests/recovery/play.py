"""A model provider that plays one whole run: a REVISE, a rejected design, a wave of two tasks, a
FAIL, looks into the repository.

What is answered depends on the question alone, never on how often it was asked: so a question asked
again after a kill gets the same answer, and two runs that ask the same questions end the same.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes import script
from tests.fakes.agents import role_of
from tests.fakes.model_server import ModelServer, Question, Says
from tests.fakes.rows import rows

ROWS = rows(__file__)

NOTES = "Say what happens to swaps"
"""What the person at the design gate says the first time."""

EXPLANATION = "The first day is the day of the first swap."
"""What a person who asks a question is answered."""

_TASKS: str = ROWS["tasks"]
_NOTE = {
    "path": "docs/before.md",
    "operation": "write",
    "old": "",
    "new": "Before the first day nobody is on call.\n",
}


def _architect(text: str) -> script.Answer:
    version = "third" if NOTES in text else "second" if "REVISE" in text else "first"
    return script.document(*script.HEADINGS["architect"], body=f"The {version} draft.")


def _design_reviewer(text: str) -> script.Answer:
    return (
        script.review("REVISE", "[MAJOR] the design says nothing of the start day")
        if "The first draft." in text
        else script.review("APPROVE")
    )


def _implementer(text: str) -> script.Answer:
    if "Task 2: A note for readers" in _own_part(text):
        return script.change(_NOTE)
    return (
        script.change(script.TEST)
        if "says FAIL" in text or "## Verdict: FAIL" in text
        else script.change(script.GUARD)
    )


def _impl_reviewer(text: str) -> script.Answer:
    wanting = "Nobody before the start" in _own_part(text) and "BeforeTheStart" not in text
    extra = ["Acceptance Criteria"]
    return (
        script.review("FAIL", "[MAJOR] no test covers it", extra=extra)
        if wanting
        else script.review("PASS", extra=extra)
    )


def _own_part(text: str) -> str:
    """The part of a question that says which task is meant."""
    _, found, own = text.partition("## Your Task")
    return own[:200] if found else text


def _look(*requests: tuple[str, dict[str, object]]) -> script.Answer:
    wanted = [
        {"provider": name, "params_json": json.dumps(params), "reasoning": "to see it"}
        for name, params in requests
    ]
    return {"requests": wanted, "actions": []}


def answer_to(
    question: Question, first: Mapping[str, script.Answer] | None = None
) -> script.Answer:
    """What the play says to a question; `first` has what agents say first."""
    agent, phase = role_of(question)
    messages = question.body["messages"]
    text = "\n".join(str(message["content"]) for message in messages[1:])
    begins = not any(message["role"] == "assistant" for message in messages)
    if begins and first is not None and agent in first:
        return first[agent]
    if agent == "investigator" and begins:
        return _look(
            ("read_file", {"path": "rota/schedule.py"}), ("search_code", {"pattern": "on_call"})
        )
    if agent == "comprehensive-reviewer" and begins:
        return _look(("run_tests", {}))
    match agent:
        case "inquiry":
            return {"artifact_markdown": EXPLANATION}
        case "architect":
            return _architect(text)
        case "design-reviewer":
            return _design_reviewer(text)
        case "task-decomposer":
            return {"artifact_markdown": _TASKS}
        case "implementer":
            return _implementer(text)
        case "impl-reviewer":
            return _impl_reviewer(text)
        case _:
            usual = script.usual()
            return usual.get((agent, phase, "*")) or usual[agent, "*", "*"]


@dataclass
class Play(ModelServer):
    """Counts each question by its bytes, and calls `then` at the n-th one, before or after it is
    answered.
    """

    asked: Counter[str] = field(default_factory=Counter[str])
    taken: int = 0
    first: Mapping[str, script.Answer] = field(default_factory=dict[str, script.Answer])
    """What agents say first, by agent."""
    _given: int = 0
    _at: tuple[str, int] = ("", 0)
    _then: Callable[[], None] = field(default=lambda: None)
    _silent: threading.Event | None = None
    _reached: threading.Event = field(default_factory=threading.Event)
    _one: threading.RLock = field(default_factory=threading.RLock)

    def fresh(self) -> None:
        """Forget what was asked."""
        self.asked = Counter()

    def count(self, when: str, number: int, then: Callable[[], None]) -> None:
        """Count from one again, and call `then` at question `number`: `before` its answer or
        `after` it.
        """
        self.taken, self._given, self._at, self._then = 0, 0, (when, number), then

    @contextmanager
    def silent(self, at: int) -> Generator[None]:
        """Give no answer to question number `at`, nor to any later one, for the time of the
        block.
        """
        self.count("before", at, lambda: None)
        self._silent, self._reached = threading.Event(), threading.Event()
        try:
            yield
        finally:
            self._silent.set()
            self._silent = None

    def wait_until_silent(self) -> None:
        """Wait for the question that gets no answer."""
        assert self._reached.wait(60)

    def take(self, question: Question) -> Says:
        with self._one:
            self.taken += 1
            self.asked[json.dumps(question.body, sort_keys=True)] += 1
            if self._at == ("before", self.taken):
                self._then()
            silent = self._silent if self.taken >= self._at[1] else None
        if silent is not None:
            self._reached.set()
            silent.wait(60)
        answer = answer_to(question, self.first)
        return Says(json.dumps(answer), input_tokens=1000, output_tokens=100)

    def answered(self) -> None:
        with self._one:
            self._given += 1
            if self._at == ("after", self._given):
                self._then()
