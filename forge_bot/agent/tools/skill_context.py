"""The requests of an agent that performs a skill: the skill's references, its scripts, and what
of the repository its front matter names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, Effect, ResultStatus
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.providers.provider_catalogue import (
    CapabilitySpec,
    Declined,
    ProviderResult,
    ends,
    head,
    result_of,
    spec,
)
from forge_bot.agent.tools.skills import SkillDefinition, files_of
from forge_bot.sandbox.box import CommandOutcome
from forge_bot.values import Frozen

RunScript = Callable[[Sequence[str]], CommandOutcome]
"""Runs the words in the sandbox, in a separate tree at the commit that the agent reads."""

READ_REFERENCE, RUN_SCRIPT = "read_reference", "run_script"
_SAME = {"Read": "read_file", "Grep": "search_code", "Glob": "list_files", "Bash": RUN_SCRIPT}
"""Names that other programs have for the same, as they stand in `allowed-tools`."""

_PROGRAMS = {".py": "python3", ".sh": "sh", ".bash": "bash", ".js": "node", ".mjs": "node"}


class ReadReference(Frozen):
    """Read a file of this skill."""

    path: str = Field(min_length=1, description="as it is listed, from the folder of the skill")


class SkillScript(Frozen):
    """Run a script of this skill, without a shell, in a tree that is removed afterwards."""

    path: str = Field(min_length=1, description="as it is listed: scripts/…")
    arguments: tuple[str, ...] | None = Field(
        default=None, max_length=50, description="its words on the command line"
    )


def allowed_tools(skill: SkillDefinition) -> frozenset[str]:
    """Return the names that `allowed-tools` gives to a skill, as this program names them.

    Without that key it has its scripts; its references it always has.
    """
    if not skill.allowed_tools:
        return frozenset({READ_REFERENCE, RUN_SCRIPT})
    plain = (word.partition("(")[0].rstrip(",") for word in skill.allowed_tools)
    return frozenset({READ_REFERENCE, *(_SAME.get(word, word) for word in plain)})


@dataclass(frozen=True)
class SkillContext:
    """Fulfils the requests of one performance of a skill."""

    skill: SkillDefinition
    providers: ProviderContext
    run_script: RunScript

    @property
    def specs(self) -> tuple[CapabilitySpec, ...]:
        """Return what may be asked for. A skill without scripts has none to run."""
        allowed = allowed_tools(self.skill)
        references, scripts = files_of(self.skill)
        own = (
            spec(READ_REFERENCE, ReadReference) if references else None,
            spec(RUN_SCRIPT, SkillScript, Effect.RUNS)
            if scripts and RUN_SCRIPT in allowed
            else None,
        )
        return (
            *(capability for capability in own if capability is not None),
            *self.providers.catalogue(sorted(allowed)),
        )

    def fetch(self, wanted: CapabilityRequest, limits: WorkLimits) -> CapabilityResult:
        try:
            if wanted.capability == READ_REFERENCE:
                shown = self._read_asset(ReadReference.model_validate_json(wanted.params), limits)
                return result_of(wanted, ResultStatus.OK, shown.content, shown)
            if wanted.capability == RUN_SCRIPT:
                return self._run_script(
                    wanted, SkillScript.model_validate_json(wanted.params), limits
                )
        except ValidationError as error:
            faults = "; ".join(f"{item['loc'][0]}: {item['msg']}" for item in error.errors()[:5])
            return result_of(wanted, ResultStatus.INVALID_PARAMS, faults)
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why)
        return self.providers.fetch(wanted, limits)

    def _read_asset(self, wanted: ReadReference, limits: WorkLimits) -> ProviderResult:
        references, scripts = files_of(self.skill)
        file = self._file(wanted.path, (*references, *scripts))
        return head(file.read_text(encoding="utf-8", errors="replace"), limits.file_chars)

    def _run_script(
        self, wanted: CapabilityRequest, script: SkillScript, limits: WorkLimits
    ) -> CapabilityResult:
        if RUN_SCRIPT not in allowed_tools(self.skill):
            why = f"The front matter of {self.skill.name} allows no scripts (allowed-tools)."
            raise Declined(ResultStatus.DENIED, why)
        file = self._file(script.path, files_of(self.skill)[1])
        program = _PROGRAMS.get(file.suffix)
        executable = file.stat().st_mode & 0o111
        if not executable and program is None:
            why = f"{script.path} is not executable, and its ending names no program for it."
            raise Declined(ResultStatus.TOOL_ERROR, why)
        # An executable file without `#!` would be read by a shell, whatever its ending says.
        itself = program is None or (executable and file.read_bytes().startswith(b"#!"))
        first = (str(file),) if itself or program is None else (program, str(file))
        outcome = self.run_script((*first, *(script.arguments or ())))
        shown = ends(outcome.output.strip() or "It printed nothing.", limits.result_chars)
        code = "timed out" if outcome.timed_out else f"exit code {outcome.exit_code}"
        status = ResultStatus.OK if outcome.exit_code == 0 else ResultStatus.TOOL_ERROR
        if outcome.timed_out:
            status = ResultStatus.TIMEOUT
        result = result_of(wanted, status, shown.content, shown)
        note = f"{code}; {shown.note}" if shown.note else code
        return result.replace(note=note)

    def _file(self, path: str, listed: Sequence[str]) -> Path:
        """Return a file of the skill. Raises Declined for an unlisted file and for a link that
        leads outside.
        """
        root = Path(self.skill.skill_path)
        file = (root / path).resolve()
        if path not in listed or not file.is_relative_to(root):
            names = ", ".join(listed) or "none"
            why = f"{path} is no such file of this skill. There are: {names}."
            raise Declined(ResultStatus.INVALID_PARAMS, why)
        return file
