"""What a shell is told at <Tab>, asked as a shell asks: through the console script and its
environment.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.cli.app import app
from forge_bot.runs.phase_names import phase_named
from tests.fakes.bench import DEVELOP
from tests.fakes.sample import Sample

TASK = "Nobody is on call before the rota starts"
PROGRAM = Path(sys.executable).parent / "forge-bot"


def shell_sets(line: str, shell: str) -> dict[str, str]:
    """What a shell puts into the environment at <Tab>, with the cursor at the end of the line."""
    return {
        "_FORGE_BOT_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


class Shell:
    """Asks the program in this process: a dozen of them would take their time to start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def told(self, line: str, shell: str = "bash") -> str:
        with self.monkeypatch.context() as patched:
            for name, value in shell_sets(line, shell).items():
                patched.setenv(name, value)
            self.capsys.readouterr()
            with pytest.raises(SystemExit) as ended:
                app(args=[], prog_name="forge-bot", standalone_mode=False)
        said = self.capsys.readouterr()
        assert (ended.value.code, said.err) == (0, "")
        return said.out

    def __call__(self, line: str) -> list[str]:
        return self.told(line).split()


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def two_runs(asked_sample: Sample) -> list[str]:
    """A run at its checkpoint and a newer one that is over."""
    model = asked_sample.model()
    first = asked_sample.workspace.name
    another = ("run", "Another thing", "--effort", "S", "--until", "setup", "--model", model)
    asked_sample.forge(*another)
    asked_sample.forge("abandon", "--run", first.replace(first[9:], "another-thing"))
    return [first.replace(first[9:], "another-thing"), first]


def test_runs_are_offered_by_name_wherever_a_run_is_named(
    asked_sample: Sample, two_runs: list[str], offered: Shell
) -> None:
    for command in (
        "resume",
        "approve",
        "show",
        "status",
        "abandon",
        "retry",
        "ask",
        "reject",
        "continue",
    ):
        assert offered(f"forge-bot {command} --run ") == two_runs, command
    assert offered(f"forge-bot resume --run {two_runs[1][:12]}") == [two_runs[1]]
    assert offered("forge-bot run .s") == [f".specs/{two_runs[1]}"], "only one that can go on"


def test_runs_are_found_from_elsewhere_and_without_their_work_tree(
    asked_sample: Sample,
    two_runs: list[str],
    offered: Shell,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as moved:
        moved.chdir(tmp_path)
        assert offered("forge-bot resume --run ") == []
        assert offered(f"forge-bot resume --repo {asked_sample.path} --run ") == two_runs
    for line in asked_sample.git("worktree", "list").splitlines()[1:]:
        asked_sample.git("worktree", "remove", "--force", line.split()[0])
    assert offered("forge-bot resume --run ") == two_runs


def test_phases_are_offered_by_id_and_by_name_where_no_id_begins_so(
    sample: Sample, offered: Shell
) -> None:
    until = offered("forge-bot run x --until ")
    assert until[:4] == ["setup", "phase-1", "phase-2", "phase-3"]
    assert "completed" in until
    assert "checkpoint-c" not in until
    for line in ("forge-bot retry ", "forge-bot resume --from ", "forge-bot run .specs/x --from "):
        again = offered(line)
        assert {"phase-1", "phase-5", "checkpoint-a", "final-commit"} <= set(again)
        assert not {"setup", "completed", "checkpoint-c"} & set(again)
    assert offered("forge-bot retry phase-3") == ["phase-3", "phase-3b"]
    assert offered("forge-bot approve --until desig") == ["design", "design-review"]
    for letter in "acdefhipst":
        for name in offered(f"forge-bot run x --until {letter}"):
            phase_named(DEVELOP, name)


def test_phases_are_those_of_the_repositorys_own_pipeline(sample: Sample, offered: Shell) -> None:
    (sample.path / ".forge" / "pipelines").mkdir(parents=True)
    (sample.path / ".forge" / "config.yml").write_text("pipeline: ours\n")
    (sample.path / ".forge" / "pipelines" / "ours.yaml").write_text(
        "phases:\n  - {id: brew, label: Brew Tea, kind: agent}\n"
    )
    assert offered("forge-bot run x --until ") == ["brew"]


def test_documents_are_those_of_the_run_that_is_meant(
    asked_sample: Sample, two_runs: list[str], offered: Shell
) -> None:
    assert {"request.md", "analysis.md", "design.md"} <= set(offered("forge-bot show "))
    assert offered("forge-bot show des") == ["design.md"]
    assert offered(f"forge-bot show --run {two_runs[0]} ") == ["request.md"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_that_show_help_get_titles_and_labels(
    sample: Sample, offered: Shell, shell: str
) -> None:
    sample.forge("run", TASK, "--effort", "S", "--until", "setup", "--model", sample.model())
    assert TASK in offered.told("forge-bot resume --run ", shell)
    assert "Design Review" in offered.told("forge-bot retry phase-3", shell)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_itself_completes_with_the_script_it_is_given(sample: Sample) -> None:
    script = (
        f'export PATH="{PROGRAM.parent}:$PATH"; eval "$(_FORGE_BOT_COMPLETE=source_bash'
        ' forge-bot)"; COMP_WORDS=(forge-bot retry phase-3); COMP_CWORD=2; _forge_bot_completion'
        " forge-bot; printf '%s ' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["phase-3", "phase-3b"], done


@pytest.mark.parametrize("broken", ["no repository", "state and configuration", "no git"])
def test_where_something_is_broken_nothing_is_offered_and_nothing_is_said(
    sample: Sample, offered: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    sample.forge("run", TASK, "--effort", "S", "--until", "setup", "--model", sample.model())
    if broken == "no repository":
        monkeypatch.chdir(tmp_path)
    elif broken == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        (sample.workspace / "state.json").write_text('{"broken')
        (sample.path / ".forge").mkdir()
        (sample.path / ".forge" / "config.yml").write_text("pipeline: [what\n")
    for line in ("resume --run ", "retry ", "show ", "run .s", "run x --until ", "resume --from "):
        assert offered(f"forge-bot {line}") == [], line


def test_the_program_itself_answers_and_loads_no_run_for_it(sample: Sample) -> None:
    environment = {**os.environ, **shell_sets("forge-bot retry phase-3", "bash")}
    done = subprocess.run(
        [str(PROGRAM)], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout.split(), done.stderr) == (["phase-3", "phase-3b"], "")
    code = (
        "import sys\nfrom forge_bot.cli.app import app\ntry:\n    app(args=[],"
        " prog_name='forge-bot')\nexcept SystemExit:\n    pass\nprint([name for name in"
        " ('forge_bot.engine', 'jinja2', 'pydantic_ai', 'markdown_it', 'github') if name in"
        " sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.splitlines()[-1] == "[]"
