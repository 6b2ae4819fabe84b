"""Hooks of a host: stop an agent before a forbidden call while a run is under way.

The host sends JSON on stdin; exit 2 blocks, with the reason on stderr
(https://code.claude.com/docs/en/hooks). The engine refuses the same changes when they are reported:
a hook only refuses them earlier, and lets pass what it cannot look at.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TextIO

from pydantic import JsonValue, TypeAdapter

from forge_bot.engine import next_action
from forge_bot.engine.actions import Action, SpawnAgent
from forge_bot.errors import ForgeError
from forge_bot.git import Repository
from forge_bot.runs.find_runs import run_in
from forge_bot.runs.run_snapshot import RunSnapshot, run_snapshot
from forge_bot.settings.config import load_config
from forge_bot.store.run_folder import SPECS

BLOCK = 2
_EDITS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
_PAYLOAD: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_PROJECT = "CLAUDE_PROJECT_DIR"
_MAIN = {"main", "master", "-"}
_PERSON_ANSWERS = (
    "The person answers what forge-bot asks: an agent does not type that command. Show them the"
    " question; they answer in a terminal of their own, or you pass on what they say as"
    " user_response of pipeline_next_action."
)
_LOOKS_ONLY = {"Explore", "Plan"}
"""Agents of Claude Code that write nothing."""

# What a command line does, by its words without quotes. A host's agent is not malicious: an answer
# without a person's terminal is refused by the command itself, a change when it is reported.
_WORDS = "approve|reject|answer|done|skip|continue|abandon|retry"
_PROGRAM = r"(?:forge-bot(?:\.exe)?|-m\s+forge_bot(?:\.\w+)*|forge_bot/\S+\.py)"
_BETWEEN = r"[\s,\[\]()`]+"
_ANSWERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_PROGRAM}(?:{_BETWEEN}-\S+)*{_BETWEEN}(?:(?:{_WORDS})\b|[$`{{%*?])",
        r"forge[-_]bot\b[^\n;&|]*--by-script",
        rf"python\S*\s.*(?:import|from)\s+forge_bot\b.*\b(?:{_WORDS})\b",
        r"alias\s+\w+=[^;&|\n]*forge[-_]bot|\b\w+=\S*forge-bot\b|\b(?:cp|ln|mv)\s[^;&|]*bin/forge-bot",
        r"\bxargs\b[^\n;&|]*forge-bot",
    )
)
_GIT = re.compile(
    r"\bgit(?:\.exe)?(?:\s+-[cC]\s+\S+|\s+--?[\w-]+(?:[= ]\.\S*|=\S+)?)*"
    r"\s+(?P<verb>commit|merge|pull|rebase|cherry-pick|revert|am|checkout|switch|push)"
    r"(?=[\s;&|)]|$)(?P<rest>[^\n;&|)]*)"
)
_FORCES = re.compile(r"(?:^|\s)(?:--force\S*|-[a-z]*f|\+\S|--mirror|--delete)", re.IGNORECASE)
_CREATES = re.compile(r"(?:^|\s)(?:-[bBcC]|--create|--orphan)\b")


Event = Literal["pre-tool", "post-tool", "stop"]
_Object = Mapping[str, JsonValue]


def answer_hook(event: Event, call: TextIO | None = None) -> int:
    """Return the exit code for a call of a host: 0 lets it continue, 2 stops it, with the reason on
    stderr.
    """
    try:
        payload = _PAYLOAD.validate_json((call or sys.stdin).read() or "{}")
        folder = payload.get("cwd") or os.environ.get(_PROJECT) or "."
        reason = _stop_reason(event, payload, Path(str(folder)))
    # Whatever cannot be looked at is refused when it is reported.
    except (ForgeError, ValueError, OSError):
        return 0
    if not reason:
        return 0
    # A host may read stderr in any encoding, and names may have any character.
    sys.stderr.write(f"{reason.encode('ascii', 'backslashreplace').decode('ascii')}\n")
    return BLOCK


def _stop_reason(event: Event, payload: _Object, folder: Path) -> str:
    """Return why the host must stop; empty if it may continue."""
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    line = str(given.get("command", "")) if payload.get("tool_name") == "Bash" else ""
    # Before any run is looked for: --repo and --run lead to runs elsewhere.
    if event == "pre-tool" and _gives_answer(line):
        return _PERSON_ANSWERS
    run = _run_under_way(folder)
    if run is None:
        return ""
    action = next_action(run.pipeline, run.state)
    if event == "post-tool":
        return _check_document(run, action, payload)
    if event == "stop":
        return _check_end(run, action, payload)
    if payload.get("tool_name") in _EDITS:
        return _check_edit(run, action, str(given.get("file_path") or given.get("notebook_path")))
    return _check_command(run, action, line)


def _check_edit(run: RunSnapshot, action: Action, path: str) -> str:
    """Stop changes of code by agents that write a document, and of the record by anybody."""
    root = run.repository.root
    place = (root / path).resolve()
    if not place.is_relative_to(root):
        return ""
    if place.is_relative_to((root / SPECS / run.state.run).resolve()):
        record = place.name in {"reports.jsonl", "state.json", "request.md"}
        return f"{place.name} is the record of the run: forge-bot writes it." if record else ""
    if isinstance(action, SpawnAgent) and run.pipeline.implements(action.phase):
        return ""
    return (
        f"{run.state.current_phase} of the run {run.state.run} writes its document only; code"
        " is changed when tasks are implemented."
    )


def _gives_answer(line: str) -> bool:
    """Return whether a line names our program and an answer, or hides what it calls."""
    plain = re.sub(r"['\"\\]", "", line.replace("\\\n", " "))
    return any(pattern.search(plain) for pattern in _ANSWERS)


def _check_command(run: RunSnapshot, action: Action, line: str) -> str:
    """Stop commits while an agent works, and commands that leave the branch."""
    state = run.state
    for call in _GIT.finditer(re.sub(r"['\"]", " ", line)):
        verb, rest = call["verb"], call["rest"]
        if verb == "push" and _FORCES.search(rest):
            return "A run's branch is never pushed by force."
        if verb in {"checkout", "switch"} and not _CREATES.search(rest):
            names = rest.partition(" -- ")[0].split()
            if any(name in _MAIN or _is_other_branch(run, name) for name in names):
                return (
                    f"The run {state.run} is under way on {run.info.at_client}: stay on it, or"
                    " abandon the run first."
                )
        if verb not in {"push", "checkout", "switch"} and isinstance(action, SpawnAgent):
            return (
                "forge-bot commits what an agent did when it is reported; leave the changes in the"
                " work tree."
            )
    return ""


def _is_other_branch(run: RunSnapshot, name: str) -> bool:
    return name != run.info.at_client and run.repository.branch_exists(name)


def _check_document(run: RunSnapshot, action: Action, payload: _Object) -> str:
    """Stop an agent that ends or returns without its document, once."""
    tasks = action.parallel_task_ids or () if isinstance(action, SpawnAgent) else ()
    if not isinstance(action, SpawnAgent) or len(tasks) > 1:
        return ""
    answer = payload.get("tool_response")
    launched = isinstance(answer, dict) and answer.get("isAsync") is True
    looks_only = str(payload.get("agent_type", "")) in _LOOKS_ONLY
    if launched or looks_only or payload.get("stop_hook_active") is True:
        return ""
    name = f"{SPECS}/{run.state.run}/{action.output_file.replace('{task}', ''.join(tasks))}"
    if (run.repository.root / name).is_file():
        return ""
    return (
        f"If you were given the prompt of {action.phase}: {name} is not there yet, and an answer in"
        " the chat does not count. If you were asked something else, you are done."
    )


def _check_end(run: RunSnapshot, action: Action, payload: _Object) -> str:
    """Stop a session that ends in the middle of an action, once, unless a person is asked or an
    agent works in the background.
    """
    tasks = payload.get("background_tasks")
    at_work = isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("status") == "running" for task in tasks
    )
    waits = action.type in {"checkpoint", "human_gate", "done"}
    if waits or at_work or payload.get("stop_hook_active") is True:
        return ""
    return (
        f"The run {run.state.run} is in the middle of {action.phase}: go on with"
        f" pipeline_next_action (workspace {SPECS}/{run.state.run}), or end it with run_control"
        " abandon."
    )


# -- the run that is under way in a folder
# --------------------------------------------------------------------------------------------------


def _run_under_way(folder: Path) -> RunSnapshot | None:
    """Return the run of the checked-out branch, if it is not over. Raises the errors of reading a
    repository and a record.
    """
    here = folder.resolve()
    if not any((place / SPECS).is_dir() for place in (here, *here.parents)):
        return None
    repository = Repository.find(folder)
    branch, specs = repository.head().branch, repository.root / SPECS
    for place in sorted(specs.iterdir(), reverse=True) if specs.is_dir() else ():
        info = run_in(repository.root, place.name)
        if info is not None and not info.ended and info.at_client == branch:
            run = run_snapshot(repository, info, load_config(repository.root))
            if not run.state.ended:
                return run
    return None
