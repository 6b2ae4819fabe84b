"""Tell whether a person can be asked here, by the terminal and by what coding agents set in the
environment of the commands that they run.
"""

import os
import sys

_VARIABLES = {
    "AI_AGENT": "a coding agent",
    "ANTIGRAVITY_AGENT": "antigravity",
    "AUGMENT_AGENT": "auggie",
    "CLAUDECODE": "claude",
    "CODEX_CI": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "CURSOR_AGENT": "cursor-agent",
    "GEMINI_CLI": "gemini",
    "GOOSE_TERMINAL": "goose",
    "OPENCODE": "opencode",
    "QWEN_CODE": "qwen",
}
"""The agent by the variable that it sets, as their documentation says."""


def find_coding_agent() -> str:
    """Return the name of the coding agent that runs this command; empty if there is none."""
    return next((agent for name, agent in _VARIABLES.items() if os.environ.get(name)), "")


def at_terminal() -> bool:
    """Return whether a person can be asked here."""
    return person_types() and sys.stdout.isatty() and "CI" not in os.environ


def person_types() -> bool:
    """Return whether stdin is a terminal, and none that a coding agent made for its shell."""
    return sys.stdin.isatty() and not find_coding_agent()
