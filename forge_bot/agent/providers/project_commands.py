"""Capabilities that the host performs: the project's tests and linters, and past runs."""

import re
from collections.abc import Callable

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, ends, head
from forge_bot.agent.text_files import normalise
from forge_bot.values import Frozen

OnPaths = Callable[[tuple[str, ...]], str]
OnWords = Callable[[str], str]

# A path, or a test inside it as test runners name them: tests/test_a.py::TestB::test_c[two words].
_SELECTOR = re.compile(r"[\w.][\w./@+ -]*(?:::[\w. \[\],=+/-]+)*")


class PastRuns(Frozen):
    """Find earlier runs of this pipeline that resemble what you describe, and their lessons."""

    query: str = Field(
        min_length=1, max_length=2_000, description="what you are looking for, in words"
    )


class RunTests(Frozen):
    """Run the project's own tests and show what they say."""

    paths: tuple[str, ...] | None = Field(
        default=None, max_length=50, description="test files or tests; all if left out"
    )


class LintCheck(Frozen):
    """Run the project's own linters and show what they say. Nothing is changed."""

    paths: tuple[str, ...] | None = Field(
        default=None, max_length=200, description="files to check; all if left out"
    )


class RunSnippet(Frozen):
    """Run a few lines with the project's interpreter on the code before any change, at most ten
    seconds and without network: what the code does is tried, not believed.
    """

    code: str = Field(
        min_length=1, max_length=4_000, description="a script that prints what you want to know"
    )


def on_snippet(run: OnWords, wanted: RunSnippet, limit: int) -> ProviderResult:
    """Return what a snippet printed, and its exit code."""
    return ends(run(wanted.code), limit)


def past_runs(ask: OnWords, wanted: PastRuns, limit: int) -> ProviderResult:
    return head(ask(wanted.query) or "No earlier run resembles this.", limit)


def on_paths(run: OnPaths, paths: tuple[str, ...] | None, limit: int) -> ProviderResult:
    """Return the output of a project command.

    Only names of files and tests are passed to it, never an option.
    """
    for path in paths or ():
        if not _SELECTOR.fullmatch(path):
            raise Declined(
                ResultStatus.INVALID_PARAMS, f"{path} is not the name of a file or a test."
            )
        normalise(path.partition("::")[0])
    try:
        return ends(run(paths or ()) or "It printed nothing.", limit)
    except TimeoutError:
        raise Declined(ResultStatus.TIMEOUT, "The command took too long and was ended.") from None
