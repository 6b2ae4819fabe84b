"""A run's folder: reports.jsonl is the truth, state.json its fold, the rest are artifacts."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from forge_bot.errors import (
    OtherSchema,
    RecordChanged,
    ReportRejected,
    ReportsDamaged,
    RunBusy,
    RunEnded,
    UnknownArtifact,
)
from forge_bot.store.atomic_files import LEFTOVER, Content, append_line, inside, write_whole
from forge_bot.store.names_of_runs import SPECS

if TYPE_CHECKING:
    # A list of runs needs the names of these files only.
    from forge_bot.engine import Pipeline, Report, State

REPORTS = "reports.jsonl"
STATE = "state.json"
CARRIED = "batches.jsonl"
"""The questions that wait for a provider's batch, and the conversations before them."""

_SCHEMA = re.compile(r'"schemaVersion":\s*([0-9]{1,9})\b')


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run as read from disk, and whether state.json had to be made anew."""

    state: "State"
    refolded: str = ""


class Workspace:
    """One folder under .specs of one work tree."""

    def __init__(self, tree: Path, name: str) -> None:
        self.tree = tree
        self.name = name
        self.path = inside(tree, f"{SPECS}/{name}")
        self.content = Content.of(b"")
        """The content of the file of reports, as far as this process has read and appended it."""

    @property
    def relative(self) -> str:
        """The folder's path inside the work tree, with forward slashes."""
        return f"{SPECS}/{self.name}"

    # -- the truth and its fold
    # ----------------------------------------------------------------------------------------------

    def reports(self) -> "tuple[Report, ...]":
        """All reports in order. A last line without its end, left by a crash, was never recorded:
        the next one takes its place.
        """
        return read_reports(self._recorded(), f"{self.relative}/{REPORTS}")

    def load(self, pipeline: "Pipeline") -> Loaded:
        """The state, folded from the reports; says so if state.json was broken, missing, behind."""
        path, recorded = self.path / STATE, self._recorded()
        loaded = _loaded(
            pipeline, recorded, path.read_bytes() if path.is_file() else None, self.relative
        )
        self.content = Content.of(recorded)
        if loaded.refolded:
            self.save(loaded.state)
        return loaded

    def _recorded(self) -> bytes:
        path = inside(self.path, REPORTS)
        if not path.is_file():
            raise ReportsDamaged(f"{self.relative}/{REPORTS} is missing.")
        return path.read_bytes()

    def record(self, report: "Report", state: "State") -> None:
        """Append a report to the file of reports, then write state.json.

        Raise RecordChanged, with nothing written, if the file is not the one that this process has
        read.
        """
        from forge_bot.engine import REPORT

        line = REPORT.dump_json(report, exclude_defaults=False).decode()
        self.content = append_line(self.path / REPORTS, line, self.content)
        self.save(state)

    def check_unchanged(self) -> None:
        """Raise RecordChanged if the reports' file lacks what this process read and appended."""
        path = self.path / REPORTS
        if not path.is_file() or Content.of(path.read_bytes()) != self.content:
            raise RecordChanged(f"{path} was changed by another program while this process worked.")

    def save(self, state: "State") -> None:
        """Write state.json."""
        write_whole(self.path / STATE, state_file(state))

    def mend(self, committed: bytes) -> tuple[str, ...]:
        """Remove half-written files of a killed process, and restore missing committed reports;
        return notices of it.

        Reports are only ever added, so the file never has fewer than the last commit.
        """
        for file in self.path.iterdir() if self.path.is_dir() else ():
            if fnmatchcase(file.name, LEFTOVER):
                file.unlink(missing_ok=True)
        path = self.path / REPORTS
        there = path.read_bytes() if path.is_file() else b""
        whole, committed = _whole(there), _whole(committed)
        if len(whole) < len(committed) and committed.startswith(whole):
            write_whole(path, committed)
            return (f"{REPORTS} was behind its last commit; the committed reports are back",)
        if whole != there:
            write_whole(path, whole)
        return ()

    # -- artifacts
    # ----------------------------------------------------------------------------------------------

    def write(self, artifact: str, text: str | bytes) -> bytes:
        """Write an artifact whole; returns its bytes."""
        raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
        write_whole(inside(self.path, artifact), raw)
        return raw

    def read(self, artifact: str) -> str:
        """An artifact's text; raises UnknownArtifact."""
        raw = self.read_bytes(artifact)
        if raw is None:
            raise UnknownArtifact(f"There is no {artifact} in {self.relative}.")
        return raw.decode("utf-8", "replace")

    def read_bytes(self, artifact: str) -> bytes | None:
        """An artifact's bytes, or None."""
        path = inside(self.path, artifact)
        return path.read_bytes() if path.is_file() else None


class ReadOnlyWorkspace(Workspace):
    """The folder of a run that another process holds: read, never written."""

    def record(self, report: "Report", state: "State") -> None:
        """Raise RunBusy."""
        del report, state
        raise RunBusy(
            "Another process is working on {what}{said}.".format(what=self.relative, said="")
        )

    def save(self, state: "State") -> None:
        """Leave state.json to the process that holds the run."""


# The same bytes say the same: a server that is asked again and again about a run reads them each
# time, and folds them once.


@lru_cache(maxsize=8)
def read_reports(raw: bytes, name: str) -> "tuple[Report, ...]":
    """Return the reports in the bytes of a file, without a partial last line. Raise ReportsDamaged,
    which names the file and line.
    """
    from forge_bot.engine import REPORT

    *lines, _torn = raw.split(b"\n")
    reports: list[Report] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            reports.append(REPORT.validate_json(line))
        except ValidationError as error:
            raise _unreadable(name, number, line, error) from error
    return tuple(reports)


@lru_cache(maxsize=8)
def _loaded(pipeline: "Pipeline", raw: bytes, state: bytes | None, where: str) -> Loaded:
    folded = read_state(pipeline, raw, f"{where}/{REPORTS}")
    return Loaded(state=folded, refolded=_stale(state, folded, where))


@lru_cache(maxsize=8)
def read_state(pipeline: "Pipeline", raw: bytes, name: str) -> "State":
    """Return the state that the reports in the bytes of a file lead to. Raise ReportsDamaged."""
    from forge_bot.engine import fold

    try:
        return fold(pipeline, read_reports(raw, name))
    except (ReportRejected, RunEnded) as error:
        raise ReportsDamaged(f"{name} contradicts itself: {error.message}") from error


def state_file(state: "State") -> bytes:
    """Return the bytes of state.json."""
    return f"{state.model_dump_json(indent=2)}\n".encode()


def _stale(raw: bytes | None, state: "State", where: str) -> str:
    from forge_bot.engine import State

    if raw is None:
        return f"{STATE} was missing and has been made anew from {REPORTS}"
    text = raw.decode("utf-8", "replace")
    _refuse_other_schema(text, where)
    try:
        seen = State.model_validate_json(text)
    except ValidationError:
        return f"{STATE} was broken and has been made anew from {REPORTS}"
    if seen == state:
        return ""
    return f"{STATE} was behind and has been made anew from {REPORTS}"


def _whole(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def _refuse_other_schema(text: str, where: str) -> None:
    from forge_bot.engine import SCHEMA_VERSION

    schema = _SCHEMA.search(text)
    if schema and int(schema[1]) != SCHEMA_VERSION:
        raise OtherSchema(
            f"{where} was written with state schema {schema[1]}; this version reads "
            f"{SCHEMA_VERSION}."
        )


def _unreadable(name: str, number: int, line: bytes, error: ValidationError) -> ReportsDamaged:
    first = error.errors()[0]
    place = ".".join(str(step) for step in first["loc"])
    what = ": ".join(filter(None, (place, first["msg"])))
    return ReportsDamaged(
        f"{name}, line {number} cannot be read: {what}.",
        details=(line[:200].decode("utf-8", "replace"),),
    )
