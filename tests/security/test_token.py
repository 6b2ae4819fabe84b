"""The token stays with the supervisor: not in its children's environment, and not in what others
can read of it.
"""

import os
import subprocess
import sys

from forge_bot.bot.supervised_worker import without_token

TOKEN = "ghs_0123456789abcdef"


def test_a_worker_gets_nothing_that_has_the_token_in_it_whatever_it_is_called() -> None:
    environ = {
        "PATH": "/usr/bin",
        "OPENAI_API_KEY": "sk-of-the-model",
        "GITHUB_TOKEN": TOKEN,
        "INPUT_TOKEN": TOKEN,
        "GIT_CONFIG_VALUE_0": "AUTHORIZATION: basic eDp4",
        "ACTIONS_RUNTIME_TOKEN": "another",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "one more",
        "HOMEBREW_AUTH": f"Bearer {TOKEN}",
        "FORGE_BOT_WAKE": "{}",
        "FORGE_BOT_SIGNING_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----",
    }
    assert without_token(environ, TOKEN) == {
        "PATH": "/usr/bin",
        "OPENAI_API_KEY": "sk-of-the-model",
    }


LOOKED_AT = """
import ctypes, os, sys
from forge_bot.bot.job import protect_token
protect_token("https://github.com", os.environ["GITHUB_TOKEN"])
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
print(os.environ["GIT_CONFIG_KEY_0"])
"""


def test_a_supervisor_closes_its_memory_and_environment_to_other_processes_of_its_user() -> None:
    """What `prctl` says; root may look all the same, which no process of its own user can
    prevent.
    """
    environ = {**os.environ, "GITHUB_TOKEN": TOKEN}
    said = subprocess.run(
        [sys.executable, "-c", LOOKED_AT], env=environ, capture_output=True, text=True, check=True
    ).stdout
    assert said.splitlines() == ["0", "http.https://github.com/.extraheader"]
