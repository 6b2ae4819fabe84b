"""Tell of pull requests: what became of them (`stats`), whether their evidence holds
(`verify`), and who may approve them (`policy test`).
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from statistics import median

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.engine.phases import DecisionPhase, GatePhase
from forge_bot.errors import BadOption, ForgeError, GitFailed, GitHubError, NotOnGitHub
from forge_bot.forge import (
    PULL_PAGE,
    Forge,
    RepositoryAddress,
    connect,
    number_of,
    parse_remote,
    token_of,
)
from forge_bot.forge.types import PullRequest, Role
from forge_bot.git import Repository
from forge_bot.git.remotes import fetch_branch
from forge_bot.interaction.approval_words import awaited_approvals
from forge_bot.prompts.escape import cell
from forge_bot.runs.run_snapshot import RunFigures, Statistics, addresses, run_statistics
from forge_bot.runs.this_process import now
from forge_bot.settings.approvals import (
    ApprovalCase,
    ApprovalEffect,
    ApprovalNeed,
    People,
    judge,
    needs_of,
    read_code_owners,
    read_people,
    standing,
)
from forge_bot.settings.config import load_config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.text_format import cut, money

_HEADINGS = (
    *("pull request", "became", "effort", "minutes", "waited", "dollars"),
    *("rounds", "questions", "lines", "touched"),
)
_LONGEST_TITLE = 40


def show_statistics(folder: Path, days: int, *, markdown: bool, as_json: bool) -> int:
    """Print what became of the runs."""
    if markdown and as_json:
        raise BadOption("--markdown and --json are two forms; give one.")
    repository = Repository.find(folder)
    if repository.remote_url() is not None:
        # Without the remote, what this clone has is told.
        with suppress(GitFailed):
            repository.fetch()
    pulls, unknown = _pulls(repository)
    told = run_statistics(repository, pulls, days, now())
    told = told.replace(unknown=(*unknown, *told.unknown))
    if as_json:
        # In ASCII, since standard output may be any encoding.
        sys.stdout.write(told.model_dump_json(indent=2, ensure_ascii=True) + "\n")
    elif markdown:
        sys.stdout.write("\n".join(_markdown(told)) + "\n")
    else:
        Console().print_markdown("\n".join(_markdown(told)))
    return 0


def _pulls(repository: Repository) -> tuple[dict[str, PullRequest] | None, tuple[str, ...]]:
    """Return the pull requests of the records by address, and why there are none."""
    without = "What became of pull requests is not known"
    place = parse_remote(repository.remote_url(), os.environ)
    if place is None:
        return None, (f"{without}: origin is no repository on GitHub.",)
    here = [
        item
        for item in addresses(repository)
        if number_of(item) and item.startswith(f"{place.page}/")
    ]
    try:
        with _open_forge(place) as forge:
            pulls = [forge.pull_request(number) for number in {*map(number_of, here)} - {0}]
            return {pull.url: pull for pull in pulls}, ()
    except GitHubError as error:
        return None, (f"{without}: {error.message} Set GITHUB_TOKEN to a token that may read it.",)


def _summary(told: Statistics) -> Iterator[str]:
    """Yield the sentences about all runs."""
    fates = ("merged", "closed", "open")
    counts = {name: [run for run in told.runs if run.outcome == name] for name in fates}
    offered = sum(bool(run.pull_request) for run in told.runs)
    became = ", ".join(f"{len(runs)} {name}" for name, runs in counts.items())
    known = any(counts.values())
    yield f"{len(told.runs)} runs, {offered} pull requests" + (f": {became}" if known else "") + "."
    costs = [run.dollars for run in told.runs if run.dollars is not None]
    merged = counts["merged"]
    if costs:
        cost = sum(costs, Decimal())
        each = f", {money(cost / len(merged))} for each merged one" if merged else ""
        yield f"All runs together cost {money(cost)}{each}."
    if merged:
        minutes = [run.minutes for run in merged if run.minutes is not None]
        waited = median(run.minutes_waited for run in merged)
        yield (
            f"From start to merge: {median(minutes):,.0f} minutes (median); questions waited"
            f" {waited:,.0f}."
        )
        yield _reworked(merged, told.days)
    yield from told.unknown


def _reworked(merged: Sequence[RunFigures], days: int) -> str:
    known = [run for run in merged if run.lines_added is not None]
    touched = [run.lines_touched or 0 for run in known]
    lines = sum(run.lines_added or 0 for run in known)
    return (
        f"Reworked within {days} days: {sum(map(bool, touched))} of {len(known)} merged;"
        f" {sum(touched):,} of {lines:,} added lines are changed or gone."
    )


def _rows(told: Statistics) -> Iterator[tuple[str, ...]]:
    for run in told.runs:
        number = number_of(run.pull_request)
        title = cut(run.title, _LONGEST_TITLE)
        yield (
            f"#{number} {title}" if number else title,
            run.outcome or run.status,
            run.effort,
            *(_number(value) for value in (run.minutes, run.minutes_waited)),
            money(run.dollars) if run.dollars is not None else "",
            *map(str, (run.rounds, run.questions)),
            *(_number(value) for value in (run.lines_added, run.lines_touched)),
        )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _people(told: Statistics) -> Iterator[tuple[str, str]]:
    for person, answers in told.answers.items():
        yield person, ", ".join(f"{count} {name}" for name, count in sorted(answers.items()))


def _markdown(told: Statistics) -> Iterator[str]:
    for sentence in _summary(told):
        yield f"- {sentence}"
    for headings, rows in ((_HEADINGS, _rows(told)), (("person", "answers"), _people(told))):
        yield ""
        yield f"| {' | '.join(headings)} |"
        yield f"|{' --- |' * len(headings)}"
        for row in rows:
            yield f"| {' | '.join(map(cell, row))} |"


BROKEN = 2
_NUMBER = re.compile(rf"(?:#|{PULL_PAGE})?(\d+)(?:/\S*)?")


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
    from forge_bot.interaction.markers import read_marker

    place = parse_remote(repository.remote_url(), os.environ)
    if place is None:
        raise NotOnGitHub("This repository has no remote on GitHub; name the run instead.")
    with _open_forge(place) as forge:
        pull = forge.pull_request(number)
    marker = read_marker(pull.body)
    if marker is None or marker.kind != "pull-request":
        raise ForgeError(f"{place.name}#{number} names no run of forge-bot.")
    # After a merge the branch may be gone; the record contains its commits.
    with suppress(GitFailed):
        fetch_branch(repository.root, pull.head)
    return marker.fields.get("run", ""), pull.head_sha, marker.fields.get("record", "")


_EXIT_CODES = {ApprovalEffect.ALLOWED: 0, ApprovalEffect.NOT_YET: 3, ApprovalEffect.REFUSED: 5}


def try_case(
    folder: Path, logins: Sequence[str], gate: str, paths: tuple[str, ...], requester: str
) -> int:
    """Print what the approvals of these people do, one after the other, with each rule that holds;
    return the exit code.
    """
    console, repository = Console(), Repository.find(folder)
    config = load_config(repository.root)
    asked = ApprovalCase(
        gates=(_gate(repository.root, config.pipeline, gate),),
        paths=paths,
        requester=requester.removeprefix("@"),
    )
    approvers = [login.removeprefix("@") for login in logins]
    needs = needs_of(config.approvals, asked, read_code_owners(repository.root))
    people = _read_people(repository, needs, approvers)
    if people is None:
        console.print("GitHub was not asked (no token): logins count as write, teams as unread.")
        people = read_people(needs, approvers, lambda _login: Role.WRITE, lambda _team: None)
    standings = [standing(need, approvers, people) for need in needs]
    judgement = judge(standings, approvers[-1])
    console.print(f"[bold]{judgement.value}[/]" + ("" if needs else ": no rule holds here"))
    for one in standings:
        given = f"Met by {', '.join(one.given)}." if one.is_met else awaited_approvals(one)
        names = ", ".join(one.need.names) or "nobody"
        console.print(f"rule {one.need.rule}, {names}: {given}", markup=False)
    return _EXIT_CODES[judgement]


def _gate(root: Path, pipeline: str, gate: str) -> str:
    """Return a gate, by default the first one. Raises BadOption for one that the pipeline does not
    have.
    """
    phases = load_pipeline(pipeline, root).phases
    known = [phase.id for phase in phases if isinstance(phase, GatePhase | DecisionPhase)]
    if gate and gate not in known:
        raise BadOption(f"The pipeline {pipeline} has no gate {gate}; it has {', '.join(known)}.")
    return gate or known[0]


def _read_people(
    repository: Repository, needs: Sequence[ApprovalNeed], approvers: Sequence[str]
) -> People | None:
    """Return what GitHub says of these people; None without a token or a remote there."""
    place = parse_remote(repository.remote_url(), os.environ)
    if place is None or not token_of(os.environ):
        return None
    with _open_forge(place) as forge:
        return read_people(needs, approvers, forge.membership, forge.team_members)


def _open_forge(place: RepositoryAddress) -> Forge:
    return connect(place.name, token_of(os.environ), place.api, patience=0)
