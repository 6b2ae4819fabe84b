"""Hooks of a host: what an agent must not do while a run is under way is stopped before it happens.

The host sends JSON on stdin; exit 2 blocks, with the reason on stderr (https://code.claude.com/docs/en/hooks). The engine refuses
the same things when they are reported: a hook only says so earlier. Where a run is known and the call cannot be read, it is blocked.
"""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TextIO

from pydantic import JsonValue, TypeAdapter, ValidationError

from forge_bot.checkout import Repository
from forge_bot.engine import next_action
from forge_bot.engine.actions import Action, SpawnAgent
from forge_bot.errors import ForgeError
from forge_bot.runs.find import RunInfo, run_in
from forge_bot.runs.reading import Reading, reading
from forge_bot.settings import load_config
from forge_bot.workspace import SPECS

BLOCK = 2
_EDITS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
_PAYLOAD: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_MAIN = {"main", "master"}
_SEPARATORS = re.compile(r"\|\||&&|[;|&\n]")

Event = Literal["pre-tool", "post-tool", "stop"]


def answer_hook(event: Event, said: TextIO | None = None) -> int:
    """The exit code for what a host asks: 0 goes on, 2 stops it, with the reason on stderr."""
    folder = Path()
    try:
        payload = _PAYLOAD.validate_json((said or sys.stdin).read() or "{}")
        folder = Path(str(payload.get("cwd") or "."))
        found = _under_way(folder)
        if found is None:
            return 0
        reason = _stopped(found, event, payload)
    except (ValidationError, ForgeError, OSError, ValueError) as error:
        # Fail closed, but only where there is a run that could be harmed.
        reason = f"forge-bot could not look at this call: {_short(error)}" if _has_runs(folder) and event == "pre-tool" else ""
    if not reason:
        return 0
    sys.stderr.write(f"{reason}\n")
    return BLOCK


def _short(error: Exception) -> str:
    return error.message if isinstance(error, ForgeError) else type(error).__name__


def _has_runs(folder: Path) -> bool:
    return any((folder / SPECS).glob("*/reports.jsonl"))


def _under_way(folder: Path) -> Reading | None:
    """The run of the checked-out branch, if it is not over."""
    if not _has_runs(folder) and not _has_runs(folder.resolve()):
        repository_root = next((parent for parent in folder.resolve().parents if _has_runs(parent)), None)
        if repository_root is None:
            return None
    repository = Repository.find(folder)
    branch = repository.head().branch
    specs = repository.root / SPECS
    every = (run_in(repository.root, path.name) for path in sorted(specs.iterdir(), reverse=True))
    info: RunInfo | None = next((info for info in every if info is not None and info.branch == branch), None)
    return reading(repository, info, load_config(repository.text_here)) if info is not None and not info.ended else None


def _stopped(found: Reading, event: Event, payload: Mapping[str, JsonValue]) -> str:
    """Why the host must not go on; empty if it may."""
    action = next_action(found.pipeline, found.state)
    match event:
        case "pre-tool":
            return _call(found, action, str(payload.get("tool_name", "")), payload.get("tool_input"))
        case "post-tool":
            return _written(found, action)
        case "stop":
            return _leaving(found, action, payload)


def _call(found: Reading, action: Action, tool: str, given: JsonValue) -> str:
    about = given if isinstance(given, dict) else {}
    if tool in _EDITS:
        path = str(about.get("file_path") or about.get("notebook_path") or "")
        return _edit(found, action, path)
    if tool == "Bash":
        return _command(found, str(about.get("command", "")))
    return ""


def _edit(found: Reading, action: Action, path: str) -> str:
    """Only an implementer changes code; others write their document."""
    root = found.repository.root
    file = Path(path) if Path(path).is_absolute() else root / path
    place = file.resolve()
    folder = (root / SPECS / found.state.run).resolve()
    if not place.is_relative_to(root):
        return ""
    if place.is_relative_to(folder):
        kept = {"reports.jsonl", "state.json", "request.md"}
        return f"{place.name} is the record of the run: forge-bot writes it." if place.name in kept else ""
    implementing = isinstance(action, SpawnAgent) and action.phase == found.pipeline.implementation.id
    if implementing:
        return ""
    return f"{found.state.current_phase} of the run {found.state.run} writes its document only; code is changed when tasks are implemented."


def _command(found: Reading, command: str) -> str:
    """The run commits by itself, and stays on its branch."""
    for part in _SEPARATORS.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        if "git" not in words:
            continue
        after = _without_options(words[words.index("git") + 1 :])
        verb = after[0] if after else ""
        if verb == "commit" and isinstance(next_action(found.pipeline, found.state), SpawnAgent):
            return "forge-bot commits what an agent did when it is reported; leave the changes in the work tree."
        if verb in {"checkout", "switch"} and _MAIN & set(after[1:]):
            return f"The run {found.state.run} is under way on {found.state.branch}: stay on it, or abandon the run first."
        if verb == "push" and any(word in {"--force", "-f"} or word.startswith("--force") for word in words):
            return "A run's branch is never pushed by force."
    return ""


def _without_options(words: Sequence[str]) -> list[str]:
    """The words of a git command without options; `-c name=value` and `-C folder` before the verb take a word along."""
    left = list(words)
    while left[:1] and left[0] in {"-c", "-C"}:
        left = left[2:]
    return [word for word in left if not word.startswith("-")]


def _written(found: Reading, action: Action) -> str:
    """An agent that came back without its document is sent to write it."""
    if not isinstance(action, SpawnAgent) or (action.parallel_task_ids and len(action.parallel_task_ids) > 1):
        return ""
    folder = found.repository.root / SPECS / found.state.run
    if (folder / action.output_file).is_file():
        return ""
    return f"{SPECS}/{found.state.run}/{action.output_file} is not there yet: an answer in the chat does not count."


def _leaving(found: Reading, action: Action, payload: Mapping[str, JsonValue]) -> str:
    """A session does not end in the middle of an action; waiting for a person is no middle, and nobody is held twice."""
    if payload.get("stop_hook_active") is True or action.type in {"checkpoint", "human_gate", "done"}:
        return ""
    return (
        f"The run {found.state.run} is in the middle of {action.phase}: go on with pipeline_next_action "
        f"(workspace {SPECS}/{found.state.run}), or end it with run_control abandon."
    )
