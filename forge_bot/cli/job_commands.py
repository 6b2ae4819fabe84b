"""The commands that a workflow gives, read without the option parser: to load that takes as long as
a job's first question.
"""

from collections.abc import Callable, Sequence
from pathlib import Path


def job_command(words: Sequence[str]) -> Callable[[], int] | None:
    """Return the job for a command line; None if it is not one of a workflow."""
    match words:
        case ["work"]:
            return work
        case ["work", "--out", folder]:
            return lambda: work(Path(folder))
        case ["publish", "--in", folder]:
            return lambda: publish(Path(folder))
        case ["publish", "--in", folder, "--last"]:
            return lambda: publish(Path(folder), last=True)
        case _:
            return None


def work(out: Path | None = None) -> int:
    """Do a job, or only the worker's part of it, and leave that in a folder."""
    if out is not None:
        from forge_bot.bot.job import deliver

        return deliver(out)
    from forge_bot.bot.job_start import begin

    # Git clones while the rest is read.
    begun = begin()
    from forge_bot.bot.job import work as carry_on

    return carry_on(begun)


def publish(folder: Path | None, *, last: bool = False) -> int:
    """Do the part of a job that holds the token."""
    from forge_bot.bot.job_start import begin

    # What was handed over to a worker was found to be a command before.
    begun = begin(certain=folder is not None)
    from forge_bot.bot.job import publish as carry_on

    return carry_on(begun, folder, last=last)
