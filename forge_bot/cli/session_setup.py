"""The parts that every command needs: configuration, amounts, the session, and whether a person is
here: told by the terminal, and by what coding agents set in the environment of their commands.
"""

import os
import sys
from functools import partial

from forge_bot.cli.options import Ending
from forge_bot.cli.progress import Progress
from forge_bot.cli.terminal_question import (
    ask_at_terminal,
    print_for_later,
    show_question,
)
from forge_bot.engine.gates import SCRIPT
from forge_bot.errors import BadOption, NeedsTerminal
from forge_bot.gate.arguments import Amount, read_amount
from forge_bot.git import Repository
from forge_bot.runs.models_and_prompts import TierModels
from forge_bot.runs.publish_result import opener
from forge_bot.runs.question import Question
from forge_bot.runs.request_draft import poster
from forge_bot.runs.session import VIA, Asker, Session
from forge_bot.settings import Config, load_config


def load_setup(repository: Repository) -> Config:
    """The configuration in the work tree the user is in."""
    return load_config(repository.root)


def way_of_answer(*, by_script: bool) -> str:
    """Return how an answer given by this command came, as the record names it: a terminal on stdin,
    or a script.
    """
    return VIA if person_types() and not by_script else SCRIPT


def check_person(what: str, *, by_script: bool) -> None:
    """Raise NeedsTerminal for an answer that comes neither from a terminal nor with --by-script."""
    if by_script or person_types():
        return
    where = (
        f"this terminal belongs to {find_coding_agent()}, which is an agent."
        if sys.stdin.isatty()
        else "stdin is not a terminal."
    )
    raise NeedsTerminal(f"{what} is a person's to say, and {where}")


def make_session(
    repository: Repository,
    config: Config,
    models: TierModels,
    progress: Progress,
    *,
    ask: Asker | None = None,
    ending: Ending,
    until: str | None = None,
) -> Session:
    """A session that asks at the terminal if there is one."""
    asks = models.missing_key() is None
    usual: Asker = (
        ask_at_terminal(progress, asks=asks)
        if at_terminal()
        else partial(print_for_later, asks=asks)
    )

    def shown(asked: Question) -> None:
        show_question(asked, progress.console, asks=asks)

    return Session(
        repository,
        config,
        models,
        progress,
        ask or usual,
        show=shown,
        push=ending.push or ending.open_pr,
        # Only where somebody can be asked whether it may be.
        post=poster(os.environ) if at_terminal() else None,
        open_pr=opener(repository.root) if ending.open_pr else None,
        until=until,
    )


def read_amount_option(text: str, example: str) -> Amount:
    """Read an amount of money or tokens as every face does. Raises BadOption."""
    if (amount := read_amount(text)) is not None:
        return amount
    hint = (
        f"Write US dollars without a sign, above 0 and below 10,000: {example}. Or tokens, from"
        f" 1,000 on: {example.rpartition(' ')[0]} 200000tokens"
    )
    raise BadOption(f"{text!r} is no amount of money or tokens.", hint=hint)


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
