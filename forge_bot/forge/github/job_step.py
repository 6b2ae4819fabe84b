"""A step of a workflow: the run that it belongs to, its variables, and what it writes: outputs, its
summary, and lines that GitHub shows beside the log.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import NotInAction
from forge_bot.forge.github.names import LOGIN_VARIABLE, api_of, server_of

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_OF_GATE = (
    *("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY"),
    *("GITHUB_ACTOR", "GITHUB_OUTPUT", "GITHUB_TOKEN"),
)
JOB_NEEDS = ("GITHUB_REPOSITORY", LOGIN_VARIABLE)
"""Variables that no job can do without."""
JOB_PREFIXES = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_", "STATE_")
"""How the names of a workflow's own variables begin."""
MACHINE_VARIABLES = ("RUNNER_TEMP", "RUNNER_OS", "RUNNER_ARCH", "RUNNER_TOOL_CACHE")
"""Those of them that tell of the machine alone."""


def job_variables(repository: str, run_id: str, payload: str, outputs: str) -> dict[str, str]:
    """Return the variables of a step, for one that no workflow starts."""
    return {
        "GITHUB_REPOSITORY": repository,
        "GITHUB_RUN_ID": run_id,
        "GITHUB_EVENT_PATH": payload,
        "GITHUB_OUTPUT": outputs,
        "GITHUB_STEP_SUMMARY": "",
    }


@dataclass(frozen=True, slots=True)
class StepContext:
    """The run of the workflow that this step belongs to."""

    event: str
    payload: str
    repository: str
    server: str
    api: str
    token: str
    actor: str
    triggering_actor: str
    run_url: str
    attempt: int
    outputs: str
    summary: str


def read_step_context(
    environ: Mapping[str, str], needed: tuple[str, ...] = _OF_GATE
) -> StepContext:
    """Return the variables of
    https://docs.github.com/en/actions/reference/workflows-and-actions/variables. Raises
    NotInAction.
    """
    if missing := [name for name in needed if not environ.get(name)]:
        raise NotInAction(f"This step needs {', '.join(missing)} in its environment.")
    repository, server = environ["GITHUB_REPOSITORY"], server_of(environ)
    if not _REPOSITORY.fullmatch(repository):
        raise NotInAction(f"GITHUB_REPOSITORY is {repository!r}, which is no owner/name.")
    actor, attempt = environ.get("GITHUB_ACTOR", ""), environ.get("GITHUB_RUN_ATTEMPT", "")
    return StepContext(
        event=environ.get("GITHUB_EVENT_NAME", ""),
        payload=environ.get("GITHUB_EVENT_PATH", ""),
        repository=repository,
        server=server,
        api=api_of(server, environ),
        token=environ[LOGIN_VARIABLE],
        actor=actor,
        # Old servers do not tell who started the run. The first time that is the actor; later
        # nobody can say.
        triggering_actor=environ.get("GITHUB_TRIGGERING_ACTOR", "")
        or (actor if attempt == "1" else ""),
        run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
        attempt=int(attempt) if attempt.isdecimal() else 1,
        outputs=environ.get("GITHUB_OUTPUT", ""),
        summary=environ.get("GITHUB_STEP_SUMMARY", ""),
    )


# -- what a step writes
# --------------------------------------------------------------------------------------------------

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_MESSAGE = str.maketrans(_ESCAPED)
_PROPERTY = str.maketrans({**_ESCAPED, ":": "%3A", ",": "%2C"})


def write_outputs(path: str, values: Mapping[str, str]) -> None:
    """Append the values to the file that GITHUB_OUTPUT names, where there is one.

    Each has an unpredictable delimiter, since a value that contains its delimiter could set other
    outputs.
    """
    if not path:
        return
    parts: list[str] = []
    for name, value in values.items():
        delimiter = f"end-{os.urandom(16).hex()}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    with Path(path).open("a", encoding="utf-8", newline="\n") as file:
        file.write("".join(parts))


def write_summary(path: str, markdown: str) -> None:
    """Append to the summary of the step, where there is one and something is to be said."""
    if path and markdown:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{markdown}\n")


def show_notice(message: str) -> None:
    """A line that GitHub shows on the page of the run."""
    _say("notice", message)


def show_warning(message: str) -> None:
    """A line that GitHub shows in yellow."""
    _say("warning", message)


def show_error(message: str, file: str = "", at: int = 0) -> None:
    """A line that GitHub shows in red, beside a line of a file if one is named."""
    _say("error", message, {"file": file, "line": str(at)} if file else {})


def write_line(text: str) -> None:
    """A line of the log that says nothing to GitHub: its runner obeys words of others that begin
    with `::`, also behind blanks, and `##[` anywhere in a line.
    """
    safe = text.replace("\r", " ").replace("\n", " ").replace("##[", "## [")
    while (bare := safe.lstrip()).startswith("::"):
        safe = bare.lstrip(":")
    sys.stdout.write(f"{safe}\n")
    sys.stdout.flush()


def _say(level: str, message: str, place: Mapping[str, str] | None = None) -> None:
    # With its line ends escaped a message cannot begin a command of its own.
    properties = {"title": "forge-bot", **(place or {})}
    named = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    sys.stdout.write(f"::{level} {named}::{message.translate(_MESSAGE)}\n")
    sys.stdout.flush()
