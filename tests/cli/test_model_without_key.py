"""An installed coding agent as the model: asked in its print mode, in an empty folder, with its own
tools off.
"""

import json
import os
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.fakes.script import HEADINGS, document

PROGRAM = """#!/usr/bin/env python3
import json, os, sys
said = sys.stdin.read()
with open({notes!r}, "a") as file:
    seen = [sys.argv[1:], os.listdir("."), sorted(os.environ), said[:200]]
    file.write(json.dumps(seen) + "\\n")
{does}
"""
CLAUDE = """
answer = {{"result": {{"kind": "Document", "data": {document}}}}}
print(json.dumps({{"is_error": False, "result": "", "structured_output": answer,
                  "usage": {{"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 3}}}}))
"""
ANALYSIS = document(*HEADINGS["situation-analyst-investigator"])
WORDS = ("run", "Say who is next", "--effort", "S", "--yes", "--until", "phase-1")


def install(folder: Path, name: str, does: str) -> Path:
    """Put a program on the path; where it notes how it was started."""
    folder.mkdir(exist_ok=True)
    notes = folder / "notes.jsonl"
    program = folder / name
    program.write_text(
        PROGRAM.format(notes=str(notes), does=does.format(document=json.dumps(ANALYSIS)))
    )
    program.chmod(0o755)
    return notes


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on the path."""
    folder = tmp_path / "programs"
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else-0123456789")
    return folder


def test_claude_is_asked_in_an_empty_folder_with_its_tools_off(
    sample: Sample, programs: Path
) -> None:
    notes = install(programs, "claude", CLAUDE)
    said = sample.forge(*WORDS, "--model", "cli:claude:some-model")
    assert said.code == 3, said.err
    (line,) = notes.read_text().splitlines()
    words, folder, variables, text = json.loads(line)
    assert folder == []
    assert "OPENAI_API_KEY" not in variables
    assert words[words.index("--tools") + 1] == ""
    assert words[words.index("--setting-sources") + 1] == ""
    assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= {*words}
    assert words[words.index("--model") + 1] == "some-model"
    assert "properties" in json.loads(words[words.index("--json-schema") + 1])
    assert text
    state = json.loads(sample.forge("status", "--json").out)
    assert state["usage"]["inputTokens"] == 12
    assert "analysis.md" in state["artifacts"]


def test_what_goes_wrong_is_told_and_the_run_can_go_on(sample: Sample, programs: Path) -> None:
    words: tuple[str, ...] = WORDS
    for does, told in (
        ("sys.stderr.write('please log in'); sys.exit(1)", "exit code 1: please log in"),
        ("print('hello')", "gave no answer that can be read"),
        ("print(json.dumps({{'is_error': True, 'result': 'limit reached'}}))", "limit reached"),
    ):
        install(programs, "claude", does)
        said = sample.forge(*words, "--model", "cli:claude")
        assert said.code == 1
        assert told in said.err
        assert "forge-bot resume" in said.err
        words = ("resume",)
