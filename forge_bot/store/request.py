"""request.md: the frozen request, written and read by the same module."""

import hashlib
from functools import lru_cache

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from forge_bot.errors import ReportsDamaged
from forge_bot.values import Attachment, Effort, Frozen, Source, is_empty

_FENCE = "---"
_ORIGIN = "source_"
"""The beginning of the source's keys."""


class UnreadComment(Frozen):
    """A comment that is no part of a request: its author may give no commands, or it was edited."""

    author: str
    url: str
    edited: bool = False


class RequestWords(Frozen):
    """What a request says, and its source. `text` is as it came, for people; prompts get it
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
        request, stated = _parse(text)
    except (ValueError, ValidationError, yaml.YAMLError) as error:
        raise ReportsDamaged(
            f"request.md cannot be read: {error}.",
            hint=(
                "Restore the file from the run's branch: git checkout BRANCH -- "
                ".specs/…/request.md."
            ),
        ) from error
    if stated != request.hash:
        raise ReportsDamaged(
            "request.md was changed after the run began; its hash no longer fits.",
            hint=(
                "Restore the file from the run's branch: git checkout BRANCH -- "
                ".specs/…/request.md."
            ),
        )
    return request


def _parse(text: str) -> tuple[Request, object]:
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
    return _REQUEST.validate_python(whole), stated
