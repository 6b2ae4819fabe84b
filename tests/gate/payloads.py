"""Payloads: GitHub's own examples, and small ones of exactly the fields that matter."""

import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]

_EXAMPLES = Path(__file__).parent / "data" / "webhooks.json.xz"
REPOSITORY = 186853002


@cache
def examples() -> tuple[tuple[str, Json], ...]:
    """All examples, each with the name of its event."""
    kept = json.loads(lzma.decompress(_EXAMPLES.read_bytes()))
    return tuple((entry["event"], entry["payload"]) for entry in kept["payloads"])


def user(login: str = "ann", kind: str = "User", number: int = 7) -> Json:
    """An account as payloads show it."""
    return {"login": login, "id": number, "type": kind}


def commented(
    body: str = "/approve", *, by: Any = None, sender: Any = None, **comment: Any
) -> Json:
    """A new comment on issue 42."""
    author = user() if by is None else by
    written = {
        "id": 1001,
        "body": body,
        "user": author,
        "created_at": "2026-11-21T10:00:00Z",
        "updated_at": "2026-11-21T10:00:00Z",
    }
    return {
        "action": "created",
        "issue": {"number": 42, "labels": []},
        "comment": {**written, **comment},
        "sender": author if sender is None else sender,
        "repository": {"id": REPOSITORY},
    }


def labelled(label: str = "forge", *, by: Any = None) -> Json:
    """A label put on issue 42."""
    return {
        "action": "labeled",
        "issue": {"number": 42, "labels": [{"name": label}]},
        "label": {"name": label},
        "sender": user() if by is None else by,
        "repository": {"id": REPOSITORY},
    }


def dispatched(issue: object = "42", *, by: Any = None) -> Json:
    """The workflow started by hand."""
    return {
        "inputs": {"issue": issue},
        "sender": user() if by is None else by,
        "repository": {"id": REPOSITORY},
    }


def checked(
    conclusion: str = "failure",
    branch: str = "fix/42-login",
    *,
    by: Any = None,
    head: int = REPOSITORY,
) -> Json:
    """A finished suite of checks."""
    pull = {
        "number": 57,
        "head": {"ref": branch, "repo": {"id": head}},
        "base": {"repo": {"id": REPOSITORY}},
    }
    suite = {
        "id": 99,
        "conclusion": conclusion,
        "head_branch": branch,
        "head_sha": "a" * 40,
        "pull_requests": [pull],
    }
    sender = user("github-actions[bot]", "Bot", 41898282) if by is None else by
    return {
        "action": "completed",
        "check_suite": suite,
        "sender": sender,
        "repository": {"id": REPOSITORY},
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value in a payload."""
    yield path
    for key in _keys(value):
        yield from places(value[key], (*path, key))


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """A copy of a payload with another value in one place; `...` takes the place out."""
    if not path:
        return to
    inner = changed(value[path[0]], path[1:], to)
    kept = [
        (key, inner if key == path[0] else value[key])
        for key in _keys(value)
        if key != path[0] or inner is not ...
    ]
    return dict(kept) if isinstance(value, dict) else [item for _, item in kept]


def _keys(value: Any) -> list[Any]:
    if isinstance(value, list):
        return list(range(len(cast("list[Any]", value))))
    return list(cast("Json", value)) if isinstance(value, dict) else []
