"""`forge-bot show`: a document of a run."""

import sys
from pathlib import Path

from forge_bot.cli.console import Console
from forge_bot.errors import ForgeError, UnknownArtifact
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, artifact_text, resolve_run


def show_artifact(folder: Path, name: str | None, artifact: str) -> int:
    """Print an artifact: at a terminal rendered, and with the words of the requirements that it
    names by number, unchanged to a pipe; without a name the command for each that there is. Raises
    UnknownArtifact.
    """
    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    if not artifact:
        of_run = f" --run {info.name}" if name is not None else ""
        for known_name in _list_documents(repository, info):
            sys.stdout.write(f"forge-bot show {known_name}{of_run}\n")
        return 0
    # A document needs no state, and can be read where the reports are broken.
    texts = (
        artifact_text(repository, info, file_name) for file_name in (artifact, f"{artifact}.md")
    )
    text = next((candidate for candidate in texts if candidate is not None), None)
    if text is None:
        raise _make_refusal(repository, info, artifact)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    elif artifact.endswith(".patch"):
        Console().print(text, markup=False)
    else:
        Console().print_markdown(_with_words(repository, info, text))
    return 0


def _with_words(repository: Repository, info: RunInfo, text: str) -> str:
    """Return a document with the words of the requirements that another one numbers."""
    from forge_bot.artifacts.requirement_table import numbered_requirements, with_requirement_words
    from forge_bot.runs.agent_work.artifact_contract import listed_requirements
    from forge_bot.runs.run_snapshot import run_snapshot
    from forge_bot.settings import load_config

    try:
        listed = listed_requirements(run_snapshot(repository, info, load_config(repository.root)))
    except ForgeError:
        return text
    own = numbered_requirements(text)
    return with_requirement_words(text, {n: w for n, w in listed.items() if n not in own})


def _list_documents(repository: Repository, info: RunInfo) -> list[str]:
    """Return the names of the documents that there are."""
    from forge_bot.runs.publish_result import PULL_REQUEST
    from forge_bot.runs.run_snapshot import run_snapshot
    from forge_bot.settings import load_config

    state = run_snapshot(repository, info, load_config(repository.root)).state
    names = dict.fromkeys(("request.md", *state.artifacts, PULL_REQUEST))
    return [name for name in names if artifact_text(repository, info, name) is not None]


def _make_refusal(repository: Repository, info: RunInfo, artifact: str) -> UnknownArtifact:
    known = ", ".join(_list_documents(repository, info))
    return UnknownArtifact(
        f"The run {info.name} has no {artifact}.",
        hint=f"It has: {known}.",
    )
