"""The commands that a workflow or an MCP client gives, read without the option parser: to load that
takes as long as a job's first question, and a tenth of a server's start.
"""

from collections.abc import Callable, Sequence
from pathlib import Path


def job_command(words: Sequence[str]) -> Callable[[], int] | None:
    """Return the job for a command line; None if only the option parser can read it."""
    match words:
        case ["mcp"]:
            return lambda: serve(None)
        case ["mcp", "--repo", folder] if not folder.startswith("-"):
            return lambda: serve(Path(folder))
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


def serve(folder: Path | None) -> int:
    """Serve a repository to an MCP client over stdin and stdout; without a folder, the current one
    or what the client has open.
    """
    from forge_bot.mcp_server.run_server import serve_stdio

    return serve_stdio(folder)


def work(out: Path | None = None) -> int:
    """Do a job, or only the worker's part of it, and leave that in a folder."""
    if out is not None:
        from forge_bot.bot.job import deliver

        return deliver(out)
    from forge_bot.bot.job import work as carry_on

    return carry_on()


def publish(folder: Path | None, *, last: bool = False) -> int:
    """Do the part of a job that holds the token."""
    from forge_bot.bot.job import publish as carry_on

    return carry_on(folder, last=last)
