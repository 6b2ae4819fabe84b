"""Characters that a run over MCP makes models read.

`python -m benchmarks.mcp_tokens` leads the demo's task at S and at M, by texts and by paths, with
the answers of the demo's record and a changelog beside the code. It counts what the server hands to
its host, the prompts that the agents get, and the files and changes that the prompts name, each as
often as it is named. A token is four characters.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import product
from pathlib import Path

from mcp import Client

from forge_bot.agent.edits import Folder, plan_edits
from forge_bot.agent.model_answers import Change, Edit
from forge_bot.artifacts.markdown import split_documents
from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.resources import templates
from tests.fakes import script
from tests.mcp_server.host import Host, Json

_CHANGELOG = "# Changelog\n\n" + "".join(
    f"## 0.{number}\n\n- `week` shows the days of a longer rota, {number} at most.\n\n"
    for number in range(300, 0, -1)
)
_NEXT = re.compile(r"Write `\S+/(\S+)` too, a file")
_AGENTS = {"investigation.md": "investigator", "design.md": "architect"}
_SHOWN = re.compile(r"The change under review is `(.*)` on branch")
_NAMED = re.compile(r"- (?P<path>.+?)(?:, lines? (?P<first>\d+)(?:-(?P<last>\d+))?)?$")


def main() -> int:
    """Print a line for each effort."""
    columns = ("calls", "handed out", "prompts", "files", "changes", "all")
    os.environ["GIT_CONFIG_GLOBAL"] = str(Path(script.__file__).parent / "gitconfig")
    print(f"| run | {' | '.join(columns)} |")
    for effort, by_path in product(("S", "M"), (False, True)):
        with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
            os.environ["XDG_STATE_HOME"] = str(Path(name) / "state")
            counts = asyncio.run(_run(_repository(Path(name)), effort, by_path=by_path))
        counts["all"] = sum(counts.values()) - counts["calls"]
        cells = " | ".join(f"{counts[column]:,}" for column in columns)
        print(f"| {effort}, by {'path' if by_path else 'text'} | {cells} |")
    return 0


class _Counting(Host):
    """A host that counts what it and its agents read."""

    def __init__(self, client: Client, path: Path) -> None:
        super().__init__(client, path, answers=_answers())
        self.counts: Counter[str] = Counter()

    async def call(self, tool: str, **arguments: object) -> Json:
        answer = await super().call(tool, **arguments)
        self.counts["calls"] += 1
        self.counts["handed out"] += len(json.dumps(answer, ensure_ascii=False))
        return answer

    def _work(self, action: Json, task: str) -> None:
        place = str(action.get("prompt_path", "")).replace("{task}", task)
        prompt = (self.path / place).read_text(encoding="utf-8") if place else action["prompt"]
        self._read(prompt)
        if following := _NEXT.search(prompt):
            agent = _AGENTS[following[1]]
            text = str(self._answer(agent, "", "", 1)["artifact_markdown"])
            self.write(following[1], text)
        answer = self._answer(action["agent"], action["phase"], task, 1)
        for path, data in plan_edits(Folder(self.path).read, _edits(answer)).files:
            (self.path / path).write_bytes(data or b"")
        name = action["output_file"].replace("{task}", task)
        self.write(name, str(answer["artifact_markdown"]))

    def _read(self, prompt: str) -> None:
        """Count a prompt with what it tells its agent to read."""
        self.counts["prompts"] += len(prompt)
        inputs = prompt.partition("## Input Files")[2].partition("## Output File")[0]
        for line in inputs.splitlines():
            if named := _NAMED.fullmatch(line):
                self.counts["files"] += self._size(named)
            if shown := _SHOWN.search(line):
                self.counts["changes"] += len(self.git(*shlex.split(shown[1])[1:]))

    def _size(self, named: re.Match[str]) -> int:
        """Return the characters of a file, or of the lines of it that are named."""
        lines = (self.path / named["path"]).read_text(encoding="utf-8").splitlines(keepends=True)
        first, last = named["first"], named["last"] or named["first"]
        return sum(map(len, lines[int(first) - 1 : int(last)] if first else lines))


def _repository(folder: Path) -> Path:
    path = folder / "rota"
    shutil.copytree(templates() / "demo" / "repository", path)
    (path / "CHANGELOG.md").write_text(_CHANGELOG, encoding="utf-8")
    for words in ("init -q -b main", "add .", "commit -qm Rota"):
        subprocess.run(["git", "-C", str(path), *words.split()], check=True)
    return path


async def _run(path: Path, effort: str, *, by_path: bool) -> Counter[str]:
    async with Client(make_server(path, by_path=by_path)) as client:
        host = _Counting(client, path)
        await host.begin((templates() / "demo" / "task.md").read_text(encoding="utf-8"), effort)
        action = await host.next()
        while action["type"] != "done":
            if action["type"] == "checkpoint":
                action = await host.next(user_response="approve", digest=action["digest"])
            else:
                action = await host.drive(action)
    return host.counts


def _edits(answer: script.Answer) -> tuple[Edit, ...]:
    return Change.model_validate(answer).edits if "edits" in answer else ()


def _answers() -> dict[tuple[str, str, str], script.Answer]:
    """Return the answers of the demo's record, for agents that it lacks those of the tests."""
    record = (templates() / "demo" / "record.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = {
        line["agent"]: json.loads(line["answer"])["result"]["data"]
        for line in map(json.loads, record)
    }
    first, second, *_ = split_documents(recorded["situation-analyst"]["artifact_markdown"])
    looked = {"situation-analyst": first, "investigator": second}
    looked["situation-analyst-investigator"] = first + second.partition("\n")[2]
    recorded["comprehensive-reviewer"] = recorded["impl-reviewer"]
    answers = {**recorded, **{agent: {"artifact_markdown": text} for agent, text in looked.items()}}
    return {**script.usual(), **{(agent, "*", "*"): answer for agent, answer in answers.items()}}


if __name__ == "__main__":
    sys.exit(main())
