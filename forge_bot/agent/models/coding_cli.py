"""A model without an API key: an installed coding agent in its print mode, with its own tools off.

Experimental. It is asked in an empty folder, one question at a time, and answers by our schema.
What it costs is a matter of its subscription, so calls are counted.
"""

import asyncio
import json
import os
import shlex
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from forge_bot.agent.model_answers import ANSWER_FORMS, answer_schema
from forge_bot.agent.models.base import MessageRole, ModelCall, ModelReply, PossiblyCharged
from forge_bot.errors import ModelUnavailable, UnknownModel
from forge_bot.forge import is_job
from forge_bot.values import Usage

_MOST_CALLS = 200
_PASSED_ON = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
_OF_THE_PROGRAM = ("CLAUDE_", "CODEX_", "XDG_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT")
_SHOWN = 300


_COMMANDS = {
    "claude": "claude -p --output-format json --tools '' --strict-mcp-config --setting-sources ''"
    " --no-session-persistence --system-prompt {system} --json-schema {schema}",
    "codex": "codex exec --output-schema {folder}/schema.json --output-last-message"
    " {folder}/answer.json --ephemeral --ignore-user-config --ignore-rules --sandbox read-only"
    " --skip-git-repo-check -",
}
"""The command of each program, which reads the question on its standard input."""


def open_cli_model(spec: str, seconds: float) -> "CodingCli":
    """Return the model `cli:PROGRAM` or `cli:PROGRAM:MODEL`. Raises UnknownModel."""
    program, _, model = spec.partition(":")[2].partition(":")
    if program not in _COMMANDS:
        known = " and ".join(f"cli:{name}" for name in _COMMANDS)
        raise UnknownModel(
            f"{spec} names no program that is known here.", hint=f"There are {known}."
        )
    if is_job(os.environ):
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
        schema = json.dumps(answer_schema())
        (place / "schema.json").write_text(schema, encoding="utf-8")
        (place / "empty").mkdir()
        texts = [item.text for item in call.messages if item.role is MessageRole.SYSTEM]
        system = "\n\n".join((*texts, ANSWER_FORMS))
        values = {"system": system, "schema": schema, "folder": place}
        words = [word.format_map(values) for word in shlex.split(_COMMANDS[self.program])]
        words[2:2] = ["--model", self.model] if self.model else []
        asked, is_claude = _conversation(call), self.program == "claude"
        question = asked if is_claude else f"{system}\n\n{asked}"
        output = await self._run_program(words, question, place / "empty")
        try:
            text = output if is_claude else (place / "answer.json").read_text(encoding="utf-8")
            text, usage = _read_claude(text) if is_claude else (text, Usage())
        except (ValueError, KeyError, OSError) as error:
            why, shown = type(error).__name__, " ".join(output.split())[:_SHOWN]
            raise PossiblyCharged(
                f"{self.program} gave no answer that can be read ({why}): {shown}"
            ) from error
        return ModelReply(text=text, usage=usage.replace(cost=None, model=self.name))

    async def _run_program(self, words: list[str], question: str, folder: Path) -> str:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # Its own variables, and none of ours or of anybody else.
            env={
                name: value
                for name, value in os.environ.items()
                if name in _PASSED_ON or name.upper().startswith(_OF_THE_PROGRAM)
            },
            cwd=folder,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.seconds):
                output, complaint = await process.communicate(question.encode())
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
            shown = " ".join((complaint.decode("utf-8", "replace") or text).split())
            raise PossiblyCharged(
                f"{self.program} ended with exit code {process.returncode}: {shown[:_SHOWN]}"
            )
        return text


def _read_claude(output: str) -> tuple[str, Usage]:
    reply = cast("dict[str, Any]", json.loads(output))
    if reply.get("is_error"):
        raise ModelUnavailable(f"claude could not answer: {str(reply.get('result'))[:_SHOWN]}")
    given, counts = reply.get("structured_output"), cast("dict[str, Any]", reply.get("usage") or {})
    cached = int(counts.get("cache_read_input_tokens") or 0)
    new = (int(counts.get(f"{kind}input_tokens") or 0) for kind in ("", "cache_creation_"))
    usage = Usage(
        input_tokens=sum(new) + cached,
        cached_tokens=cached,
        output_tokens=int(counts.get("output_tokens") or 0),
    )
    text = json.dumps(given, ensure_ascii=False) if given is not None else str(reply["result"])
    return text, usage


def _conversation(call: ModelCall) -> str:
    """Return the messages as one text: the program remembers nothing."""
    rest = [message for message in call.messages if message.role is not MessageRole.SYSTEM]
    if len(rest) == 1:
        return rest[0].text
    headings = {MessageRole.ASSISTANT: "You answered"}
    return "\n\n".join(
        f"# {headings.get(message.role, 'Message')}\n\n{message.text}" for message in rest
    )
