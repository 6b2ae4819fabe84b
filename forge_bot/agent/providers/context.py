"""The context providers for one work tree: the catalogue, and the results; also of what the host
performs: the project's tests, and snippets.
"""

import re
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import (
    READ_FILE,
    CapabilityRequest,
    CapabilityResult,
    CapabilitySpec,
    Declined,
    Effect,
    ProviderResult,
    ResultStatus,
    ends,
    result_of,
    spec,
)
from forge_bot.agent.providers.repository_files import (
    ListFiles,
    ReadFile,
    SearchCode,
    list_files,
    read_file,
    search_code,
)
from forge_bot.agent.text_files import normalise
from forge_bot.errors import PathEscapes
from forge_bot.values import Frozen

OnPaths = Callable[[tuple[str, ...]], str]

# A path, or a test inside it as test runners name them: tests/test_a.py::TestB::test_c[two words].
_SELECTOR = re.compile(r"[\w.][\w./@+ -]*(?:::[\w. \[\],=+/-]+)*")


class RunTests(Frozen):
    """Run the project's tests."""

    paths: tuple[str, ...] | None = Field(
        default=None, max_length=50, description="test files or tests; all if left out"
    )


class RunSnippet(Frozen):
    """Run a few lines (4,000 characters, ten seconds) with the project's interpreter on the code
    before any change: try, do not believe. Shows 1,500 characters: print little.
    """

    code: str = Field(
        min_length=1, max_length=4_000, description="a script that prints what you want to know"
    )
    drafted: bool = Field(
        default=False, description="run it on the code with `draft.patch` too, after the other"
    )


OnSnippet = Callable[[RunSnippet], str]


def _run_tests(run: OnPaths, wanted: RunTests, limit: int) -> ProviderResult:
    """Return the output of the tests.

    Only names of files and tests are passed to their command, never an option.
    """
    for path in wanted.paths or ():
        if not _SELECTOR.fullmatch(path):
            raise Declined(
                ResultStatus.INVALID_PARAMS, f"{path} is not the name of a file or a test."
            )
        normalise(path.partition("::")[0])
    return ends(run(wanted.paths or ()) or "It printed nothing.", limit)


RUN_SNIPPET = "run_snippet"

P = TypeVar("P", bound=Frozen)


@dataclass(frozen=True)
class _Capability:
    """Reads parameters and returns a result."""

    spec: CapabilitySpec
    answer: Callable[[str, WorkLimits], ProviderResult]


class ProviderContext:
    """Looks things up in `root`, the top of a work tree. Safe to use from several threads.

    Lookups that higher layers implement are passed as functions: `run_tests` takes names of files
    or tests (all if empty), `run_snippet` takes code, and each returns the text to show. Without
    its function a capability is not in the catalogue. Files that are `withheld` are never shown.
    """

    def __init__(
        self,
        root: Path,
        *,
        run_tests: OnPaths | None = None,
        run_snippet: OnSnippet | None = None,
        withheld: Collection[str] = (),
    ) -> None:
        self._root = root
        self._capabilities: dict[str, _Capability] = {}
        self.add(READ_FILE, ReadFile, partial(read_file, root, withheld), long=True)
        self.add("search_code", SearchCode, partial(search_code, root))
        self.add("list_files", ListFiles, partial(list_files, root))
        if run_tests:
            self.add("run_tests", RunTests, partial(_run_tests, run_tests), Effect.RUNS)
        if run_snippet:
            self.add(
                RUN_SNIPPET,
                RunSnippet,
                lambda one, limit: ends(run_snippet(one), limit),
                Effect.RUNS,
            )

    def add(
        self,
        name: str,
        params: type[P],
        look: Callable[[P, int], ProviderResult],
        effect: Effect = Effect.READS,
        *,
        long: bool = False,
    ) -> None:
        """Add a capability. `look` receives valid parameters and the maximum characters of the
        result, which are more for a `long` one.
        """

        def answer(text: str, limits: WorkLimits) -> ProviderResult:
            most = limits.file_chars if long else limits.result_chars
            return look(params.model_validate_json(text), most)

        self._capabilities[name] = _Capability(spec(name, params, effect), answer)

    def limited(self, names: Collection[str]) -> "ProviderContext":
        """Return a context with these capabilities alone, to which others can be added."""
        limited = copy(self)
        known = {name: entry for name, entry in self._capabilities.items() if name in names}
        limited._capabilities = known  # noqa: SLF001 - of its own class
        return limited

    def catalogue(self, names: Sequence[str] | None = None) -> tuple[CapabilitySpec, ...]:
        """Return the entries for `names`, all if None, sorted by name.

        Unknown names are left out.
        """
        chosen = sorted(
            self._capabilities.keys() & set(self._capabilities if names is None else names)
        )
        return tuple(self._capabilities[name].spec for name in chosen)

    def fetch(self, wanted: CapabilityRequest, limits: WorkLimits) -> CapabilityResult:
        """Return the result of one request.

        Invalid parameters and a path that leads out are statuses.
        """
        capability = self._capabilities[wanted.capability]
        try:
            shown = capability.answer(wanted.params, limits)
        except ValidationError as error:
            return result_of(wanted, ResultStatus.INVALID_PARAMS, _faults(error, capability.spec))
        except PathEscapes as escapes:
            return result_of(wanted, ResultStatus.DENIED, escapes.message)
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why)
        return result_of(wanted, shown.status, shown.content, shown.note)


def _faults(error: ValidationError, menu: CapabilitySpec) -> str:
    faults = "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'parameters'}: {item['msg']}"
        for item in error.errors()[:5]
    )
    takes = "; ".join(f"{item.name} ({item.kind})" for item in menu.parameters)
    return f"{faults}. It takes: {takes}."
