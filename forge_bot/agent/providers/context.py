"""The context providers for one work tree: the catalogue, and the results."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, Effect, ResultStatus
from forge_bot.agent.limits import WorkLimits
from forge_bot.agent.providers.code_graph import CodeGraph, ReadGraph, code_graph
from forge_bot.agent.providers.git_diff import GitDiff, git_diff
from forge_bot.agent.providers.git_log import GitLog, git_log
from forge_bot.agent.providers.list_files import ListFiles, list_files
from forge_bot.agent.providers.project_commands import (
    LintCheck,
    OnPaths,
    OnWords,
    PastRuns,
    RunTests,
    on_paths,
    past_runs,
)
from forge_bot.agent.providers.provider_catalogue import CapabilitySpec, spec
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, result_of
from forge_bot.agent.providers.read_file import ReadFile, read_file
from forge_bot.agent.providers.search_code import SearchCode, search_code
from forge_bot.errors import PathEscapes
from forge_bot.values import Frozen

P = TypeVar("P", bound=Frozen)


@dataclass(frozen=True)
class _Capability:
    """Reads parameters and returns a result.

    `run` receives valid parameters and the maximum characters of the result.
    """

    spec: CapabilitySpec
    answer: Callable[[str, WorkLimits], ProviderResult]


class ProviderContext:
    """Looks things up in `root`, the top of a work tree. Safe to use from several threads.

    `base` is the commit where this work began; git_diff compares with it. Lookups that higher
    layers implement are passed as functions: `past_runs` takes words, `run_tests` and `lint_check`
    take names of files or tests (all if empty), and each returns the text to show; `graph` reads
    the graph of this work tree. Without its function a capability is not in the catalogue.
    """

    def __init__(
        self,
        root: Path,
        *,
        base: str = "HEAD",
        graph: ReadGraph | None = None,
        past_runs: OnWords | None = None,
        run_tests: OnPaths | None = None,
        lint_check: OnPaths | None = None,
    ) -> None:
        self._root = root
        # Two test runs at once in one work tree would disturb each other.
        self._one_command = threading.Lock()
        self._capabilities = {
            "read_file": _capability(
                "read_file", ReadFile, partial(_long, partial(read_file, root))
            ),
            "search_code": _capability(
                "search_code", SearchCode, partial(_short, partial(search_code, root))
            ),
            "list_files": _capability(
                "list_files", ListFiles, partial(_short, partial(list_files, root))
            ),
            "git_log": _capability("git_log", GitLog, partial(_short, partial(git_log, root))),
            "git_diff": _capability(
                "git_diff", GitDiff, partial(_long, partial(git_diff, root, start=base))
            ),
        }
        if graph:
            answer = partial(_short, partial(code_graph, graph))
            self._capabilities["code_graph"] = _capability("code_graph", CodeGraph, answer)
        self._add_hosted(past_runs, run_tests, lint_check)

    def _add_hosted(
        self, earlier: OnWords | None, tests: OnPaths | None, linters: OnPaths | None
    ) -> None:
        if earlier:
            answer = partial(_short, partial(past_runs, earlier))
            self._capabilities["past_runs"] = _capability("past_runs", PastRuns, answer)
        if tests:
            self._capabilities["run_tests"] = _capability(
                "run_tests", RunTests, partial(self._command, tests), Effect.RUNS
            )
        if linters:
            self._capabilities["lint_check"] = _capability(
                "lint_check", LintCheck, partial(self._command, linters), Effect.RUNS
            )

    def _command(
        self, run: OnPaths, wanted: RunTests | LintCheck, limits: WorkLimits
    ) -> ProviderResult:
        with self._one_command:
            return on_paths(run, wanted.paths, limits.result_chars)

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

        An unknown name, invalid parameters and a path that leads out are statuses.
        """
        capability = self._capabilities.get(wanted.capability)
        if capability is None:
            offered = ", ".join(sorted(self._capabilities))
            return result_of(
                wanted,
                ResultStatus.UNKNOWN_CAPABILITY,
                f"There is no capability of that name. There are: {offered}.",
            )
        try:
            found = capability.answer(wanted.params, limits)
        except ValidationError as error:
            return result_of(wanted, ResultStatus.INVALID_PARAMS, _faults(error, capability.spec))
        except PathEscapes as escapes:
            return result_of(wanted, ResultStatus.DENIED, escapes.message)
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why)
        return result_of(wanted, ResultStatus.OK, found.content, found)


def _capability(
    name: str,
    params: type[P],
    answer: Callable[[P, WorkLimits], ProviderResult],
    effect: Effect = Effect.READS,
) -> _Capability:
    return _Capability(
        spec(name, params, effect),
        lambda text, limits: answer(params.model_validate_json(text), limits),
    )


def _short(
    look: Callable[[P, int], ProviderResult], wanted: P, limits: WorkLimits
) -> ProviderResult:
    return look(wanted, limits.result_chars)


def _long(
    look: Callable[[P, int], ProviderResult], wanted: P, limits: WorkLimits
) -> ProviderResult:
    return look(wanted, limits.file_chars)


def _faults(error: ValidationError, menu: CapabilitySpec) -> str:
    found = "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'parameters'}: {item['msg']}"
        for item in error.errors()[:5]
    )
    return f"{found}. It takes:\n{menu.line}"
