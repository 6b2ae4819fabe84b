"""The statement of a run's evidence, one JSON file in the record: what was asked for, approved, run
and by which models; and its verification, which reads the record from git and computes it again.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from forge_bot.engine import Report, State
from forge_bot.engine.reports import AgentFailed, ArtifactWritten, CommandsRan, RunStarted
from forge_bot.errors import ForgeError, ReportsDamaged
from forge_bot.forge.json_values import Node
from forge_bot.git import Repository
from forge_bot.git.commit_history import CommitInfo, changed, commits_between, first_parents
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN, is_ancestor, ref_target
from forge_bot.runs.code_commits import code_so_far
from forge_bot.runs.find_runs import fetch_ended, resolve_run
from forge_bot.runs.run_files import last_commit
from forge_bot.runs.run_snapshot import folded
from forge_bot.settings.config import Config
from forge_bot.store.run_folder import REPORTS, SPECS, STATE, read_reports, read_request, state_file
from forge_bot.text_format import several

EVIDENCE = "evidence.json"
_FORMAT = 1
_COMMAND = {"name", "argv", "exit_code", "timed_out", "tests"}

Statement = Mapping[str, object]


def statement(
    state: State, reports: Sequence[Report], recorded: bytes, head: str
) -> dict[str, object]:
    """Return the statement of a run about the commit that it offers; `recorded` are the bytes of
    the reports.
    """
    verification = state.verification
    doubts = set(verification.doubts if verification is not None else ())
    proof = verification.red_before_green if verification is not None else None
    return {
        "format": _FORMAT,
        "run": state.run,
        "request": state.request_hash,
        "base": state.base_commit,
        "head": head,
        "approvals": [
            decision.model_dump(mode="json", by_alias=True)
            for decision in (*state.decisions, *state.agreed)
        ],
        "commands": [
            result.model_dump(mode="json", by_alias=True, include=_COMMAND)
            for result in (verification.results if verification else ())
        ],
        "redBeforeGreen": proof.model_dump(mode="json", by_alias=True) if proof else None,
        "doubts": sorted(doubts),
        "models": _models(reports),
        "reports": {"count": len(reports), "sha256": hashlib.sha256(recorded).hexdigest()},
    }


def evidence_file(stated: Statement) -> bytes:
    """Return the bytes of the statement's file."""
    return (json.dumps(stated, indent=2, ensure_ascii=False) + "\n").encode()


def _models(reports: Sequence[Report]) -> list[dict[str, object]]:
    """Return which model was asked for which document, in order; each once."""
    asked: list[dict[str, object]] = [
        {"phase": report.phase, "task": report.task, "model": report.usage.model}
        for report in reports
        if isinstance(report, ArtifactWritten | AgentFailed) and report.usage.model
    ]
    return [one for number, one in enumerate(asked) if one not in asked[:number]]


_SHORT = 12


class EvidenceLine(NamedTuple):
    """One part of the evidence, whether it holds, and what was seen."""

    part: str
    holds: bool
    said: str


class _Record(NamedTuple):
    """The record of a run at its newest commit, and the ref at which that was found."""

    repository: Repository
    name: str
    ref: str
    commit: str

    def file(self, name: str, commit: str = "") -> bytes:
        """Return a file of the record; empty without one."""
        return self.repository.read(commit or self.commit, f"{SPECS}/{self.name}/{name}") or b""

    def trouble(self, named: str) -> str:
        """Return why the record lacks evidence, or the commit that a pull request names."""
        if not self.file(EVIDENCE):
            return f"{self.ref} has no {SPECS}/{self.name}/{EVIDENCE}"
        if named and not self.repository.contains(self.commit, named):
            return f"{self.ref} does not contain {named[:_SHORT]}, which the pull request names"
        return ""


def verify_evidence(
    repository: Repository, config: Config, run: str, head: str = "", named: str = ""
) -> tuple[EvidenceLine, ...]:
    """Return what holds of the evidence of a run, line by line.

    `head` is the commit that is offered, by default the one that the run offered; `named` is the
    commit of the record that the pull request names.
    """
    lines = list[EvidenceLine]()
    try:
        record = _record_of(repository, run)
        trouble = record.trouble(named)
        found = trouble or f"{record.commit[:_SHORT]} at {record.ref}"
        lines.append(EvidenceLine("record", holds=not trouble, said=found))
        lines += _lines(record, config, head)
    except (ForgeError, ValueError) as error:
        said = error.message if isinstance(error, ForgeError) else f"{EVIDENCE} is no JSON: {error}"
        lines.append(EvidenceLine("reports" if lines else "record", holds=False, said=said))
    return tuple(lines)


def covers(repository: Repository, stated: str, head: str) -> str:
    """Return a sentence about commits that came after the one that the evidence is about; empty if
    they change no code.
    """
    if stated == head or not _code_changes(repository, stated, head):
        return ""
    since = len(commits_between(repository.root, stated, head))
    return f"evidence covers {stated[:_SHORT]}; {several(since, 'commit')} since"


def _record_of(repository: Repository, run: str) -> _Record:
    """Return the record of a run: the remote's of an ended run, ours, or that of the run's branch.
    Raises UnknownRun, GitFailed.
    """
    fetch_ended(repository)
    for ref in (f"{ENDED_AT_ORIGIN}{run}", f"{ENDED}{run}"):
        if ref_target(repository.root, ref) is not None:
            return _Record(repository, run, ref, last_commit(repository, ref))
    info = resolve_run(repository, run)
    return _Record(repository, info.name, info.ref, repository.commit_id(info.ref))


def _lines(record: _Record, config: Config, head: str) -> Iterator[EvidenceLine]:
    stated, raw = Node(json.loads(record.file(EVIDENCE) or b"null")), record.file(REPORTS)
    repository, history = record.repository, _history(record, raw)
    edits = (at.id for (_, old), (at, new) in pairwise(history) if not new.startswith(old))
    edited = next(edits, "")
    yield _line("history", f"{edited[:_SHORT]} changes earlier reports" if edited else "")
    _, now = folded(repository, config, raw, record.name)
    same = record.file(STATE) == state_file(now)
    yield _line("state", "" if same else f"{STATE} is not what the reports lead to")
    same = _request_hash(record) == now.request_hash
    yield _line("request", "" if same else "request.md is not the request that was frozen")
    count = stated.at("reports").number("count") or 0
    whole = b"".join(raw.splitlines(keepends=True)[:count])
    _, state = folded(repository, config, whole, record.name)
    published = next((at for at, (_, reports) in enumerate(history) if reports == whole), 0)
    tip = code_so_far(state, [commit for commit, _ in history[:published]]).tip
    for part, value in statement(state, read_reports(whole, REPORTS), whole, tip).items():
        same = stated.at(part).value == json.loads(json.dumps(value))
        yield _line(f"statement: {part}", "" if same else "is not what the record leads to")
    below = is_ancestor(repository.root, now.base_commit, tip)
    yield _line("base", "" if below else f"{now.base_commit[:_SHORT]} is not below {tip[:_SHORT]}")
    versions = reversed(history[: published + 1])
    judged = next((commit.id for commit, reports in versions if _ran_commands(reports)), "")
    moved = not judged or _code_changes(repository, judged, tip)
    yield _line("commands ran", f"not on the code of {tip[:_SHORT]}" if moved else "")
    yield _line("head", covers(repository, stated.text("head") or tip, head or tip))


def _line(part: str, trouble: str) -> EvidenceLine:
    return EvidenceLine(part, not trouble, trouble)


def _request_hash(record: _Record) -> str:
    """Return the hash of the request as the record has it; "" of one that was edited."""
    with suppress(ForgeError):
        return read_request(record.file("request.md").decode("utf-8", "replace")).hash
    return ""


def _history(record: _Record, reports: bytes) -> list[tuple[CommitInfo, bytes]]:
    """Return the commits of the run's branch, the oldest first, with the reports that each has.
    Raises ReportsDamaged.
    """
    first, *_ = read_reports(reports, REPORTS) or (None,)
    if not isinstance(first, RunStarted):
        raise ReportsDamaged(f"{REPORTS} does not begin with the start of a run.")
    commits = first_parents(record.repository.root, first.base_commit, record.commit)
    return [(commit, record.file(REPORTS, commit.id)) for commit in commits]


def _ran_commands(raw: bytes) -> bool:
    """Return whether the newest of some reports is that the project's commands ran."""
    reports = read_reports(raw, REPORTS)
    return bool(reports) and isinstance(reports[-1], CommandsRan)


def _code_changes(repository: Repository, base: str, head: str) -> bool:
    """Return whether code differs between two commits, a run's record apart."""
    paths = changed(repository.root, base, head)
    return any(not path.startswith(f"{SPECS}/") for path in paths)
