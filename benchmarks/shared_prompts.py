"""Tokens of a run's prompts that a provider's cache does not find again.

`python -m benchmarks.shared_prompts` plays the demo, makes each of its prompts anew and simulates a
cache of beginnings: of a prompt only what no earlier prompt of the run began with is new. A token
is four characters. Beside it stands the order before: the role first, as the system part.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forge_bot.prompts.material import Prompt
from tests.fakes.finished import demo, finished


def main() -> int:
    """Print a line for each prompt, and the sums."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        run = finished(demo(Path(name)), Path(name), 0)
        made = [(step.action.phase, run.prompt(step)[0]) for step in run.steps]
    ordered = new_tokens([prompt.text for _, prompt in made])
    role_first = new_tokens([_role_first(prompt) for _, prompt in made])
    print(f"{'phase':<20} {'tokens':>8} {'new':>8} {'new, role first':>16}")
    for (phase, prompt), new, before in zip(made, ordered, role_first, strict=True):
        print(f"{phase:<20} {len(prompt.text) // 4:8,} {new:8,} {before:16,}")
    total = sum(len(prompt.text) // 4 for _, prompt in made)
    print(f"{'all':<20} {total:8,} {sum(ordered):8,} {sum(role_first):16,}")
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


def _role_first(prompt: Prompt) -> str:
    return "\n".join((prompt.role, prompt.system, prompt.user.replace(prompt.role.strip(), "", 1)))


if __name__ == "__main__":
    sys.exit(main())
