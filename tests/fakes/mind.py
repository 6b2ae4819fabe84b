"""A model that is a function of the prompt and of nothing else: the same question gets the same
answer, whoever asks it.
"""

import json
import re
from dataclasses import dataclass, field

from tests.fakes import script
from tests.fakes.agents import role_in
from tests.fakes.model_server import ModelServer, Question, Says

NAME = "openai-chat:mind"
PLAN = (
    "# Tasks\n\n## Task 1: Nobody before the start\nmode: parallel\nfiles:\n-"
    " rota/schedule.py\ndepends_on: []\n\nAcceptance criteria:\n- [ ] AC-1: None before the"
    " start\n\n## Task 2: A test of it\nmode: parallel\nfiles:\n- tests/test_before.py\ndepends_on:"
    " []\n\nAcceptance criteria:\n- [ ] AC-1: the test is there\n"
)
CRITICAL, MAJOR = "The end is missing", "The day before the start is not said"
REVISED = "The last day is the day before nobody is on call."
NOTED = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": script.GUARD["new"].split("\n")[0],
    "new": (
        "        # Nobody is on call before the first"
        f" day.\n{script.GUARD['new'].split(chr(10))[0]}"
    ),
}
_OUTPUT = re.compile(
    r"^## Output File\n\n- \S+/(?P<name>[^/\s]+)$|write `(?P<answer>[^`/]+\.md)` as a", re.MULTILINE
)
_ROUND = re.compile(r"^This is round (\d+)\.", re.MULTILINE)
_ONE_OF = re.compile(r"^Yours is task (\S+)\.$", re.MULTILINE)


def think(prompt: str) -> script.Answer:
    """The answer to a prompt: a REVISE for the first design, a FAIL for the first version of task
    1, and else all goes well.
    """
    role = role_in(prompt)
    mine = _section(prompt)
    found = _OUTPUT.search(mine)
    assert found is not None, f"{role} is not told where to write"
    name = found["name"] or found["answer"]
    asked = _ROUND.search(mine)
    return _answer(role, name, int(asked[1]) if asked is not None else 1)


def _section(prompt: str) -> str:
    """Where several agents share a prompt, what is for the one that is told its task at the end."""
    told = _ONE_OF.search(prompt)
    if told is None:
        return prompt
    part = re.search(
        rf"^# Task {told[1]}\n(.*?)(?=^# Task \S+\n|\Z)", prompt, re.MULTILINE | re.DOTALL
    )
    assert part is not None
    return part[1]


def _answer(role: str, name: str, round_: int) -> script.Answer:
    usual = script.usual()
    match role, name, round_:
        case "architect", _, 2:
            return script.document(*script.HEADINGS["architect"], body=REVISED)
        case "design-reviewer", _, 1:
            return script.review("REVISE", f"[CRITICAL] {CRITICAL}")
        case "task-decomposer", _, _:
            return {"artifact_markdown": PLAN}
        case "implementer", "impl-1.md", 1:
            return script.change(script.GUARD)
        case "implementer", "impl-1.md", _:
            return script.change(NOTED)
        case "implementer", _, _:
            return script.change(script.TEST)
        case "impl-reviewer", "review-1.md", 1:
            return script.review("FAIL", f"[MAJOR] {MAJOR}", extra=["Acceptance Criteria"])
        case "verifier", _, _:
            return usual[
                "verifier",
                name.removesuffix(".md") if name != "summary.md" else "final-summary",
                "*",
            ]
        case _:
            return usual[role, "*", "*"]


@dataclass
class Mind(ModelServer):
    """The function behind a provider's API; `asked` are the prompts, in the order in which they
    came.
    """

    asked: list[str] = field(default_factory=list[str])

    def take(self, question: Question) -> Says:
        prompt = "\n".join(str(message["content"]) for message in question.body["messages"])
        with self._arrived:
            self.questions.append(question)
            self.asked.append(prompt)
            self._arrived.notify_all()
        return Says(json.dumps(think(prompt)), input_tokens=1000, output_tokens=100)
