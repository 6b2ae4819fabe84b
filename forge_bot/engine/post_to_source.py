"""Post the result to the tracker. A person first approves exactly the summary that is posted."""

from forge_bot.engine.gates import is_agreed, open_gate
from forge_bot.engine.phases import PublishPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import State
from forge_bot.errors import WrongReport


def can_be_posted(pipeline: Pipeline, state: State) -> bool:
    """Return whether there is a summary, the run came from an issue that takes comments, and nobody
    gave --nopr.
    """
    return (
        bool(pipeline.summary)
        and state.source.type == "github_issue"
        and bool(state.source.url)
        and not state.flags.skip_pr
    )


def ask_to_post(pipeline: Pipeline, state: State) -> State:
    """Return the state with the question open whether the summary is posted."""
    phase = pipeline.phase(state.current_phase)
    if (
        not isinstance(phase, PublishPhase)
        or phase.operation != "post-to-source"
        or not can_be_posted(pipeline, state)
    ):
        raise WrongReport(f"{state.current_phase} asks nobody whether to post.")
    options = (Answer.POST.value, Answer.SKIP.value)
    return open_gate(
        state,
        phase.id,
        resume_at=phase.id,
        files=state.versions((pipeline.summary,)),
        options=options,
        subject=state.source.url,
    )


def may_post(pipeline: Pipeline, state: State) -> bool:
    """Return whether a person agreed to post the summary as it is, in answer to the last question
    about it.
    """
    shown = state.versions((pipeline.summary,))
    return is_agreed(state, state.current_phase, Answer.POST, shown, state.source.url)
