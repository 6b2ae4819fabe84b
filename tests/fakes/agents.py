"""A model provider that answers by who is asked: the usual script of the sample repository, over
real HTTP.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

from tests.fakes import script
from tests.fakes.model_server import JsonObject, ModelServer, Question, Says

ROLES = {
    "Situation Analyst and Investigator": "situation-analyst-investigator",
    "Situation Analyst": "situation-analyst",
    "Investigator": "investigator",
    "Architect": "architect",
    "Design Reviewer": "design-reviewer",
    "Task Decomposer": "task-decomposer",
    "Task Reviewer": "task-reviewer",
    "Implementer": "implementer",
    "Code Reviewer": "impl-reviewer",
    "Implementation Reviewer": "impl-reviewer",
    "Comprehensive Reviewer": "comprehensive-reviewer",
    "Verifier": "verifier",
    "Explainer": "inquiry",
    "Performer of a Skill": "skill",
}


def role_in(prompt: str) -> str:
    """Which agent a prompt is for: its role comes after all material, so it is the last one."""
    titles = [
        line.removeprefix("# ").split(":")[0].strip()
        for line in prompt.splitlines()
        if line.startswith("# ")
    ]
    agent = next((ROLES[title] for title in reversed(titles) if title in ROLES), "")
    assert agent, f"nobody here is called any of {titles}"
    return agent


def role_of(question: Question) -> tuple[str, str]:
    """Which agent is asked, and in which of the verifier's two phases."""
    text = json.dumps(question.body)
    first = first_message(question.body)
    return role_in(first), "final-summary" if "`summary.md` as a" in text else "final-verification"


def first_message(body: JsonObject) -> str:
    """The first message to the agent, in the words of any of the providers."""
    messages = body.get("messages") or body["input"]
    content = next(each["content"] for each in messages if each.get("role") == "user")
    return (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )


@dataclass
class AgentServer(ModelServer):
    """`asked` counts the questions by agent; `answers` are the script's; question number
    `will_hang` gets no answer, and `will_refuse` is not let in. `tokens` is how many a question is
    said to have.
    """

    answers: dict[tuple[str, str, str], script.Answer] = field(default_factory=script.usual)
    asked: Counter[str] = field(default_factory=Counter[str])
    will_hang: int = 0
    will_refuse: int = 0
    tokens: int = 1000

    def take(self, question: Question) -> Says:
        if not self.answers:
            self.replies, self._said = [Says("yes")], 0
            return super().take(question)
        agent, phase = role_of(question)
        self.asked[agent] += 1
        if self.will_refuse == sum(self.asked.values()):
            self.replies, self._said = [Says("wrong key", status=401)], 0
            return super().take(question)
        answer = self.answers.get((agent, phase, "*")) or self.answers[agent, "*", "*"]
        hangs = self.will_hang == sum(self.asked.values())
        self.replies = [
            Says(json.dumps(answer), input_tokens=self.tokens, output_tokens=100, hangs=hangs)
        ]
        self._said = 0
        return super().take(question)
