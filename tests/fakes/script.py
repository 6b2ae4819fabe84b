"""Scripts for the scripted model: what each agent answers on the sample repository, with the parts
a test wants different.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from forge_bot.engine.phases import (
    AgentPhase,
    AnsweringPhase,
    ReviewPhase,
    TaskReviewPhase,
    TasksPhase,
)
from tests.fakes.bench import SHIPPED

Answer = Mapping[str, object]

HEADINGS: dict[str, tuple[str, ...]] = {
    **{phase.agent: phase.headings for phase in reversed(SHIPPED.speaking)},
    **{
        each.agent: each.headings
        for phase in SHIPPED.phases
        if isinstance(phase, AgentPhase)
        for each in phase.variants.values()
    },
}
"""What each agent's document has to have, those of the pipeline itself first."""


GUARD = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": "        shift = (day - self.start).days // self.days\n",
    "new": (
        "        if day < self.start:\n            return None\n        shift = (day -"
        " self.start).days // self.days\n"
    ),
}
TEST = {
    "path": "tests/test_before.py",
    "operation": "write",
    "old": "",
    "new": (
        "import unittest\nfrom datetime import date\n\nfrom rota.schedule import"
        " Schedule\n\n\nclass BeforeTheStart(unittest.TestCase):\n    def"
        ' test_nobody_is_on_call(self):\n        self.assertIsNone(Schedule(("ann",), date(2026, 1,'
        " 5)).on_call(date(2026, 1, 4)))\n"
    ),
}
WORKFLOW = {
    "path": ".github/workflows/ci.yml",
    "operation": "write",
    "old": "",
    "new": "on: push\n",
}
BREAKS = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": "        return self.people[shift % len(self.people)]\n",
    "new": "        return self.people[0]\n",
}
MENDS = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": BREAKS["new"],
    "new": BREAKS["old"],
}

TASKS = (
    "# Tasks\n\n## Task 1: Nobody before the start\nmode: sequential\nfiles:\n- rota/schedule.py\n-"
    " tests/test_before.py\ndepends_on: []\n\nAcceptance criteria:\n- [ ] AC-1: `on_call` gives"
    " None before the start\n"
)


def document(*headings: str, title: str = "Document", body: str = "Something true.") -> Answer:
    """A document with these headings, each with a body."""
    return {
        "artifact_markdown": (
            f"# {title}\n\n" + "\n\n".join(f"## {heading}\n\n{body}" for heading in headings) + "\n"
        )
    }


def two_tasks_design() -> Answer:
    """A design that lists its two tasks, which share no file."""
    tasks = (
        "### Task 1: Nobody before the start\n\n- `rota/schedule.py`: the guard\n"
        "- `tests/test_before.py`: proves it\n\n### Task 2: A note for readers\n\n"
        "- `docs/before.md`: new\n- Tasks: several"
    )
    plain = str(document(*HEADINGS["architect"], title="fix: say nobody")["artifact_markdown"])
    return {"artifact_markdown": plain.replace("## Changes\n\n", f"## Changes\n\n{tasks}\n\n")}


def deciding_design() -> Answer:
    """A design that leaves two decisions to a person."""
    plain = str(document(*HEADINGS["architect"], title="fix: say nobody")["artifact_markdown"])
    decisions = (
        "1. Which words?\n   - a: Keep the words.\n   - b: Say `nobody yet`.\n"
        "2. Which exit code?\n   - a: Keep 0.\n   - b: Give 1.\n"
    )
    return {
        "artifact_markdown": plain.replace(
            "## Decisions\n\nSomething true.", f"## Decisions\n\n{decisions}"
        )
    }


def review_of_requirements(*numbers: str) -> Answer:
    """A review that passes, with a row for each of these requirements."""
    rows = "\n".join(f"| {number} | `rota/schedule.py` | | met |" for number in numbers)
    table = f"| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n{rows}"
    text = str(review("PASS", extra=["Requirements"])["artifact_markdown"])
    return {"artifact_markdown": text.replace("All of it.", table)}


def review(verdict: str, *findings: str, extra: Sequence[str] = ()) -> Answer:
    """A review with a verdict and findings such as `[MAJOR] something`."""
    listed = (
        "\n".join(f"- **{finding.split(']')[0]}]**{finding.split(']')[1]}" for finding in findings)
        or "None."
    )
    more = "".join(f"\n## {heading}\n\nAll of it.\n" for heading in extra)
    return {
        "artifact_markdown": (
            f"# Review\n\n## Verdict: {verdict}\n\nRead it.\n{more}\n## Findings\n\n{listed}\n"
        )
    }


def change(*edits: dict[str, str]) -> Answer:
    """The implementer's finished work."""
    return {**document(*HEADINGS["implementer"], title="Task"), "edits": list(edits)}


def stays_broken(*edits: dict[str, str]) -> dict[tuple[str, str, str], Answer | str]:
    """Answers of an implementer whose fixes mend nothing."""
    notes = (
        {"path": f"notes-{number}.txt", "operation": "write", "old": "", "new": "Tried.\n"}
        for number in range(1, 4)
    )
    tries = {
        ("implementer", "*", f"fix-{number}/1.1"): change(note)
        for number, note in enumerate(notes, start=1)
    }
    return {("implementer", "*", "*"): change(*edits), **tries}


def look(*paths: str) -> Answer:
    """A wish to read files first."""
    requests = [
        {
            "provider": "read_file",
            "params_json": json.dumps({"path": path}),
            "reasoning": "to see it",
        }
        for path in paths
    ]
    return {"requests": requests, "actions": []}


def usual() -> dict[tuple[str, str, str], Answer]:
    """What every agent says when all goes well, by agent, phase and round; `*` fits all."""
    agents = [phase.agent for phase in SHIPPED.speaking]
    return {
        **{
            (agent, "*", "*"): document(*headings)
            for agent, headings in HEADINGS.items()
            if agent not in agents
        },
        **{
            (phase.agent, "*" if agents.count(phase.agent) == 1 else phase.id, "*"): well(phase)
            for phase in SHIPPED.speaking
        },
    }


def well(phase: AnsweringPhase) -> Answer:
    """What the agent of a phase says when all goes well: a document with its headings, a yes, the
    list of tasks or the change.
    """
    match phase:
        case ReviewPhase() | TaskReviewPhase():
            yes = next(verdict for verdict in phase.verdicts if verdict.positive)
            return review(
                yes.value,
                extra=[
                    heading for heading in phase.headings if heading not in {"Verdict", "Findings"}
                ],
            )
        case AgentPhase(tasks=True):
            return {"artifact_markdown": TASKS}
        case TasksPhase():
            return change(GUARD, TEST)
        case _:
            return document(*phase.headings)


def write(path: Path, different: Mapping[tuple[str, str, str], Answer | str] | None = None) -> str:
    """Write a script; the name of its model. `different` replaces or adds answers, as data or as
    the model's own words.
    """
    answers = {**usual(), **(different or {})}
    usage = {"calls": 1, "inputTokens": 1000, "outputTokens": 100}
    lines = [
        json.dumps(
            {"agent": agent, "phase": phase, "round": round_, "answer": answer, "usage": usage}
        )
        for (agent, phase, round_), answer in answers.items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"scripted:{path}"
