"""The server that a command starts for itself, and what happens where there is none."""

import os
import subprocess
import sys

import pytest

from tests.fakes.agents import AgentServer
from tests.fakes.sample import Sample
from tests.sandbox.test_limits import alive, wait_until
from tests.temporal.conftest import TASK
from tests.temporal.scene import free_port

pytestmark = pytest.mark.usefixtures("server")


def test_with_dev_each_command_brings_its_own_server_and_goes_on_where_the_last_one_stopped(
    sample: Sample,
) -> None:
    model = sample.model()
    words = ("--effort", "S", "--yes", "--model", model, "--on", "temporal", "--dev")
    began = sample.forge("run", TASK, *words)
    assert began.code == 3, began.err
    assert "Human Reviews Design" in began.out
    assert "led by a Temporal server that each command starts" in sample.forge("status").out
    done = sample.forge("approve")
    assert done.code == 0, done.err
    assert "✓ Done." in done.out
    assert done.err == ""
    assert "led by" not in sample.forge("status").out


def test_a_key_that_signs_and_is_missing_is_told_before_a_run_that_this_command_works_on(
    sample: Sample,
) -> None:
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text("sign: true\n")
    words = ("--effort", "S", "--yes", "--model", sample.model(), "--on", "temporal", "--dev")
    said = sample.forge("run", TASK, *words)
    assert (said.code, "CONFIG-010" in said.err) == (5, True), said.out + said.err
    assert sample.git("branch", "--format=%(refname:short)") == "main"


def test_a_server_that_is_not_there_is_named_and_nothing_is_begun(sample: Sample) -> None:
    port = free_port()
    at = ("--on", "temporal", "--address", f"127.0.0.1:{port}")
    said = sample.forge("run", TASK, "--yes", "--model", sample.model(), *at)
    assert said.code == 5
    assert f"The Temporal server at 127.0.0.1:{port} does not answer." in said.err
    assert "TEMPORAL-003" in said.err
    assert sample.git("branch", "--format=%(refname:short)") == "main"


def test_answers_of_models_are_recorded_on_this_machine_only(sample: Sample) -> None:
    at = ("--on", "temporal", "--dev", "--record", "answers.jsonl", "--model", sample.model())
    said = sample.forge("run", TASK, "--effort", "S", "--yes", *at)
    assert (said.code, "--record" in said.err) == (2, True), said.err


@pytest.mark.slow
def test_the_server_of_a_killed_command_ends_with_it_and_the_next_one_goes_on(
    sample: Sample,
) -> None:
    servers = f"--db-filename\0{sample.path.parent}"
    with AgentServer() as models:
        models.will_hang = 1
        given = ("--effort", "S", "--yes", "--on", "temporal", "--dev")
        env = os.environ | {"OPENAI_BASE_URL": f"{models.url}/v1", "OPENAI_API_KEY": "none"}
        forge = (sys.executable, "-m", "forge_bot")
        words = (*forge, "run", TASK, "--model", "openai-chat:fake", *given)
        begun = subprocess.Popen(words, cwd=sample.path, env=env)
        assert models.wait_for(1, seconds=90)
        assert alive(servers)
        begun.kill()
        begun.wait()
        wait_until(lambda: not alive(servers))
        again = subprocess.run((*forge, "resume"), cwd=sample.path, env=env, check=False)
    assert again.returncode == 3
