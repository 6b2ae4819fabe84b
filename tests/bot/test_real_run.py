"""A real run, begun at a terminal, spoken of in a thread: the same question, digest and
documents.
"""

import pytest

from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import tracking
from forge_bot.git import Repository
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.pull_request import pull_request
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.open_run import open_run
from forge_bot.runs.question import open_question
from forge_bot.runs.run import Run
from forge_bot.settings import load_config
from tests.bot.reading import acts, folded, shown
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"


def view(run: Run) -> RunView:
    links = Links(
        repository="https://github.com/lighthouse/rota",
        commit=run.tree.head().commit,
        workspace=run.workspace.relative,
    )
    return RunView(pipeline=run.pipeline, state=run.state, links=links, question=open_question(run))


@pytest.mark.slow
def test_what_a_terminal_asks_a_thread_can_ask_and_the_pull_request_tells(sample: Sample) -> None:
    model = sample.model()
    asked = sample.forge("run", TASK, "--effort", "S", "--model", model)
    repository = Repository.find(sample.path)
    config = load_config(repository.root)
    with open_run(repository, resolve_run(repository, None), config) as run:
        gate = run.state.gate
        assert gate is not None
        said = checkpoint(view(run))
        assert f"/approve {gate.digest[:7]}" in said
        assert gate.digest[:12] in asked.out
        assert gate.digest[:12] in said
        assert "Approach" in folded(said)[0]
        assert acts(said) == acts(tracking(view(run))) == []
    sample.forge("approve", "--model", model)
    with open_run(repository, resolve_run(repository, None), config) as run:
        texts = {path.name: path.read_text() for path in sample.workspace.glob("*.md")}
        written = pull_request(view(run), texts)
        assert not written.draft
        assert "12 tests" in shown(written.body)
        assert "approved by" in shown(written.body)
        assert shown(tracking(view(run))).startswith("[!TIP] Done.")
