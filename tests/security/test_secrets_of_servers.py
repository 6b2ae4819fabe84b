"""A server that gives its secret away in forty encodings: what of it reaches a prompt, a journal, a
document, a commit or a log.
"""

import re
from pathlib import Path

import pytest

from tests.cli.test_tools_in_a_run import ANALYST, CREATE, asks
from tests.fakes.sample import Sample
from tests.fakes.tool_servers import configure, unruly
from tests.fakes.unruly_server import forms

SECRET = "Tickets/Secret+7f3a9C1e5B2d"
PAGE = Path(__file__).parents[2] / "docs" / "capabilities.md"


def everything(sample: Sample, said: str) -> str:
    """All text that a run leaves anywhere, and what it printed; not the files of git's store."""
    files = (path for path in sample.path.parent.rglob("*") if path.is_file())
    texts = [path.read_bytes().decode("utf-8", "replace") for path in files]
    log = sample.git("log", "--all", "-p", "--format=%B")
    return "\n".join([*texts, log, said])


def test_a_secret_in_forty_encodings_reaches_nothing_but_in_those_that_are_listed(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKETS_TOKEN", SECRET)
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        "capabilities: {allow: [mcp_tickets_create]}\n"
    )
    entry = {**unruly("leaks"), "env": {"TICKETS_TOKEN": "${TICKETS_TOKEN}"}}
    configure(sample.path, {"tickets": entry})
    model = sample.model(
        {
            (*ANALYST, "1.1"): asks(("mcp_tickets_echo", {"text": "x"}), CREATE),
            (*ANALYST, "2.1"): asks(("mcp_tickets_echo", {"text": "x"})),
        }
    )
    said = sample.forge("run", "Say who is next", "--effort", "S", "--yes", "--model", model)
    assert said.code == 3
    seen = everything(sample, said.out + said.err)
    # It was called, within a conversation and as a call of its own.
    assert seen.count("in a table: | token | [TICKETS_TOKEN] |") > 2
    known = forms(SECRET)
    assert len(known) == 40
    through = {name for name, value in known.items() if value in seen}
    listed = re.search(
        r"does not know a value in other forms: (.*?)\.", PAGE.read_text(), re.DOTALL
    )
    assert listed is not None
    assert through == {" ".join(name.split()) for name in listed[1].split(";")}
