"""Hooks of a host: stop an agent before a forbidden call while a run is under way.

The host sends JSON on stdin; exit 2 blocks, with the reason on stderr
(https://code.claude.com/docs/en/hooks). The engine refuses the same changes when they are reported:
a hook only refuses them earlier. If a run is known and the call cannot be read, it is blocked.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TextIO

from pydantic import JsonValue, TypeAdapter, ValidationError

from forge_bot.engine import REPORT, State, next_action
from forge_bot.engine.actions import Action, SpawnAgent
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import ForgeError, ReportsDamaged
from forge_bot.git import Repository
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.mcp_server.shell_words import git_calls, gives_answer, runs_answer
from forge_bot.runs.finding_runs.find_runs import RunInfo, run_in
from forge_bot.runs.finding_runs.snapshot_of_run import RunSnapshot, run_snapshot
from forge_bot.sentences import say
from forge_bot.settings import load_config
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, STATE

BLOCK = 2
_EDITS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
_PAYLOAD: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_PROJECT = "CLAUDE_PROJECT_DIR"
_MAIN = {"main", "master", "-"}
_CREATES = {"-b", "-B", "-c", "-C", "--create", "--orphan"}
_COMMITS = {"commit", "merge", "pull", "rebase", "cherry-pick", "revert", "am"}
_FORCES = re.compile(r"--force|-[a-z]*f|\+|--mirror|--delete", re.IGNORECASE)
_PERSON_ANSWERS = (
    "The person answers what forge-bot asks: an agent types neither that command nor a line or a"
    " script that hides one. Show them the question; they answer in a terminal of their own, or you"
    " pass on what they say as user_response of pipeline_next_action."
)
_LOOKS_ONLY = {"Explore", "Plan"}
"""Agents of Claude Code that write nothing."""


Event = Literal["pre-tool", "post-tool", "stop"]


def answer_hook(event: Event, said: TextIO | None = None) -> int:
    """Return the exit code for a call of a host: 0 lets it continue, 2 stops it, with the reason on
    stderr.
    """
    folders = [Path(os.environ.get(_PROJECT) or ".")]
    try:
        payload = _PAYLOAD.validate_json((said or sys.stdin).read() or "{}")
        folders.append(Path(str(payload.get("cwd") or folders[0])))
        # Before any run is looked for: --repo and --run lead to runs elsewhere.
        line = _line(payload.get("tool_input"))
        if event == "pre-tool" and (gives_answer(line) or runs_answer(line, folders[-1])):
            return _blocked(_PERSON_ANSWERS)
        found = under_way(folders[-1])
        if found is None:
            return 0
        reason = _stopped(found, event, payload)
    # Any other exit code than 2 lets the call go on, so whatever went wrong closes the door.
    except Exception as error:  # noqa: BLE001
        # Only where there is a run that could be harmed.
        harmful = event == "pre-tool" and (
            isinstance(error, ReportsDamaged) or any(map(has_runs, folders))
        )
        reason = f"forge-bot could not look at this call: {_short(error)}" if harmful else ""
    if not reason:
        return 0
    return _blocked(reason)


def _blocked(reason: str) -> int:
    """Write the reason as ASCII: a host may read stderr in any encoding, and names may have any
    character.
    """
    sys.stderr.write(f"{reason.encode('ascii', 'backslashreplace').decode('ascii')}\n")
    return BLOCK


def _line(given: JsonValue) -> str:
    """Return the shell command of a tool call; empty if it has none."""
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else ""


def _short(error: Exception) -> str:
    return (
        f"{error.message} {advice_at_terminal(error)}"
        if isinstance(error, ForgeError)
        else type(error).__name__
    )


def _stopped(found: RunSnapshot, event: Event, payload: Mapping[str, JsonValue]) -> str:
    """Return why the host must stop; empty if it may continue."""
    action = next_action(found.pipeline, found.state)
    match event:
        case "pre-tool":
            return _call(
                found, action, str(payload.get("tool_name", "")), payload.get("tool_input")
            )
        case "post-tool":
            return _written(found, action, payload)
        case "stop":
            return _leaving(found, action, payload)


def _call(found: RunSnapshot, action: Action, tool: str, given: JsonValue) -> str:
    about = given if isinstance(given, dict) else {}
    if tool in _EDITS:
        path = str(about.get("file_path") or about.get("notebook_path") or "")
        return _edit(found, action, path)
    if tool == "Bash":
        return _command(found, action, str(about.get("command", "")))
    return ""


def _edit(found: RunSnapshot, action: Action, path: str) -> str:
    """Stop changes of code by agents that write a document."""
    root = found.repository.root
    file = Path(path) if Path(path).is_absolute() else root / path
    place = file.resolve()
    folder = (root / SPECS / found.state.run).resolve()
    if not place.is_relative_to(root):
        return ""
    if place.is_relative_to(folder):
        kept = {"reports.jsonl", "state.json", "request.md"}
        return (
            f"{place.name} is the record of the run: forge-bot writes it."
            if place.name in kept
            else ""
        )
    implementing = isinstance(action, SpawnAgent) and found.pipeline.implements(action.phase)
    if implementing:
        return ""
    return (
        f"{found.state.current_phase} of the run {found.state.run} writes its document only; code"
        " is changed when tasks are implemented."
    )


def _command(found: RunSnapshot, action: Action, line: str) -> str:
    """Stop commits while an agent works, and commands that leave the branch."""
    state = found.state
    for call in git_calls(line):
        if call.verb in _COMMITS and isinstance(action, SpawnAgent):
            return (
                "forge-bot commits what an agent did when it is reported; leave the changes in the"
                " work tree."
            )
        if (
            call.verb in {"checkout", "switch"}
            and not _CREATES & {*call.words}
            and any(_is_another(found, name) for name in call.names)
        ):
            return (
                f"The run {state.run} is under way on {state.branch}: stay on it, or abandon the"
                " run first."
            )
        if call.verb == "push" and any(_FORCES.match(word) for word in call.words):
            return "A run's branch is never pushed by force."
    return ""


def _is_another(found: RunSnapshot, name: str) -> bool:
    return name in _MAIN or (name != found.state.branch and found.repository.branch_exists(name))


def _written(found: RunSnapshot, action: Action, payload: Mapping[str, JsonValue]) -> str:
    """Stop an agent that ends or returns without its document, once."""
    if not isinstance(action, SpawnAgent) or (
        action.parallel_task_ids and len(action.parallel_task_ids) > 1
    ):
        return ""
    answer = payload.get("tool_response")
    launched = isinstance(answer, dict) and answer.get("isAsync") is True
    looks_only = str(payload.get("agent_type", "")) in _LOOKS_ONLY
    if launched or looks_only or payload.get("stop_hook_active") is True:
        return ""
    folder = found.repository.root / SPECS / found.state.run
    name = action.output_file
    for task in action.parallel_task_ids or ():
        name = name.replace("{task}", task)
    if (folder / name).is_file():
        return ""
    missing = (
        f"{SPECS}/{found.state.run}/{name} is not there yet: an answer in the chat does not count."
    )
    if payload.get("hook_event_name") != "SubagentStop":
        return missing
    return (
        f"If you were given the prompt of {action.phase}: {missing} If you were asked something"
        " else, you are done."
    )


def _leaving(found: RunSnapshot, action: Action, payload: Mapping[str, JsonValue]) -> str:
    """Stop a session that ends in the middle of an action, once, unless a person is asked or an
    agent works in the background.
    """
    if payload.get("stop_hook_active") is True or action.type in {
        "checkpoint",
        "human_gate",
        "done",
    }:
        return ""
    tasks = payload.get("background_tasks")
    if isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("status") == "running" for task in tasks
    ):
        return ""
    return (
        f"The run {found.state.run} is in the middle of {action.phase}: go on with"
        f" pipeline_next_action (workspace {SPECS}/{found.state.run}), or end it with run_control"
        " abandon."
    )


# -- the run that is under way in a folder
# --------------------------------------------------------------------------------------------------


# A record that cannot be read is not taken for “no run”. Whether a run is over, its state.json
# says, or its reports where that is broken; so a run that ended lets go even if one of them is.
def has_runs(folder: Path) -> bool:
    """Return whether the folder, or one above it, has runs in any state. False for a path that
    cannot be a folder.
    """
    try:
        return any(any(specs.glob(f"*/{REPORTS}")) for specs in _around(folder))
    except (OSError, ValueError):
        return False


def under_way(folder: Path) -> RunSnapshot | None:
    """Return the run of the checked-out branch, if it is not over.

    Raises ReportsDamaged if the branch may have a run with an unreadable record, and the errors of
    reading a repository.
    """
    if not _around(folder):
        return None
    repository = Repository.find(folder)
    seen = {place: _info_of(repository.root, place) for place in _places(repository.root)}
    known = [info for info in seen.values() if info is not None and not info.ended]
    if known and (found := _read_run(repository, known)) is not None:
        return found
    if lost := next(
        (place for place, info in seen.items() if info is None and _is_lost(repository, place)),
        None,
    ):
        raise _unreadable(lost)
    return None


def _around(folder: Path) -> list[Path]:
    here = folder.resolve()
    return [specs for each in (here, *here.parents) if (specs := each / SPECS).is_dir()]


def _places(root: Path) -> list[Path]:
    """The folders of runs, newest first."""
    specs = root / SPECS
    try:
        return sorted(specs.iterdir(), reverse=True) if specs.is_dir() else []
    except OSError as error:
        raise ReportsDamaged(
            say("client.active_run.folder_is_unreadable", specs=SPECS),
            hint=say("client.active_run.let_the_person_look", specs=specs),
        ) from error


def _info_of(root: Path, place: Path) -> RunInfo | None:
    try:
        return run_in(root, place.name)
    except OSError as error:
        raise _unreadable(place) from error


def _read_run(repository: Repository, known: list[RunInfo]) -> RunSnapshot | None:
    branch = repository.head().branch
    for info in (info for info in known if info.branch == branch):
        try:
            found = run_snapshot(repository, info, load_config(repository.root))
        except ReportsDamaged as error:
            raise _unreadable(repository.root / SPECS / info.name) from error
        if not found.state.ended:
            return found
    return None


def _is_lost(repository: Repository, place: Path) -> bool:
    """Return whether a folder has an unreadable record that may be the checked-out branch's and not
    over.
    """
    state = _state_of(place)
    if state is not None and (state.ended or state.branch != repository.head().branch):
        return False
    reports = place / REPORTS
    if os.path.lexists(reports):
        return not _begins(reports)
    # Without reports a state.json that is none of ours may be another program's.
    return state is not None


def _begins(reports: Path) -> bool:
    """Return whether the first report can be read, which says whose record this is."""
    try:
        line, end, _ = reports.read_bytes().partition(b"\n")
        return bool(end) and isinstance(REPORT.validate_json(line), RunStarted)
    except (OSError, ValidationError):
        return False


def _unreadable(place: Path) -> ReportsDamaged:
    name = f"{SPECS}/{place.name}"
    return ReportsDamaged(
        say("client.active_run.record_is_unreadable", name=name),
        hint=say("client.active_run.bring_it_back", name=name, reports=REPORTS, state=STATE),
    )


def _state_of(place: Path) -> State | None:
    try:
        return State.model_validate_json((place / STATE).read_bytes())
    except (OSError, ValidationError):
        return None
