"""Completions for a shell's <Tab>: runs, phases, documents. Read off the files themselves: the
models of a run take longer to load than a person waits. Whatever goes wrong here, nothing is
offered.
"""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from forge_bot.git import Repository

Offers = list[tuple[str, str]]
"""Words with their meaning; shells without help show the words only."""

_SPECS = ".specs"
_BRANCHES_READ = 20
"""Branches without a work tree that are looked into: each costs two calls of git."""

_NOT_AGAIN = {"setup", "end", "decision"}


def _quietly(
    offer: Callable[[typer.Context, str], Offers],
) -> Callable[[typer.Context, str], Offers]:
    @functools.wraps(offer)
    def quiet(context: typer.Context, incomplete: str) -> Offers:
        try:
            return offer(context, incomplete)
        # A traceback in the middle of a typed line would not help.
        except Exception:  # noqa: BLE001
            return []

    return quiet


@_quietly
def complete_runs(context: typer.Context, incomplete: str) -> Offers:
    """Names of runs, for --run."""
    del incomplete
    return [(str(state["run"]), str(state["title"])) for state in _states(_repository(context))]


@_quietly
def run_folders(context: typer.Context, incomplete: str) -> Offers:
    """Folders of runs that are not over, for `run` to go on with."""
    del incomplete
    alive = [state for state in _states(_repository(context)) if not _over(state)]
    return [(f"{_SPECS}/{state['run']}", str(state["title"])) for state in alive]


@_quietly
def phase_names(context: typer.Context, incomplete: str) -> Offers:
    """Ids of phases to stop after; names where no id begins like that."""
    return _named([phase for phase in _phases(context) if phase["kind"] != "decision"], incomplete)


@_quietly
def phases_to_repeat(context: typer.Context, incomplete: str) -> Offers:
    """Return ids of phases to continue from; names if no id begins with the typed text."""
    return _named(
        [phase for phase in _phases(context) if phase["kind"] not in _NOT_AGAIN], incomplete
    )


@_quietly
def documents(context: typer.Context, incomplete: str) -> Offers:
    """Documents of the run that is meant, for `show`."""
    del incomplete
    state = _meant(context, _repository(context))
    return (
        [(name, "") for name in cast("Mapping[str, object]", state["artifacts"])]
        if state is not None
        else []
    )


def _named(phases: list[dict[str, str]], incomplete: str) -> Offers:
    ids = [(phase["id"], phase["label"]) for phase in phases]
    if any(name.startswith(incomplete) for name, _ in ids):
        return ids
    return [("-".join(label.lower().split()), name) for name, label in ids]


# -- reading
# --------------------------------------------------------------------------------------------------


def _repository(context: typer.Context) -> "Repository":
    from forge_bot.git import Repository

    return Repository.find(Path(context.params.get("repo") or "."))


def _states(repository: "Repository") -> list[dict[str, Any]]:
    """state.json of each run on its own branch, the one that moved last first."""
    found = [
        state for branch, texts in _texts(repository) if (state := _own(branch, texts)) is not None
    ]
    return sorted(found, key=lambda state: str(state["updatedAt"]), reverse=True)


def _own(branch: str, texts: Iterator[bytes]) -> dict[str, Any] | None:
    """The state among those of one branch that says it belongs there: merged branches bring those
    of older runs along.
    """
    for text in texts:
        try:
            state = json.loads(text)
        except ValueError:
            continue
        if isinstance(state, dict) and cast("dict[str, Any]", state).get("branch") == branch:
            return cast("dict[str, Any]", state)
    return None


def _texts(repository: "Repository") -> Iterator[tuple[str, Iterator[bytes]]]:
    trees = {info.branch: info.path for info in repository.worktrees() if info.branch}
    for branch, path in trees.items():
        yield (
            branch,
            (
                file.read_bytes()
                for file in sorted((path / _SPECS).glob("*/state.json"), reverse=True)
            ),
        )
    for branch in [name for name in repository.branches() if name not in trees][:_BRANCHES_READ]:
        ref = f"refs/heads/{branch}"
        names = [
            name for name in repository.list_files(ref, _SPECS) if name.endswith("/state.json")
        ]
        yield branch, (repository.read(ref, name) or b"" for name in sorted(names, reverse=True))


def _over(state: Mapping[str, Any]) -> bool:
    return state["currentPhaseStatus"] in {"completed", "abandoned"}


def _meant(context: typer.Context, repository: "Repository") -> dict[str, Any] | None:
    """Return the named run, else the run of the checked-out branch, else the newest that is not
    over, else the newest.
    """
    states = _states(repository)
    named = {str(context.params.get(name) or "").rpartition("/")[2] for name in ("run", "task")}
    here = next(
        (info.branch for info in repository.worktrees() if info.path.resolve() == repository.root),
        None,
    )

    def distance(state: dict[str, Any]) -> int:
        if state["run"] in named or state["branch"] == context.params.get("run"):
            return 0
        return 1 if state["branch"] == here else 2 if not _over(state) else 3

    return min(states, key=distance, default=None)


def _phases(context: typer.Context) -> list[dict[str, str]]:
    import yaml

    from forge_bot.resources import templates

    repository = _repository(context)
    state = _meant(context, repository)
    file = repository.root / ".forge/config.yml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    config = cast("dict[str, str]", yaml.safe_load(text) or {})
    name = str(state["pipeline"]) if state is not None else config.get("pipeline", "develop")
    own = repository.root / f".forge/pipelines/{name}.yaml"
    file = own if own.is_file() else templates() / "pipelines" / f"{name}.yaml"
    text = file.read_text(encoding="utf-8", errors="replace")
    return cast("list[dict[str, str]]", yaml.safe_load(text)["phases"])
