"""Tokens of a run's prompts that a provider's cache does not find again.

`python -m benchmarks.shared_prompts` plays the demo, makes each of its prompts anew and simulates a
cache of beginnings: of a prompt only what no earlier prompt of the run began with is new. A token
is four characters. Beside it stands the order before: the role first, as the system part. The last
column is of agents that go on with the conversation of the agent before them, or with their own
after a review, where no gate lies between; reviewers begin fresh.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forge_bot.engine.pipeline import GatePhase, ReviewPhase, TaskReviewPhase
from forge_bot.prompts.material import Prompt
from tests.fakes.finished import Finished, demo, finished


def main() -> int:
    """Print a line for each prompt, and the sums."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        run = finished(demo(Path(name)).repository, Path(name), 0)
        made = [(step.action.phase, run.prompt(step)[0]) for step in run.steps]
        continued = new_tokens(_continued(run, [prompt for _, prompt in made]))
    ordered = new_tokens([prompt.text for _, prompt in made])
    role_first = new_tokens([_role_first(prompt) for _, prompt in made])
    print(f"{'phase':<20} {'tokens':>8} {'new':>8} {'new, role first':>16} {'continued':>10}")
    for (phase, prompt), *new in zip(made, ordered, role_first, continued, strict=True):
        print(f"{phase:<20} {len(prompt.text) // 4:8,} {new[0]:8,} {new[1]:16,} {new[2]:10,}")
    total = sum(len(prompt.text) // 4 for _, prompt in made)
    sums = (sum(ordered), sum(role_first), sum(continued))
    print(f"{'all':<20} {total:8,} {sums[0]:8,} {sums[1]:16,} {sums[2]:10,}")
    return 0


def new_tokens(prompts: Sequence[str]) -> list[int]:
    """Return for each prompt the tokens behind the longest beginning it shares with one before."""
    return [
        (len(prompt) - max((alike(prompt, seen) for seen in prompts[:at]), default=0)) // 4
        for at, prompt in enumerate(prompts)
    ]


def alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _continued(run: Finished, prompts: Sequence[Prompt]) -> list[str]:
    """Return the text of each call where an agent goes on with an earlier conversation: that, the
    answer in it, and what of its own prompt was not in it yet.
    """
    pipeline = run.prompts.run.pipeline
    texts: list[str] = []
    for at, prompt in enumerate(prompts):
        phase = run.steps[at].action.phase
        place = pipeline.position(phase)
        may = not isinstance(pipeline.phase(phase), ReviewPhase | TaskReviewPhase)
        before = [
            number
            for number, step in enumerate(run.steps[:at])
            if (there := pipeline.position(step.action.phase)) <= place
            and not any(isinstance(each, GatePhase) for each in pipeline.phases[there:place])
            and not isinstance(pipeline.phases[there], ReviewPhase | TaskReviewPhase)
        ]
        if not may or not before:
            texts.append(prompt.text)
            continue
        earlier = prompts[before[-1]]
        answer = run.prompts.inputs.artifact(run.steps[before[-1]].action.output_file).text
        new = prompt.user[alike(earlier.user, prompt.user) :].replace(answer, "")
        own = new.replace(prompt.role.strip(), "") if prompt.role == earlier.role else new
        texts.append(texts[before[-1]] + answer + own)
    return texts


def _role_first(prompt: Prompt) -> str:
    return "\n".join((prompt.role, prompt.system, prompt.user.replace(prompt.role.strip(), "", 1)))


if __name__ == "__main__":
    sys.exit(main())
