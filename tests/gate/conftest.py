"""The gate in front of a small GitHub."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge_bot.gate.workflow_step import run_gate
from tests.gate.small_api import SmallApi


@dataclass
class Step:
    """One step of a workflow: what it handed on, and how."""

    code: int
    outputs: dict[str, str]
    log: str
    summary: str

    @property
    def wake(self) -> dict[str, Any]:
        """What the later steps are told."""
        return json.loads(self.outputs["wake"])


Gate = Callable[..., Step]


def read_outputs(text: str) -> dict[str, str]:
    """A file of outputs, as the runner reads it."""
    values: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, _, delimiter = line.partition("<<")
        value: list[str] = []
        while (part := next(lines)) != delimiter:
            value.append(part)
        values[name] = "\n".join(value)
    return values


def surroundings(folder: Path, api: str, event: str, payload: Any, **more: str) -> dict[str, str]:
    """The environment of a step, with its payload and its files in a folder."""
    path = folder / "event.json"
    path.write_bytes(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
    (folder / "output").write_text("", encoding="utf-8")
    (folder / "summary").write_text("", encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_API_URL": api,
        "GITHUB_TOKEN": "ghs_secret",
        "GITHUB_ACTOR": "ann",
        "GITHUB_TRIGGERING_ACTOR": more.get("GITHUB_ACTOR", "ann"),
        "GITHUB_RUN_ID": "77",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **more,
    }


@pytest.fixture
def api() -> Iterator[SmallApi]:
    """A small GitHub."""
    server = SmallApi()
    yield server
    server.close()


@pytest.fixture
def gate(api: SmallApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Gate:
    """The gate as one step of a workflow: name of the event, payload, further variables."""

    def step(event: str, payload: Any, **more: str) -> Step:
        environ = surroundings(tmp_path, api.url, event, payload, **more)
        capsys.readouterr()
        code = run_gate(environ)
        outputs = read_outputs((tmp_path / "output").read_text(encoding="utf-8"))
        return Step(
            code,
            outputs,
            capsys.readouterr().out,
            (tmp_path / "summary").read_text(encoding="utf-8"),
        )

    return step
