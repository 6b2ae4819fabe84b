"""One truth: what a person reads in the thread, on the page of the job and in its colour has to be
the same.
"""

from forge_bot.sentences import say
from tests.bot.stage import Job, Stage

OUTCOMES = {0: "waiting", 1: "failed", 5: "refused"}


def agree(stage: Stage, job: Job, occasion: str, code: int, *, begun: bool = True) -> str:
    """The comment for this occasion, after tracking comment, summary, output and exit code were
    seen to say the same. Where no run was begun, the tracking comment says that and no more.
    """
    said = stage.said(f"reply occasion={occasion}")
    assert len(said) == 1, stage.said()
    assert "0000000" not in said[0]
    agree_without_comment(stage, job, said[0].splitlines()[0], code, tracked=begun)
    assert stage.said("tracking")[0].startswith(say("gate.not_begun")) == (not begun)
    return said[0]


def agree_without_comment(
    stage: Stage, job: Job, headline: str, code: int, *, tracked: bool = True
) -> None:
    """The same where nobody is called: somebody wanted it so, or the thread cannot be written to;
    then the tracking comment neither.
    """
    assert job.code == code, job.log
    assert job.outcome == OUTCOMES[code]
    assert headline in job.summary
    assert f"exit code {code}" in job.summary
    assert "0000000" not in job.summary
    assert (headline in stage.said("tracking")[0]) == tracked
