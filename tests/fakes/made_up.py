"""Past runs that never were: the same ones every time, in words as unevenly frequent as words
are.
"""

import json
import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from forge_bot.knowledge.past_runs import PastRun
from forge_bot.store import Request, render_request
from forge_bot.values import Effort, Finding, Severity

_CONSONANTS, _VOWELS = "bcdfghklmnprstvw", "aeiou"
_DIFFERENT = 8_000
_FOLDERS, _MODULES = 40, 400


class MadeUp:
    """A source of texts and runs. The n-th word comes about 1/n as often as the first (Zipf)."""

    def __init__(self, seed: int = 7) -> None:
        self._chance = random.Random()  # noqa: S311 - the same runs each time, nothing secret
        self._words, state = _words(seed)
        self._chance.setstate(state)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(_DIFFERENT)))

    def text(self, words: int) -> str:
        """So many words."""
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=words))

    def run(self, number: int) -> PastRun:
        """A run of one to three tasks with some findings."""
        files = tuple(self._file() for _ in range(self._chance.randint(1, 5)))
        findings = [self._finding(files) for _ in range(self._chance.randint(0, 4))]
        return PastRun(
            name=(
                f"{20200101 + number // 28 % 12 * 100 + number % 28}-{number:05}-{self.text(3).replace(' ', '-')}"
            ),
            title=self.text(7).capitalize(),
            request=f"{self.text(self._chance.randint(20, 200))}.",
            summary=f"{self.text(25).capitalize()}.",
            files=files,
            outcome="done",
            date=f"20{20 + number % 6}-{1 + number % 12:02}-{1 + number % 28:02}",
            findings=tuple(("phase-6", finding) for finding in findings),
            friction=tuple(self.text(12) for _ in range(self._chance.randint(0, 2))),
        )

    def _file(self) -> str:
        return f"src/{self._chance.choice(self._words[:_FOLDERS])}/{self._chance.choice(self._words[:_MODULES])}.py"

    def _finding(self, files: tuple[str, ...]) -> Finding:
        where = f" (`{self._chance.choice(files)}`)" if self._chance.random() < 1 / 2 else ""
        return Finding(
            severity=self._chance.choice(list(Severity)), description=f"{self.text(9)}{where}"
        )


@cache
def _words(seed: int) -> tuple[list[str], tuple[Any, ...]]:
    """Words, and the state of the source of chance after they were made."""
    chance = random.Random(seed)  # noqa: S311 - the same words each time, nothing secret
    names = dict[str, None]()
    while len(names) < _DIFFERENT:
        syllables = chance.randint(2, 4)
        names[
            "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(syllables))
        ] = None
    return list(names), chance.getstate()


def workspace(run: PastRun) -> Iterator[tuple[str, str]]:
    """The files of a run's folder that tell of it, as forge-bot writes them."""
    request = Request(title=run.title, text=run.request, effort=Effort.M, effort_reason="asked for")
    yield "request.md", render_request(request)
    yield "state.json", json.dumps(_state(run), indent=2)
    points = "".join(f"- {point}\n" for point in run.friction)
    yield (
        "summary.md",
        f"# Summary\n\n## Summary\n\n{run.summary}\n\n## Improvement Report\n\n{points}",
    )
    yield (
        "review-1.md",
        "".join(f"- [{finding.severity}] {finding.description}\n" for _, finding in run.findings),
    )


def _state(run: PastRun) -> dict[str, object]:
    findings = [finding.model_dump(mode="json") for _, finding in run.findings]
    return {
        "schemaVersion": 1,
        "title": run.title,
        "effort": "M",
        "startedAt": f"{run.date}T09:00:00Z",
        "currentPhaseStatus": "completed",
        "artifacts": {"review-1.md": {"phase": "phase-6", "findings": findings}},
        "tasks": [{"spec": {"id": "1", "title": run.title, "files": list(run.files)}}],
    }
