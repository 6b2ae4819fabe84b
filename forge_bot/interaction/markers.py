"""The last line of each comment and issue of the bot: invisible, and how it finds its own again.
Who wrote it is checked elsewhere.
"""

import re
from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import Field

from forge_bot.values import Frozen

Kind = Literal["tracking", "checkpoint", "pull-request", "reply"]

_MARKER = re.compile(r"<!-- forge-bot:(?P<kind>[a-z-]+)(?P<fields>(?: [a-z]+=[^\s=]+)*) -->")
_UNFIT = re.compile(r"[^\w./:@+]+")


class Marker(Frozen):
    """The kind of a comment and its subject."""

    kind: Kind
    fields: dict[str, str] = Field(default_factory=dict[str, str])

    def __str__(self) -> str:
        named = "".join(f" {name}={_fit(value)}" for name, value in self.fields.items() if value)
        return f"<!-- forge-bot:{self.kind}{named} -->"

    def is_about(self, kind: str, fields: Mapping[str, str]) -> bool:
        """Return whether it is of that kind and has these fields as a marker holds them: without
        signs such as the vowel signs of Hindi, which a run's name may have.
        """
        return kind == self.kind and all(
            _fit(value) == _fit(self.fields.get(name, "")) for name, value in fields.items()
        )


def _fit(value: str) -> str:
    return _UNFIT.sub("-", value)


def tracking(run: str, issue: str = "") -> str:
    """Return the last line of the tracking comment. While a run is under way it names the issue, so
    that the gate finds it; afterwards it names that run.
    """
    return str(Marker(kind="tracking", fields={"issue": issue} if issue else {"run": run}))


def checkpoint(run: str, gate: str, round_: int, digest: str) -> str:
    """Ends the comment with one version of a question."""
    return str(
        Marker(
            kind="checkpoint",
            fields={"run": run, "gate": gate, "round": str(round_), "digest": digest},
        )
    )


def pull_request(run: str, record: str = "") -> str:
    """Ends the body of a run's pull request; `record` is a commit that its record contains."""
    return str(Marker(kind="pull-request", fields={"run": run, "record": record}))


def reply(occasion: str, to: str) -> str:
    """Ends a reply; `to` is the comment it answers, so that it is answered once."""
    return str(Marker(kind="reply", fields={"occasion": occasion, "to": to}))


def read_marker(body: str) -> Marker | None:
    """Return the marker on the last line of a comment; None if there is none. Text above it, such
    as quoted markers, does not count.
    """
    lines = body.rstrip().splitlines()
    match = _MARKER.fullmatch(lines[-1]) if lines else None
    if match is None or match["kind"] not in get_args(Kind):
        return None
    fields = dict(pair.split("=", 1) for pair in match["fields"].split())
    return Marker.model_validate({"kind": match["kind"], "fields": fields})
