"""An agent that works for a person does not answer for them: at the command line, through its
host's shell, or over MCP.
"""

import json
import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from mcp.types import ElicitResult

from forge_bot.mcp_server.hooks import answer_hook
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Refusal, hosting
from tests.mcp_server.test_gates import Person, says

TASK = "Nobody is on call before the rota starts"


def begun(sample: Sample) -> str:
    """A run that has asked its first question; the model it goes on with."""
    model = sample.model()
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    return model


def typed(
    sample: Sample, *words: str, stdin: int = subprocess.DEVNULL, python: str = ""
) -> tuple[int, str]:
    """The command in a process of its own, as an agent's shell starts it."""
    command = [python or warm_python(), "-m", "forge_bot", *words]
    done = subprocess.run(
        command, cwd=sample.path, stdin=stdin, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def reports(sample: Sample) -> str:
    return (sample.workspace / "reports.jsonl").read_text(encoding="utf-8")


def ways(sample: Sample) -> list[tuple[str, str]]:
    """Each decision with the way it came."""
    state = json.loads(sample.forge("status", "--json").out)
    return [(decision["answer"], decision["via"]) for decision in state["decisions"]]


ANSWERS = (
    ("approve",),
    ("reject", "Not like this"),
    ("revise", "Not like this"),
    ("done",),
    ("skip",),
    ("continue", "+$5"),
    ("abandon",),
    ("retry", "phase-1"),
    ("resume", "--from", "phase-1"),
)


def test_no_answer_counts_that_comes_without_a_terminal(asked_sample: Sample) -> None:
    before = reports(asked_sample)
    for words in ANSWERS:
        code, said = typed(asked_sample, *words)
        assert (code, "GATE-005" in said, "--by-script" in said) == (5, True, True), (words, said)
    assert reports(asked_sample) == before


def test_an_answer_of_a_script_is_recorded_as_one(asked_sample: Sample) -> None:
    model = asked_sample.model()
    assert (
        typed(asked_sample, "reject", "Say what swaps do", "--by-script", "--model", model)[0] == 3
    )
    assert typed(asked_sample, "retry", "design", "--by-script", "--model", model)[0] == 3
    assert typed(asked_sample, "approve", "--by-script", "--model", model)[0] == 0
    assert ways(asked_sample) == [("reject", "script"), ("approve", "script")]
    assert '"type":"retry_asked"' in reports(asked_sample)
    assert '"via":"terminal"' not in "".join(
        line for line in reports(asked_sample).splitlines() if '"retry_asked"' in line
    )


def test_an_answer_at_a_terminal_is_recorded_as_one(asked_sample: Sample) -> None:
    model = asked_sample.model()
    ours, theirs = pty.openpty()
    try:
        assert (
            typed(asked_sample, "approve", "--model", model, stdin=theirs, python=sys.executable)[0]
            == 0
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert ways(asked_sample) == [("approve", "terminal")]


AGENT = """#!{python}
import pty, sys
pty.spawn([sys.executable, {script!r}])
"""
SCRIPT = """import os, pty, sys
words = {words!r}
typed = [b"approve\\n"]
pty.spawn([sys.executable, "-m", *words], stdin_read=lambda _: typed.pop() if typed else b"")
"""


@pytest.mark.parametrize("command", sampled(["approve", "resume"], 2))
def test_a_terminal_that_a_coding_agent_made_is_none(
    asked_sample: Sample, tmp_path: Path, command: str
) -> None:
    model = asked_sample.model()
    before = reports(asked_sample)
    script, agent = tmp_path / "later.py", tmp_path / "bin" / "claude"
    words = ("forge_bot", command, "--model", model)
    script.write_text(SCRIPT.format(words=words), encoding="utf-8")
    agent.parent.mkdir()
    agent.write_text(AGENT.format(python=sys.executable, script=str(script)), encoding="utf-8")
    agent.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["COLUMNS"] = "200"
    done = subprocess.run(
        [agent],
        cwd=asked_sample.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert reports(asked_sample) == before, done.stdout
    if command == "approve":
        assert "this terminal belongs to claude, which is an agent" in done.stdout
    else:
        assert "forge-bot approve" in done.stdout, "the question says how to answer"


def test_a_run_that_asks_nothing_is_sent_back_without_a_terminal_and_not_as_from_one(
    asked_sample: Sample,
) -> None:
    model = asked_sample.model()
    typed(asked_sample, "approve", "--by-script", "--model", model, "--until", "tasks")
    assert typed(asked_sample, "retry", "tasks", "--until", "tasks", "--model", model)[0] == 3
    (line,) = (line for line in reports(asked_sample).splitlines() if '"retry_asked"' in line)
    assert json.loads(line)["via"] == "script"


REFUSED = (
    "forge-bot approve",
    "forge-bot approve </dev/null",
    "forge-bot approve 3f9c2a1b --by-script",
    "/usr/local/bin/forge-bot approve",
    "~/.venv/bin/forge-bot --help; ~/.venv/bin/forge-bot reject 'no'",
    "forge-bot revise 'no' --by-script",
    "FOO=1 forge-bot approve",
    "forge-bot repair",
    "python -m forge_bot repair .specs/20261122-fix",
    "env FOO=1 forge-bot done",
    "command forge-bot skip",
    "exec forge-bot abandon",
    "timeout 5 forge-bot continue +$5",
    "sudo -u ann forge-bot approve",
    "nohup forge-bot approve &",
    "python -m forge_bot approve",
    ".venv/bin/python3.12 -I -m forge_bot retry phase-1",
    "python forge_bot/__main__.py approve",
    "uv run forge-bot approve",
    "uvx --from forge-bot forge-bot approve",
    "pipx run forge-bot approve",
    "bash -c 'forge-bot approve'",
    "bash -lc \"cd rota && forge-bot 'approve'\"",
    "sh -c 'eval \"forge-bot approve\"'",
    "script -qc 'forge-bot approve' /dev/null",
    "script -q /dev/null forge-bot approve",
    "unbuffer forge-bot approve",
    "expect -c 'spawn forge-bot approve; expect eof'",
    "tmux send-keys 'forge-bot approve' Enter",
    "python -c \"import pty; pty.spawn(['forge-bot', 'approve'])\"",
    "python -c 'from forge_bot.cli.app import run; run([\"approve\"])'",
    (
        "python - <<'END'\nfrom forge_bot.runs.session import answer,"
        " PersonAnswer\nPersonAnswer(answer=Answer.APPROVE)\nEND"
    ),
    "bash <<< 'forge-bot approve'",
    "bash <<'END'\nforge-bot approve\nEND",
    "echo forge-bot approve | sh",
    "echo approve | xargs forge-bot",
    "printf 'forge-bot %s' approve > x.sh; sh x.sh",
    "echo 'forge-bot approve' > x.sh",
    "$(which forge-bot) approve",
    "`command -v forge-bot` approve",
    "alias fb=forge-bot; fb approve",
    "alias fb='python -m forge_bot'",
    "fb=forge-bot; $fb approve",
    "A=approve; forge-bot $A",
    'fb() { forge-bot "$@"; }; fb approve',
    "ln -s .venv/bin/forge-bot x",
    "cp .venv/bin/forge-bot x",
    "for a in approve; do forge-bot $a; done",
    'forge-bot app""rove',
    'for"ge"-bot approve',
    "forge-bot \\\n  approve",
    "forge-bot ap\\prove",
    "forge-bot $'\\x61pprove'",
    "forge-bot {approve,}",
    "forge-bot resume --from phase-1",
    "forge-bot run .specs/20260401-x --from=phase-1",
    "forge-bot.exe approve",
    "cd /elsewhere && forge-bot approve --repo /elsewhere/rota",
    "(sleep 1; forge-bot approve)",
    "forge-bot status && forge-bot approve",
    "forge-bot status\nforge-bot approve",
    "if true; then forge-bot approve; fi",
    "while :; do forge-bot approve; done",
    "forge-bot 'approve",
    'forge-bot ask "why $(forge-bot approve)"',
    "forge-bot run 'x' --by-script",
    "forge-bot $(echo approve)",
    "uv run --project ~/src/forge-bot forge-bot approve",
    "find . -name x -exec forge-bot approve ;",
    "git -c alias.y='!forge-bot approve' y",
    "git config alias.y '!forge-bot approve'",
    "ls | xargs -I{} forge-bot approve",
    "forge-bot --verbose $X",
)

ALLOWED = (
    "forge-bot status",
    "forge-bot status --json | jq .gate",
    "forge-bot show design.md",
    "forge-bot list; forge-bot --version",
    "forge-bot ask 'why is it done like this?'",
    "forge-bot resume",
    "forge-bot run 'Retry after a timeout'",
    'forge-bot run "Add approve and reject" --effort S --until design',
    "forge-bot status --run $RUN",
    "uvx --from forge-bot forge-bot resume",
    "pytest --cov forge_bot -k approve",
    "git commit -m 'forge-bot approve needs a terminal'",
    "cp -r ~/src/forge-bot /tmp/copy",
    "for i in 1 2; do forge-bot status; done",
    "while true; do forge-bot status; continue; done",
    "which forge-bot",
    "pip install forge-bot",
    "cd ~/src/forge-bot && pytest -k approve",
    "cd forge-bot && for f in *; do cat $f; done",
    "grep -rn approve forge_bot/",
    "grep -rn 'forge-bot approve' docs | head",
    "rg 'forge-bot (approve|reject)' README.md",
    "git log --grep 'forge-bot approve'",
    "git diff -- forge_bot/cli",
    "cat docs/commands.md",
    "pytest tests/cli -k 'approve or reject'",
    "npm run approve",
    "echo done",
    "python -m forge_bot.gate",
    "",
)


def test_a_hosts_shell_does_not_answer_in_any_spelling(tmp_path: Path) -> None:
    assert [command for command in REFUSED if judged(tmp_path, command) != 2] == []


def test_a_hosts_shell_may_look_and_go_on(tmp_path: Path) -> None:
    assert [command for command in ALLOWED if judged(tmp_path, command) != 0] == []


SCRIPTS = {
    "a.py": "import pty\npty.spawn(['forge-bot', 'approve'])\n",
    "b.py": "import os\nos.system('forge-bot approve 3f9c2a1b')\n",
    "c.js": 'require("child_process").spawn("forge-bot", ["reject", "no"])\n',
    "run": "#!/bin/sh\nscript -qc 'forge-bot approve' /dev/null\n",
    "d.exp": "spawn forge-bot abandon\nexpect eof\n",
}
RUNS_SCRIPT = (
    "python a.py",
    "python3.12 -u ./a.py --fast",
    "cd sub && python ../b.py",
    "uv run a.py",
    "node c.js",
    "./run",
    "bash run",
    "sh < run",
    "cat run | sh",
    "source run",
    ". run",
    "expect d.exp",
    "sleep 1; timeout 9 python b.py &",
)
READS_SCRIPT = ("cat a.py", "python -m pytest", "git add a.py", "ruff check a.py b.py", "ls run")
HARMLESS = {
    "ok.py": "import subprocess\nfor each in '12':\n    subprocess.run(['forge-bot', 'status'])\n    continue\n",
    "ok.sh": "while true; do forge-bot status; done\n",
}


def test_a_hosts_shell_does_not_answer_by_a_script_that_lies_there(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name, text in {**SCRIPTS, **HARMLESS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [command for command in RUNS_SCRIPT if judged(tmp_path, command) != 2] == []
    others = (*READS_SCRIPT, "python ok.py", "sh ok.sh")
    assert [command for command in others if judged(tmp_path, command) != 0] == []


def judged(folder: Path, command: str) -> int:
    payload = {"cwd": str(folder), "tool_name": "Bash", "tool_input": {"command": command}}
    return answer_hook("pre-tool", StringIO(json.dumps(payload)))


def test_the_reason_says_whose_answer_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(tmp_path, "forge-bot approve")
    said = capsys.readouterr().err
    assert "The person answers" in said
    assert "terminal" in said


@pytest.mark.parametrize("operation", ["abandon", "retry"])
async def test_an_open_question_is_neither_ended_nor_gone_round_by_a_model(
    clients_sample: Sample, operation: str
) -> None:
    does = "end the run" if operation == "abandon" else "send the run back to phase-1"
    async with hosting(clients_sample) as host:
        name = (await host.asked_now())["action_id"]
        with pytest.raises(Refusal, match=f"forge-bot {operation} .*--run") as refused:
            await host.call(
                "run_control",
                workspace=host.workspace,
                operation=operation,
                phase="phase-1" if operation == "retry" else "",
            )
        assert refused.value.error["code"] == "MCP-014"
        assert f". To {does} without it is the person's to decide." in str(refused.value)
        assert (await host.next())["action_id"] == name


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("operation", ["abandon", "retry"])
async def test_where_the_client_can_ask_its_person_decides_whether_a_question_is_passed_over(
    clients_sample: Sample, operation: str, mode: str
) -> None:
    no = ElicitResult(action="decline")
    person = Person(no, no, says(operation))
    async with hosting(clients_sample, mode=mode, elicitation_callback=person) as host:
        name = (await host.asked_now())["action_id"]
        wanted = {
            "workspace": host.workspace,
            "operation": operation,
            "phase": "phase-1" if operation == "retry" else "",
        }
        with pytest.raises(Refusal):
            await host.call("run_control", **wanted)
        assert (
            json.loads((host.path / host.workspace / "state.json").read_text(encoding="utf-8"))[
                "gate"
            ]
            is not None
        ), name
        said = await host.call("run_control", **wanted)
        record = (
            (host.path / host.workspace / "reports.jsonl").read_text(encoding="utf-8").splitlines()
        )
    assert (said["status"], said["current_phase"]) == {
        "abandon": ("abandoned", "checkpoint-a"),
        "retry": ("in_progress", "phase-1"),
    }[operation]
    assert json.loads(record[-1])["via"] == "mcp-elicitation"
    assert "waits for an answer" in person.seen[1].message
