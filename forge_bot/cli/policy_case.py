"""Tell how the rules of `approvals` decide a case that somebody makes up."""

import os
from collections.abc import Sequence
from pathlib import Path

from forge_bot.cli.console import Console
from forge_bot.engine.phases import DecisionPhase, GatePhase
from forge_bot.errors import BadOption
from forge_bot.gate.people import Role
from forge_bot.git import Repository
from forge_bot.github_api.issue import parse_remote
from forge_bot.github_api.pygithub import GitHub
from forge_bot.interaction.approval_words import awaited_approvals
from forge_bot.settings import load_config
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
from forge_bot.settings.load_pipeline import load_pipeline

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
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if place is None or not token:
        return None
    with GitHub(place.name, token, place.api, patience=0) as github:
        return read_people(needs, approvers, github.membership, github.team_members)
