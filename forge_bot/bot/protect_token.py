"""Keeps the token of a job, and the other secrets of its workflow, with the process that needs
them.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

from forge_bot.bot.job_context import JobContext
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.git.process import SIGNING_KEY
from forge_bot.git.remotes import use_token

_OURS = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_", "GIT_CONFIG", "STATE_")
_KEPT_BACK = frozenset({"FORGE_BOT_WAKE", SIGNING_KEY})
_KEPT = ("RUNNER_TEMP", "RUNNER_OS", "RUNNER_ARCH", "RUNNER_TOOL_CACHE")
_NEEDED = (
    *("GITHUB_SERVER_URL", "GITHUB_API_URL", SIGNING_KEY, "FORGE_BOT_WAKE"),
    *("GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)
"""What this process itself looks up later; `git` gives the key to no child."""


def without_token(environ: Mapping[str, str], token: str) -> dict[str, str]:
    """Return the environment for the worker: without the workflow's own variables, the signing key,
    and every variable that contains the token.
    """
    return {
        name: value
        for name, value in environ.items()
        if (name in _KEPT or not name.startswith(_OURS))
        and not (token and token in value)
        and name not in _KEPT_BACK
    }


def protect_token(around: JobContext) -> dict[str, str]:
    """Keep the job's token, and the other secrets of its workflow, from the children of this
    process and from other processes of this user. Return the environment as it was.
    """
    whole = dict(os.environ)
    kept = without_token(whole, around.token) | {
        name: whole[name] for name in _NEEDED if name in whole
    }
    for name in whole.keys() - kept.keys():
        del os.environ[name]
    # What a worker writes into the user's configuration counts for no git of ours.
    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, **OWN_IDENTITY})
    use_token(around.server, f"{around.url}.git", around.token)
    close_to_others()
    return whole


def close_to_others() -> None:
    """prctl(PR_SET_DUMPABLE, 0), prctl(2): /proc/PID/environ and memory of this process are closed
    to others of the same user.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
