"""`forge-bot verify`: what holds of the evidence of a pull request, line by line."""

import os
import re
from contextlib import suppress
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import ForgeError, GitFailed, NotOnGitHub
from forge_bot.git import Repository
from forge_bot.git.remotes import fetch_branch
from forge_bot.settings import load_config

BROKEN = 2
_NUMBER = re.compile(r"(?:#|https?://\S+/pull/)?(\d+)(?:/\S*)?")


def verify(folder: Path, wanted: str) -> int:
    """Print what holds; return 0 if all does, else 2."""
    from forge_bot.runs.evidence_of_run import verify_evidence
    from forge_bot.runs.find_runs import resolve_run

    repository, console = Repository.find(folder), Console()
    number = _NUMBER.fullmatch(wanted)
    run, head, named = (
        _of_pull_request(repository, int(number[1]))
        if number is not None
        else (resolve_run(repository, wanted).name, "", "")
    )
    lines = verify_evidence(repository, load_config(repository.root), run, head, named)
    for line in lines:
        mark = "[green]✓[/]" if line.holds else "[bold red]✗[/]"
        console.print(f"{mark} {escape(line.part)}{escape(f': {line.said}' if line.said else '')}")
    return 0 if all(line.holds for line in lines) else BROKEN


def _of_pull_request(repository: Repository, number: int) -> tuple[str, str, str]:
    """Return the run of a pull request, its head commit, and the commit of the record that it
    names. Raises GitHubError, GitFailed.
    """
    from forge_bot.github_api.issue import parse_remote
    from forge_bot.github_api.pygithub import GitHub
    from forge_bot.interaction.markers import read_marker

    place = parse_remote(repository.remote_url(), os.environ)
    if place is None:
        raise NotOnGitHub("This repository has no remote on GitHub; name the run instead.")
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    with GitHub(place.name, token, place.api, patience=0) as github:
        pull = github.pull_request(number)
    marker = read_marker(pull.body)
    if marker is None or marker.kind != "pull-request":
        raise ForgeError(f"{place.name}#{number} names no run of forge-bot.")
    # After a merge the branch may be gone; the record contains its commits.
    with suppress(GitFailed):
        fetch_branch(repository.root, pull.head)
    return marker.fields.get("run", ""), pull.head_sha, marker.fields.get("record", "")
