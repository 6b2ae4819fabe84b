"""The step after a failed installation: it says so in the thread, since nothing else of this job
can. A server that cannot be reached is reported in the same way.
"""

import time
from collections.abc import Callable, Mapping

from forge_bot.errors import ForgeError
from forge_bot.gate import messages, outputs
from forge_bot.gate.environment_variables import Inputs, StepContext, read_inputs, read_step_context
from forge_bot.gate.github import ApiAnswer, GateClient
from forge_bot.gate.json_payload import read_json
from forge_bot.gate.own_comments import OwnComments
from forge_bot.sentences import hint_of, say


def stranded(environ: Mapping[str, str], wait: Callable[[float], None] = time.sleep) -> int:
    """Report a failed installation in the thread and in the summary; return 0, since the step
    before is what failed.

    The text replaces a tracking comment that only says that a run has begun.
    """
    try:
        inputs, around = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        outputs.error(f"{error.code}: {error.message} {hint_of(error)}")
        return error.exit_code
    text = messages.stranded(around.run_url, inputs.prefix)
    tell_thread(environ, inputs, around, text, wait)
    return 0


def tell_thread(
    environ: Mapping[str, str],
    inputs: Inputs,
    around: StepContext,
    text: str,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Say in the thread of the event and in the summary why nothing was done; once for each run of
    the workflow.
    """
    outputs.write_summary(environ.get("GITHUB_STEP_SUMMARY", ""), text)
    issue = read_json(environ.get("FORGE_BOT_WAKE", "").encode()).number("issue")
    if issue is not None:
        github = GateClient(around.api, around.repository, around.token, wait)
        trouble = _told(
            github,
            OwnComments(github, issue, inputs.policy.own),
            text,
            f"{around.run_url}/attempts/{around.attempt}",
        )
        if trouble:
            outputs.warning(
                say("gate.install_failure.thread_not_told", reason=messages.plain(trouble))
            )


def _told(github: GateClient, thread: OwnComments, text: str, run: str) -> str:
    """Write the text into the thread; return the reason if that failed, else an empty text."""
    begun = thread.find(messages.tracking_mark(thread.number))
    if begun is not None and begun.body.startswith(messages.BEGUN):
        answer: ApiAnswer = github.edit_comment(
            begun.id, f"{text}\n\n{messages.tracking_mark(thread.number)}"
        )
        return "" if answer.good else answer.told
    mark = messages.stranded_mark(run)
    return thread.say_once(mark, f"{text}\n\n{mark}")[1]
