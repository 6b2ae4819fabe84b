"""The room where questions are answered, as another host enters it: by a run it holds, with a key
of its own.
"""

import json
from collections.abc import Mapping

import pytest

from forge_bot.agent.models.base import Model, ModelCall, ModelReply
from forge_bot.engine import HumanGate
from forge_bot.engine.reports import Asked
from forge_bot.git import Repository
from forge_bot.runs.agent_work.agents import Agents
from forge_bot.runs.find_runs import resolve_run
from forge_bot.runs.inquiry import Inquirer, answer_in
from forge_bot.runs.notifications import Notice
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.settings.config import Config
from forge_bot.values import Tier, Usage
from tests.fakes.sample import Sample
from tests.fakes.script import look

SECRET = "sk-very-secret-value-123456"
TASK = "Nobody is on call before the rota starts"
BY_HAND = (
    "# Tasks\n\n## Task 1: Tell the people on call\nmode: human_gate\ndepends_on: []\n\nAcceptance"
    " criteria:\n- [ ] AC-1: they know\n"
)


class Talker:
    """Says the same to everything, and counts."""

    name = "scripted:talker"

    def __init__(self, words: str = "So it is. " * 600) -> None:
        self.words = words
        self.calls: list[ModelCall] = []

    async def ask(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        return ModelReply(
            text=json.dumps({"artifact_markdown": self.words}),
            usage=Usage(calls=1, input_tokens=10),
        )


class Curious(Talker):
    """Wants to see two files before it answers: one of the code and one of the run."""

    async def ask(self, call: ModelCall) -> ModelReply:
        paths = (
            "rota/schedule.py",
            f".specs/{call.messages[1].text.partition('.specs/')[2].partition('/')[0]}/analysis.md",
        )
        if not self.calls:
            self.calls.append(call)
            return ModelReply(text=json.dumps(look(*paths)), usage=Usage(calls=1))
        return await super().ask(call)


def asked(
    run: Run,
    question: str,
    models: Mapping[Tier, Model],
    key: str = "",
    environ: Mapping[str, str] | None = None,
) -> tuple[str, int]:
    notices: list[Notice] = []
    agents = Agents(run, models, notices.append, environ=environ or {})
    finished = Inquirer(agents, by="ann", via="comment").inquire(question, key)
    return answer_in(finished), finished.usage.calls


def test_a_question_with_a_key_is_answered_once_however_often_it_arrives(sample: Sample) -> None:
    sample.forge("run", TASK, "--effort", "S", "--until", "phase-1", "--model", sample.model())
    repository = Repository.find(sample.path)
    talker = Talker()
    models = dict.fromkeys(Tier, talker)
    with open_run(repository, resolve_run(repository, None), Config()) as run:
        first, _ = asked(run, "Why?", models, key="comment-7")
        state = run.state
        again, _ = asked(run, "Why?", models, key="comment-7")
        assert len(talker.calls) == 1
        assert run.state is state
        assert first.startswith(again.rstrip("…")[:1000])
        assert asked(run, "Why?", models, key="comment-8")[0] == first
        assert len(talker.calls) == 2
        report = run.workspace.reports()[-1]
    assert isinstance(report, Asked)
    assert (report.key, report.by, report.via) == ("comment-8", "ann", "comment")
    assert len(report.answer) < 4_100 < len(first), "the record keeps the beginning"


def test_the_question_of_a_task_for_people_can_be_asked_about(sample: Sample) -> None:
    model = sample.model({("task-decomposer", "*", "*"): {"artifact_markdown": BY_HAND}})
    sample.forge("run", TASK, "--effort", "M", "--model", model)
    assert sample.forge("approve", "--model", model).code == 3
    repository = Repository.find(sample.path)
    talker = Talker()
    with open_run(repository, resolve_run(repository, None), Config()) as run:
        before = run.action
        assert isinstance(before, HumanGate)
        asked(run, "Whom?", dict.fromkeys(Tier, talker))
        assert run.action == before
        assert "Tell the people on call" in talker.calls[0].messages[1].text


def test_it_may_read_the_code_and_the_other_documents_but_run_nothing(asked_sample: Sample) -> None:
    repository = Repository.find(asked_sample.path)
    curious = Curious("It does.")
    with open_run(repository, resolve_run(repository, None), Config()) as run:
        found = asked(run, "Does it?", dict.fromkeys(Tier, curious))
    assert found == ("It does.", 2)
    shown = curious.calls[1].messages[-1].text
    assert "class Schedule" in shown
    assert "## Root Cause or Integration Points" in shown
    assert "run_tests" not in curious.calls[0].messages[0].text


@pytest.mark.slow
def test_a_command_that_stands_for_a_script_is_told_with_the_script(sample: Sample) -> None:
    package = {"scripts": {"test": "python3 -m unittest discover -s tests -t ."}}
    (sample.path / "package.json").write_text(json.dumps(package), encoding="utf-8")
    sample.git("add", ".")
    sample.git("commit", "-q", "-m", "A package")
    sample.forge("run", TASK, "--effort", "S", "--until", "phase-1", "--model", sample.model())
    repository, talker = Repository.find(sample.path), Talker()
    with open_run(repository, resolve_run(repository, None), Config()) as run:
        asked(run, "How is it tested?", dict.fromkeys(Tier, talker))
    told = "npm test (the script is: python3 -m unittest discover -s tests -t .)"
    assert told in "".join(message.text for message in talker.calls[0].messages)


def test_what_is_kept_of_an_answer_holds_no_secret_of_the_environment(sample: Sample) -> None:
    sample.forge("run", TASK, "--effort", "S", "--until", "phase-1", "--model", sample.model())
    repository = Repository.find(sample.path)

    with open_run(repository, resolve_run(repository, None), Config()) as run:
        asked(
            run,
            "Which key?",
            dict.fromkeys(Tier, Talker(f"It is {SECRET}.")),
            environ={"OPENAI_API_KEY": SECRET},
        )
        assert "It is" in (run.workspace.path / "reports.jsonl").read_text()
        assert SECRET not in (run.workspace.path / "reports.jsonl").read_text()
