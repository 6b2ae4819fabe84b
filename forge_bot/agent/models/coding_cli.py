"""A model without an API key: an installed coding agent in its print mode, with its own tools off.

Experimental. It is asked in an empty folder, one question at a time, and answers by our schema.
What it costs is a matter of its subscription, so calls are counted.
"""

import asyncio
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from forge_bot.agent.model_answers import answer_schema
from forge_bot.agent.models.base import MessageRole, ModelCall, ModelReply, PossiblyCharged
from forge_bot.errors import ModelUnavailable, UnknownModel
from forge_bot.values import Usage

_MOST_CALLS = 200
_PASSED_ON = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
_OF_THE_PROGRAM = ("CLAUDE_", "CODEX_", "XDG_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT")
_SHOWN = 300


class _Order(NamedTuple):
    """The words that start a program, and the text for its standard input."""

    words: tuple[str, ...]
    input: str


def _claude(model: str, system: str, text: str, folder: Path) -> _Order:
    del folder
    words = (
        *("claude", "-p", "--output-format", "json", "--tools", "", "--strict-mcp-config"),
        *("--setting-sources", "", "--no-session-persistence", "--system-prompt", system),
        *("--json-schema", json.dumps(answer_schema())),
        *(("--model", model) if model else ()),
    )
    return _Order(words, text)


def _claude_reply(output: str, folder: Path) -> tuple[str, Usage]:
    del folder
    reply = cast("dict[str, Any]", json.loads(output))
    if reply.get("is_error"):
        raise ModelUnavailable(f"claude could not answer: {str(reply.get('result'))[:_SHOWN]}")
    given = reply.get("structured_output")
    text = json.dumps(given, ensure_ascii=False) if given is not None else str(reply["result"])
    counts = cast("dict[str, Any]", reply.get("usage") or {})
    cached = int(counts.get("cache_read_input_tokens") or 0)
    new = int(counts.get("input_tokens") or 0) + int(counts.get("cache_creation_input_tokens") or 0)
    usage = Usage(
        input_tokens=new + cached,
        cached_tokens=cached,
        output_tokens=int(counts.get("output_tokens") or 0),
    )
    return text, usage


def _codex(model: str, system: str, text: str, folder: Path) -> _Order:
    schema = folder / "schema.json"
    schema.write_text(json.dumps(answer_schema()), encoding="utf-8")
    words = (
        *("codex", "exec", "--output-schema", str(schema)),
        *("--output-last-message", str(folder / "answer.json"), "--ephemeral"),
        *("--ignore-user-config", "--ignore-rules", "--sandbox", "read-only"),
        *("--skip-git-repo-check", *(("--model", model) if model else ()), "-"),
    )
    return _Order(words, f"{system}\n\n{text}")


def _codex_reply(output: str, folder: Path) -> tuple[str, Usage]:
    del output
    return (folder / "answer.json").read_text(encoding="utf-8"), Usage()


_Reply = Callable[[str, Path], tuple[str, Usage]]
_PROGRAMS: Mapping[str, tuple[Callable[[str, str, str, Path], _Order], _Reply]] = {
    "claude": (_claude, _claude_reply),
    "codex": (_codex, _codex_reply),
}


def open_cli_model(spec: str, seconds: float) -> "CodingCli":
    """Return the model `cli:PROGRAM` or `cli:PROGRAM:MODEL`. Raises UnknownModel."""
    _, _, rest = spec.partition(":")
    program, _, model = rest.partition(":")
    if program not in _PROGRAMS:
        known = " and ".join(f"cli:{name}" for name in _PROGRAMS)
        raise UnknownModel(
            f"{spec} names no program that is known here.",
            hint=f"There are {known}.",
        )
    if os.environ.get("GITHUB_ACTIONS") == "true":
        raise UnknownModel(
            f"{spec} is for a terminal, where a person has logged in.",
            hint="In GitHub Actions, name a provider's model and give its key as a secret.",
        )
    if shutil.which(program) is None:
        raise UnknownModel(
            f"{spec} needs the program {program}, which is not installed.",
            hint=f"Install {program} and log in, or name a provider's model.",
        )
    return CodingCli(spec, program, model, seconds)


@dataclass
class CodingCli:
    """An installed coding agent that answers one question at a time."""

    name: str
    program: str
    model: str
    seconds: float
    _calls: int = 0
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ModelUnavailable."""
        async with self._one:
            if self._calls >= _MOST_CALLS:
                raise ModelUnavailable(
                    f"{self.name} was asked {_MOST_CALLS} times, the most of one invocation."
                )
            self._calls += 1
            with tempfile.TemporaryDirectory(prefix="forge-cli-") as place:
                return await self._answer(call, Path(place))

    async def _answer(self, call: ModelCall, place: Path) -> ModelReply:
        order_of, read = _PROGRAMS[self.program]
        system = "\n\n".join(
            message.text for message in call.messages if message.role is MessageRole.SYSTEM
        )
        order = order_of(self.model, system, _conversation(call), place)
        empty = place / "empty"
        empty.mkdir()
        output = await self._run_program(order, empty)
        try:
            text, usage = read(output, place)
        except (ValueError, KeyError, OSError) as error:
            why, shown = type(error).__name__, " ".join(output.split())[:_SHOWN]
            raise PossiblyCharged(
                f"{self.program} gave no answer that can be read ({why}): {shown}"
            ) from error
        return ModelReply(text=text, usage=usage.replace(cost=None, model=self.name))

    async def _run_program(self, order: _Order, folder: Path) -> str:
        process = await asyncio.create_subprocess_exec(
            *order.words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(os.environ),
            cwd=folder,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.seconds):
                output, complaint = await process.communicate(order.input.encode())
        except TimeoutError:
            raise PossiblyCharged(
                f"{self.program} did not answer within {self.seconds:g} seconds."
            ) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        text = output.decode("utf-8", "replace")
        if process.returncode != 0:
            words = " ".join((complaint.decode("utf-8", "replace") or text).split())
            raise PossiblyCharged(
                f"{self.program} ended with exit code {process.returncode}: {words[:_SHOWN]}"
            )
        return text


def _conversation(call: ModelCall) -> str:
    """Return the messages as one text: the program remembers nothing."""
    rest = [message for message in call.messages if message.role is not MessageRole.SYSTEM]
    if len(rest) == 1:
        return rest[0].text
    headings = {MessageRole.ASSISTANT: "You answered"}
    return "\n\n".join(
        f"# {headings.get(message.role, 'Message')}\n\n{message.text}" for message in rest
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the program: its own, and none of ours or of anybody else."""
    return {
        name: value
        for name, value in environ.items()
        if name in _PASSED_ON or name.upper().startswith(_OF_THE_PROGRAM)
    }
