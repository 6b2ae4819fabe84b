"""A process that puts a model to work, to be killed: `python -m tests.agent.worker URL REPOSITORY
JOURNAL`.

It speaks to the provider by hand, since a process that is killed and started again should start
quickly.
"""

import asyncio
import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path
from urllib.request import Request, urlopen

from forge_bot.agent.assignment import WorkResult
from forge_bot.agent.converse import converse
from forge_bot.agent.journal import Journal
from forge_bot.agent.models.base import ModelCall, ModelReply
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.values import Usage
from tests.agent.scene import accept, assignment, opening, priced


class OverHttp:
    """A model behind the chat completions of `url`."""

    name = "openai-chat:gpt-6-luna"

    def __init__(self, url: str) -> None:
        self._url = url

    async def ask(self, call: ModelCall) -> ModelReply:
        messages = [{"role": item.role.value, "content": item.text} for item in call.messages]
        body = json.dumps({"model": "gpt-6-luna", "messages": messages}).encode()
        # The address is the test's own server on loopback.
        url, headers = f"{self._url}/v1/chat/completions", {"content-type": "application/json"}
        request = Request(url, body, headers)  # noqa: S310

        def send() -> str:
            with urlopen(request, timeout=60) as response:  # noqa: S310 - the same address
                return json.loads(response.read())["choices"][0]["message"]["content"]

        return ModelReply(
            text=await asyncio.to_thread(send), usage=Usage(input_tokens=100, cost=Decimal("0.01"))
        )


async def main(url: str, repository: Path, journal: Path) -> WorkResult:
    return await converse(
        assignment(),
        opening,
        model=OverHttp(url),
        context=ProviderContext(repository),
        journal=Journal(journal, os.environ),
        ledger=priced(None, "0.25"),
        check=accept,
        notice=lambda _: None,
        now=time.monotonic,
    )


if __name__ == "__main__":
    sys.stdout.write(
        asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))).model_dump_json()
    )
