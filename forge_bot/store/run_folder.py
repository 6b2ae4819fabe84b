"""A run's names (slug, workspace, branch), and its folder: reports.jsonl is the truth, state.json
its fold, the rest are artifacts; and request.md, the frozen request, written and read here alone.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from forge_bot.errors import OtherSchema, ReportRejected, ReportsDamaged, RunEnded, UnknownArtifact
from forge_bot.store.files import LEFTOVER, inside, write_whole
from forge_bot.values import Attachment, Effort, Frozen, Source, is_empty

if TYPE_CHECKING:
    from forge_bot.engine import Pipeline, Report, State


SPECS = ".specs"
LONGEST_SLUG = 48


def slug(title: str) -> str:
    """A short name for a title, safe in paths and branch names.

    Latin letters lose their accents, other scripts keep their letters (git and file systems take
    them); a title without a letter or digit gets a name from its hash, so that it is never empty.
    """
    letters = (_plain(character) for character in unicodedata.normalize("NFKC", title.casefold()))
    name = "-".join("".join(letters).split())
    if not name:
        return f"task-{hashlib.sha256(title.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return _shorten(name)


def _plain(character: str) -> str:
    """A Latin letter without accent; another letter or digit as it is; a gap for all else."""
    base = unicodedata.normalize("NFKD", character)[:1]
    if base.isascii() and base.isalnum():
        return base.lower()
    return (
        character if character.isalnum() or unicodedata.category(character) in {"Mn", "Mc"} else " "
    )


def _shorten(name: str) -> str:
    if len(name) <= LONGEST_SLUG:
        return name
    cut, _, rest = name[:LONGEST_SLUG].rpartition("-")
    # A name without a hyphen in reach, as Japanese titles make, is cut where it is too long.
    return cut if cut and len(rest) < LONGEST_SLUG // 2 else name[:LONGEST_SLUG].rstrip("-")


def workspace_name(day: date, source_id: str, name: str) -> str:
    parts = [day.strftime("%Y%m%d"), *([slug(source_id)] if source_id else []), name]
    return "-".join(parts)


def branch_name(source_id: str, name: str) -> str:
    """Return the name of a run's own branch: `feature/[<source id>-]<slug>`.

    It carries the run's record. The type of the change is that of its pull request.
    """
    return f"feature/{slug(source_id)}-{name}" if source_id else f"feature/{name}"


REPORTS = "reports.jsonl"
STATE = "state.json"
CARRIED = "batches.jsonl"
"""The questions that wait for a provider's batch, and the conversations before them."""

_SCHEMA = re.compile(r'"schemaVersion":\s*([0-9]{1,9})\b')


class Workspace:
    """One folder under .specs of one work tree.

    `recorded` are the bytes of the reports as the run's branch has them; where none are given, as
    they are on disk.
    """

    def __init__(self, tree: Path, name: str, recorded: bytes | None = None) -> None:
        self.tree = tree
        self.name = name
        self.path = inside(tree, f"{SPECS}/{name}")
        self._recorded = None if recorded is None else _whole(recorded)

    @property
    def relative(self) -> str:
        """The folder's path inside the work tree, with forward slashes."""
        return f"{SPECS}/{self.name}"

    # -- the truth and its fold

    @property
    def recorded(self) -> bytes:
        """The reports, one line each. Raises ReportsDamaged without any."""
        if self._recorded is None:
            path = inside(self.path, REPORTS)
            self._recorded = _whole(path.read_bytes()) if path.is_file() else b""
        if not self._recorded:
            raise ReportsDamaged(f"{self.relative}/{REPORTS} is missing.")
        return self._recorded

    def reports(self) -> "tuple[Report, ...]":
        return read_reports(self.recorded, f"{self.relative}/{REPORTS}")

    def state(self, pipeline: "Pipeline") -> "State":
        """Return the state, folded from the reports. Raises ReportsDamaged."""
        return read_state(pipeline, self.recorded, f"{self.relative}/{REPORTS}")

    def with_report(self, report: "Report", state: "State") -> dict[str, bytes]:
        """Return the files of the record after one more report, by name."""
        from forge_bot.engine import REPORT

        line = REPORT.dump_json(report, exclude_defaults=False) + b"\n"
        return {REPORTS: (self._recorded or b"") + line, STATE: state_file(state)}

    def store(self, record: Mapping[str, bytes]) -> None:
        """Write the files of the record, where they differ, as a commit has them."""
        self._recorded = record[REPORTS]
        for name, raw in record.items():
            if self.read_bytes(name) != raw:
                self.write(name, raw)

    def remove_half_written(self) -> None:
        """Remove the half-written files of a killed process."""
        for file in self.path.iterdir() if self.path.is_dir() else ():
            if fnmatchcase(file.name, LEFTOVER):
                file.unlink(missing_ok=True)

    # -- artifacts

    def write(self, artifact: str, text: str | bytes) -> bytes:
        """Write an artifact whole; returns its bytes."""
        raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
        write_whole(inside(self.path, artifact), raw)
        return raw

    def read(self, artifact: str) -> str:
        """An artifact's text, with newlines also where git writes other ends of lines
        (core.autocrlf); raises UnknownArtifact.
        """
        raw = self.read_bytes(artifact)
        if raw is None:
            raise UnknownArtifact(f"There is no {artifact} in {self.relative}.")
        return raw.decode("utf-8", "replace").replace("\r\n", "\n")

    def read_bytes(self, artifact: str) -> bytes | None:
        """An artifact's bytes, or None."""
        path = inside(self.path, artifact)
        return path.read_bytes() if path.is_file() else None


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
def read_state(pipeline: "Pipeline", raw: bytes, name: str) -> "State":
    """Return the state that the reports in the bytes of a file lead to. Raise ReportsDamaged."""
    from forge_bot.engine import fold

    try:
        return fold(pipeline, read_reports(raw, name))
    except (ReportRejected, RunEnded) as error:
        raise ReportsDamaged(f"{name} contradicts itself: {error.message}") from error


def state_file(state: "State") -> bytes:
    return f"{state.model_dump_json(indent=2)}\n".encode()


def _whole(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def refuse_other_schema(raw: bytes, where: str) -> None:
    """Raise OtherSchema if a state.json was written in another format than this version reads."""
    from forge_bot.engine import SCHEMA_VERSION

    schema = _SCHEMA.search(raw.decode("utf-8", "replace"))
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


_FENCE = "---"
_ORIGIN = "source_"
"""The beginning of the source's keys."""


class UnreadComment(Frozen):
    """A comment that is no part of a request: its author may give no commands, or it was edited."""

    author: str
    url: str
    edited: bool = False


class RequestWords(Frozen):
    """The words of a request, and its source. `text` is as it came, for people; prompts get it
    cleaned.
    """

    title: str
    text: str
    source: Source = Source()
    labels: tuple[str, ...] = ()
    issue_type: str = Field(default="", description="the tracker's type of the issue, as `Bug`")
    attachments: tuple[Attachment, ...] = Field(default=(), exclude_if=is_empty)
    taken: tuple[str, ...] = Field(
        default=(),
        exclude_if=is_empty,
        description="strangers' comments that somebody took in, frozen; the text ends with them",
    )
    unread: tuple[UnreadComment, ...] = Field(default=(), exclude_if=is_empty)


class Request(RequestWords):
    """A request as a run begins with it."""

    effort: Effort
    effort_reason: str
    requested_by: str = Field(default="", description="who started the run")

    @property
    def hash(self) -> str:
        """sha256 of the request's content: title, text, source, labels, type and attachments."""
        named = "\0".join(
            [
                self.title,
                self.text.rstrip(),
                self.source.model_dump_json(),
                *self.labels,
                # Requests of earlier versions have no type, and their hash holds none.
                *([f"type: {self.issue_type}"] if self.issue_type else []),
                *(item.model_dump_json() for item in self.attachments),
            ]
        )
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()


_REQUEST: TypeAdapter[Request] = TypeAdapter(Request)
_FRONT: TypeAdapter[dict[str, object]] = TypeAdapter(
    dict[str, object], config=ConfigDict(defer_build=True)
)


def render_request(request: Request) -> str:
    """The file: YAML front matter, then the title and the text."""
    import yaml

    front = {
        f"{_ORIGIN}{name}": value for name, value in request.source.model_dump(mode="json").items()
    }
    untyped = set[str]() if request.issue_type else {"issue_type"}
    front |= request.model_dump(mode="json", exclude={"text", "source", *untyped})
    head = yaml.safe_dump(
        {**front, "request_hash": request.hash}, allow_unicode=True, sort_keys=False, width=1000
    )
    return f"{_FENCE}\n{head}{_FENCE}\n\n# {request.title}\n\n{request.text.rstrip()}\n"


# Every prompt of a run reads the same request, and YAML is slow.
@lru_cache(maxsize=4)
def read_request(text: str) -> Request:
    """The request in a file; raises ReportsDamaged if it was not written by `render_request`, or
    was changed since.
    """
    import yaml

    try:
        return _parse(text)
    except (ValueError, yaml.YAMLError) as error:
        raise ReportsDamaged(
            f"request.md cannot be read: {error}.",
            hint=(
                "Restore the file from the run's branch: git checkout BRANCH -- "
                ".specs/…/request.md."
            ),
        ) from error


def _parse(text: str) -> Request:
    import yaml

    empty, front, body = text.split(f"{_FENCE}\n", 2)
    if empty:
        raise ValueError("no front matter")
    known = _FRONT.validate_python(yaml.safe_load(front))
    stated = known.pop("request_hash", "")
    origin = {
        name.removeprefix(_ORIGIN): known.pop(name)
        for name in tuple(known)
        if name.startswith(_ORIGIN)
    }
    _, _, text = body.removeprefix("\n").partition("\n\n")
    whole = {**known, "source": origin, "text": text.rstrip("\n")}
    request = _REQUEST.validate_python(whole)
    if stated != request.hash:
        raise ValueError("it was changed after the run began, and its hash no longer fits")
    return request
