"""At a terminal: one question before a run begins, the document rendered at the gate, and one key
to answer; what an approval and notes do.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bot import scene
from tests.fakes import script
from tests.fakes.github import FakeGitHub, Issue
from tests.fakes.sample import Sample
from tests.fakes.tool_servers import SERVER, unruly
from tests.fakes.warm_python import warm_python

TASK = "Nobody is on call before the rota starts"


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, handle: int, process: "subprocess.Popen[bytes]") -> None:
        self.handle = handle
        self.process = process
        self.seen = ""

    def until(self, words: str, seconds: float = 60.0) -> str:
        """Read until the words appear; what came since the last call."""
        before = len(self.seen)
        while words not in self.seen[before:]:
            ready, _, _ = select.select([self.handle], [], [], seconds)
            assert ready, f"waited for {words!r}, saw {self.seen[before:]!r}"
            try:
                self.seen += os.read(self.handle, 65536).decode("utf-8", "replace")
            except OSError:
                break
        assert words in self.seen[before:], self.seen[before:]
        return self.seen[before:]

    def say(self, words: str) -> None:
        os.write(self.handle, words.encode() + b"\n")

    def ended(self) -> int:
        while True:
            try:
                if not os.read(self.handle, 65536):
                    break
            except OSError:
                break
        return self.process.wait(timeout=60)


def plain(text: str) -> str:
    """The text without the signs of colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


@contextmanager
def at_terminal(
    folder: Path,
    environ: Mapping[str, str],
    *words: str,
    python: str = "",
    module: str = "forge_bot",
) -> Generator[Terminal]:
    """forge-bot on a pseudo-terminal of its own, in a Python that has imported it already or in
    the one that is named. Without a module the word is a program.
    """
    ours, theirs = pty.openpty()
    begin = ("-m", module) if module else ("-c",)
    with _ctrl_c_heeded():
        process = subprocess.Popen(
            [python or (warm_python() if module else sys.executable), *begin, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={**environ, "TERM": "xterm", "COLUMNS": environ.get("COLUMNS", "100")},
        )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@contextmanager
def _ctrl_c_heeded() -> Generator[None]:
    """Start programs that take Ctrl-C, as at a terminal. Where a script has started the tests in the
    background, they and all that they start ignore it (POSIX, Shell Command Language 2.11).
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def terminal(sample: Sample, *words: str, python: str = "", **more: str) -> Generator[Terminal]:
    """The same in the sample repository."""
    environ = {name: value for name, value in os.environ.items() if name != "CI"} | more
    with at_terminal(sample.path, environ, *words, python=python) as person:
        yield person


def test_a_person_chooses_effort_rejects_with_notes_and_approves(sample: Sample) -> None:
    words = ("run", TASK, "--model", sample.model())
    with terminal(sample, *words, python=sys.executable) as person:
        person.until("Enter to begin")
        person.say("S")
        asked = person.until("Your answer")
        assert "the first to look at it" in asked
        assert "##" not in asked, "the document is shown when asked for"
        person.say("maybe")
        person.until("Please answer with one of")
        person.say("r")
        person.until("What should be different?")
        person.say("Say what swaps do")
        person.until("Your answer")
        person.say("forge-bot approve")
        person.until("Done.")
        assert person.ended() == 0
    decisions = sample.forge("status", "--json").out
    assert "Say what swaps do" in decisions
    assert '"effort": "S"' in decisions


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_question_ends_the_command_at_once(
    sample: Sample, number: signal.Signals
) -> None:
    words = ("run", TASK, "--effort", "S", "--yes", "--model", sample.model())
    with terminal(sample, *words, python=sys.executable) as person:
        person.until("Your answer")
        person.process.send_signal(number)
        stopped = person.until("forge-bot resume")
        assert person.ended() == 1
    assert "Stopped." in stopped
    assert "Traceback" not in person.seen
    assert "never retrieved" not in person.seen
    assert "waits for an answer" in sample.forge("list").out


@pytest.mark.slow
@pytest.mark.parametrize(("key", "posted"), [("p", 1), ("s", 0)])
def test_the_summary_goes_to_the_issue_if_the_person_says_so(
    sample: Sample, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch, key: str, posted: int
) -> None:
    issue = on_github(github, monkeypatch)
    with terminal(
        sample, "run", ISSUE, "--effort", "S", "--yes", "--model", sample.model()
    ) as person:
        person.until("Your answer")
        person.say("a")
        seen = person.until("Your answer")
        assert "Post this summary" in seen
        assert "/o/r/issues/42" in seen
        person.say(key)
        person.until("Done.")
        assert person.ended() == 0
    assert [
        comment.body.startswith("<!-- forge-bot:summary run=") for comment in issue.comments
    ] == [True] * posted


ISSUE = "https://github.com/o/r/issues/42"


def on_github(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> Issue:
    """An issue on a GitHub that this shell has a token for."""
    repository = github.repository("o/r")
    issue = github.issue(repository, TASK, number=42)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GH_HOST", github.url.partition("://")[2])
    monkeypatch.setenv("GITHUB_TOKEN", github.token("ann"))
    return issue


@pytest.mark.slow
def test_the_question_has_46_lines_at_80_columns_and_begins_with_the_decisions(
    sample: Sample,
) -> None:
    design = {"artifact_markdown": scene.text("design.md")}
    noted = script.review("APPROVE_WITH_NOTES", "[MINOR] A word about swaps is missing.")
    model = sample.model({("architect", "*", "*"): design, ("design-reviewer", "*", "*"): noted})
    words = ("run", TASK, "--effort", "M", "--yes", "--model", model)
    with terminal(sample, *words, COLUMNS="80", PAGER="cat") as shell:
        asked = shell.until("Your answer")
        shell.say("l")
        assert shell.ended() == 3
    question = plain(asked).partition("Human Reviews Design ─")[2]
    assert question.count("\n") <= 46, question
    places = [
        question.find(part)
        for part in (
            *("You decide", "1 README says", "• a Yes, as who", "• b No: a DATE before"),
            *("⚠️ Duration", "4 files, 1 of them tests", "rota/cli.py: the command"),
            *("approved with notes", "MINOR A word about swaps"),
            *(
                "Cost: so far",
                "a yes counts for version",
                "a, approve: take exactly this version, and 1a",
                "a with <your condition>",
                "r, reject",
            ),
            *("?, ask", "v, view: design.md and review-design.md", "l, later"),
        )
    ]
    assert -1 not in places, (places, question)
    assert places == sorted(places)


def test_servers_of_a_repository_start_after_a_yes_typed_at_the_terminal(sample: Sample) -> None:
    (sample.path / "server.py").write_bytes(SERVER.read_bytes())
    servers = {"mcpServers": {"tickets": unruly("well")}}
    (sample.path / "forge-mcp.json").write_text(json.dumps(servers))
    for typed, answer, code, listed in (
        ("n", "No server is started.", 5, "✗ tickets"),
        ("y", "They may be started", 0, "✓ tickets"),
    ):
        with terminal(sample, "capabilities", "approve") as person:
            assert "tickets" in person.until("[y/N]")
            person.say(typed)
            person.until(answer)
            assert person.ended() == code
        assert listed in sample.forge("capabilities").out


DECIDED = {("architect", "*", "*"): script.deciding_design()}
MET = {("comprehensive-reviewer", "*", "*"): script.review_of_requirements("P-1", "P-2", "P-3")}


def test_a_document_is_shown_with_the_words_behind_the_numbers_it_names(
    asked_sample: Sample,
) -> None:
    (asked_sample.workspace / "analysis.md").write_text("- R-1: Nobody before the start\n")
    (asked_sample.workspace / "design.md").write_text("# Design\n\nIt keeps R-1 and R-2.\n")
    with terminal(asked_sample, "show", "design.md") as person:
        assert "R-1 (Nobody before the start) and R-2." in person.until("and R-2.")
    assert "keeps R-1 and R-2." in asked_sample.forge("show", "design.md").out


@pytest.mark.slow
def test_at_the_prompt_a_bare_approval_counts_with_the_least_change(sample: Sample) -> None:
    model = sample.model({**DECIDED, **MET})
    with terminal(sample, "run", TASK, "--effort", "S", "--yes", "--model", model) as person:
        person.until("Your answer")
        person.say("approve 9z")
        assert "1a, 1b, 2a, 2b" in person.until("Your answer")
        person.say("approve 2b with no new option")
        assert "1a: Keep the words. · 2b: Give 1. · no new option" in person.until("Done.")
        assert person.ended() == 0
    [decision] = json.loads(sample.forge("status", "--json").out)["decisions"]
    assert (decision["choices"], decision["condition"]) == (["1a", "2b"], "no new option")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("reject",), ("retry", "--notes")])
def test_notes_on_a_run_that_is_done_ask_for_a_change_in_a_commit_of_its_own(
    ended_sample: Sample, words: tuple[str, ...]
) -> None:
    sample, before = ended_sample, ended_sample.git("rev-parse", ended_sample.offered)
    edit = {"path": "rota/more.py", "operation": "write", "old": "", "new": "MORE = 1\n"}
    review = script.review_of_requirements("P-1")
    answers = {("implementer", "*", "*"): script.change(edit)}
    model = sample.model({**answers, ("comprehensive-reviewer", "*", "*"): review})
    said = sample.forge(*words, "Say more", "--model", model)
    assert said.code == 0, said.out + said.err
    assert sample.git("rev-parse", f"{sample.offered}~1") == before
    message = sample.git("log", "-1", "--format=%B", sample.offered)
    assert ("asked for this: Say more" in message, "Approved-by" in message) == (True, False)
