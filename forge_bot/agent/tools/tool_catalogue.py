"""The catalogue of what comes from outside: tools and skills with safe names, and each problem; and
calls of tools: arguments checked against their schema, then one session with the server.
"""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilitySpec,
    CapabilityType,
    Declined,
    Effect,
    Parameter,
    ResultStatus,
    parameters_of,
    result_of,
)
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.tools.mcp_client import (
    MCPToolInfo,
    execute_mcp_tool,
    faults_of,
    list_tools,
    schema_fault,
    server_mask,
)
from forge_bot.agent.tools.server_start import program_digests
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.skills import (
    SkillDefinition,
    list_misplaced,
    read_skill,
    skill_digest,
    skill_folders,
)
from forge_bot.errors import BadCapabilities
from forge_bot.text_format import cut
from forge_bot.values import Frozen

_MOST_NAME = 64
_MOST_DESCRIPTION = 400
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_NO_SKILL = "This is no skill: one is a file <name>/SKILL.md directly in a folder of skills."


class CapabilityProblem(Frozen):
    """Something that cannot be used, or not as it is written."""

    about: str = Field(description="the server, tool or skill")
    sentence: str
    broken: bool = Field(default=True, description="it is missing from the catalogue")


class ToolCatalogue(Frozen):
    """Tools and skills by their names in the catalogue, and every problem on the way.

    `denied` are the names that the policy takes out; `asked` those that a person is asked about.
    """

    specs: tuple[CapabilitySpec, ...] = ()
    mcp_tools: dict[str, MCPToolInfo] = Field(default_factory=dict[str, MCPToolInfo])
    skill_definitions: dict[str, SkillDefinition] = Field(
        default_factory=dict[str, SkillDefinition]
    )
    digests: dict[str, str] = Field(
        default_factory=dict[str, str], description="of what performs each, by name"
    )
    denied: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    problems: tuple[CapabilityProblem, ...] = ()

    @property
    def broken(self) -> tuple[CapabilityProblem, ...]:
        """Return the problems that leave something out."""
        return tuple(problem for problem in self.problems if problem.broken)


def get_capability_specs(
    providers: Sequence[CapabilitySpec], catalogue: ToolCatalogue
) -> tuple[CapabilitySpec, ...]:
    """Return one flat list: the providers, then the tools, then the skills."""
    return (*providers, *catalogue.specs)


async def discover_capabilities(
    setup: CapabilitySetup, servers: Sequence[str] | None = None
) -> ToolCatalogue:
    """Return everything that is configured, of servers only those that are named. All are
    asked at once, each with the deadline of a call; one that fails is a problem and nothing else.
    """
    names = [*setup.servers] if servers is None else servers
    answers = await asyncio.gather(
        *(list_tools(setup, name) for name in names), return_exceptions=True
    )
    listed: list[MCPToolInfo] = []
    problems: list[CapabilityProblem] = []
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, Declined):
            problems.append(CapabilityProblem(about=name, sentence=answer.why))
        elif isinstance(answer, BaseException):
            raise answer
        else:
            listed += answer
    tools = [tool for tool in listed if _is_usable(tool, problems)]
    skills = _skills(setup, problems)
    return _with_policy(setup, named_tools(tools), skills, tuple(problems))


def named_tools(tools: Sequence[MCPToolInfo]) -> dict[str, MCPToolInfo]:
    """Return tools by safe names of their own, sorted. A name that is too long, or that several
    would have, gets a suffix that only depends on the tool.
    """
    names = [_UNSAFE.sub("_", f"mcp_{tool.server_name}_{tool.tool_name}") for tool in tools]
    counts = Counter(names)
    named: dict[str, MCPToolInfo] = {}
    for tool, name in zip(tools, names, strict=True):
        if counts[name] > 1 or len(name) > _MOST_NAME:
            whole = f"{tool.server_name}\0{tool.tool_name}"
            digest = hashlib.sha256(whole.encode()).hexdigest()[:6]
            named[f"{name[: _MOST_NAME - 7]}_{digest}"] = tool
        else:
            named[name] = tool
    return dict(sorted(named.items()))


def _is_usable(tool: MCPToolInfo, problems: list[CapabilityProblem]) -> bool:
    """Return whether a tool can be called; else add why not."""
    schemas = {"arguments": tool.input_schema, "results": tool.output_schema}
    faults = [f"It is no tool of the protocol: {tool.fault}"] if tool.fault else []
    faults += [
        f"The schema of its {kind} cannot be used: {fault}"
        for kind, schema in schemas.items()
        if schema and (fault := schema_fault(schema))
    ]
    about = f"{tool.server_name}: {tool.tool_name}"
    problems += [CapabilityProblem(about=about, sentence=fault) for fault in faults[:1]]
    return not faults


def _skills(
    setup: CapabilitySetup, problems: list[CapabilityProblem]
) -> dict[str, SkillDefinition]:
    """Return the skills by name; add what is wrong with the others."""
    skills: dict[str, SkillDefinition] = {}
    for place in dict.fromkeys(folder.resolve() for folder in setup.skill_folders):
        problems += [
            CapabilityProblem(about=_show_folder(file, setup.root), sentence=_NO_SKILL)
            for file in list_misplaced(place)
        ]
        for folder in skill_folders(place):
            shown = _show_folder(folder, setup.root)
            try:
                skill = read_skill(folder, shown)
            except BadCapabilities as error:
                why = "; ".join(error.details) or error.message
                problems.append(CapabilityProblem(about=shown, sentence=why))
                continue
            if (first := skills.setdefault(f"skill_{skill.name}", skill)) is not skill:
                why = f"A skill of that name is used already, from {first.skill_path}."
                problems.append(CapabilityProblem(about=shown, sentence=why, broken=False))
    return dict(sorted(skills.items()))


def _show_folder(folder: Path, root: Path) -> str:
    top = root.resolve()
    return folder.relative_to(top).as_posix() if folder.is_relative_to(top) else str(folder)


def _with_policy(
    setup: CapabilitySetup,
    tools: dict[str, MCPToolInfo],
    skills: dict[str, SkillDefinition],
    problems: tuple[CapabilityProblem, ...],
) -> ToolCatalogue:
    # A skill that has no network changes nothing outside of its box.
    reads_only = {name: tool.reads_only for name, tool in tools.items()} | {
        name: name not in setup.policy.network for name in skills
    }
    denied = tuple(sorted(filter(setup.denies, reads_only)))
    tools = {name: tool for name, tool in tools.items() if name not in denied}
    skills = {name: skill for name, skill in skills.items() if name not in denied}
    asked = tuple(
        name for name in (*tools, *skills) if setup.asks(name, reads_only=reads_only[name])
    )
    return ToolCatalogue(
        specs=(
            *(_tool_spec(setup, name, tool, asks=name in asked) for name, tool in tools.items()),
            *(
                _skill_spec(name, skill, acts=name in asked or name in setup.policy.network)
                for name, skill in skills.items()
            ),
        ),
        mcp_tools=tools,
        skill_definitions=skills,
        digests={
            **{name: tool_digest(setup, tool) for name, tool in tools.items()},
            **{name: skill_digest(Path(skill.skill_path)) for name, skill in skills.items()},
        },
        denied=denied,
        asked=asked,
        problems=problems,
    )


def tool_digest(setup: CapabilitySetup, tool: MCPToolInfo) -> str:
    """Return a sha256 of the definition of a tool's call: the configuration of its server, without
    values of variables, the files of its program that lie in the repository, and the tool as it was
    listed.
    """
    server = setup.config.mcp_servers[tool.server_name]
    configured = [server.model_dump(mode="json"), tool.server_name in setup.policy.network]
    what = [*configured, program_digests(setup, server), tool.tool_name, tool.input_schema]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _tool_spec(
    setup: CapabilitySetup, name: str, tool: MCPToolInfo, *, asks: bool
) -> CapabilitySpec:
    words = server_mask(setup, tool.server_name)(" ".join(tool.description.split()))
    return CapabilitySpec(
        name=name,
        description=f"[MCP:{tool.server_name}] {cut(words, _MOST_DESCRIPTION)}".strip(),
        parameters=parameters_of(json.loads(tool.input_schema)),
        effect=Effect.ACTS if asks or not tool.reads_only else Effect.READS,
        kind=CapabilityType.MCP_TOOL,
        source=tool.server_name,
    )


def _skill_spec(name: str, skill: SkillDefinition, *, acts: bool) -> CapabilitySpec:
    request = Parameter(
        name="request", kind="string", description="what it is to do, in words", required=True
    )
    return CapabilitySpec(
        name=name,
        description=f"[Skill] {cut(skill.description, _MOST_DESCRIPTION)}",
        parameters=(request,),
        effect=Effect.ACTS if acts else Effect.RUNS,
        kind=CapabilityType.SKILL,
        source=skill.skill_path,
    )


SKILL_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"request": {"type": "string", "minLength": 1, "maxLength": 20_000}},
        "required": ["request"],
        "additionalProperties": False,
    }
)
"""The schema of the arguments of every skill."""


_MOST_SCHEMA = 4_000
_MOST_READ = 20_000
"""Characters of arguments that a person reads."""

PerformSkill = Callable[[CapabilityRequest], Awaitable[CapabilityResult]]


class ToolCalls:
    """Performs calls for one run."""

    def __init__(self, setup: CapabilitySetup, catalogue: ToolCatalogue) -> None:
        self.setup = setup
        self.catalogue = catalogue
        self.specs = {spec.name: spec for spec in catalogue.specs}

    def complaint(self, wanted: CapabilityRequest) -> CapabilityResult | None:
        """Return the answer to arguments that do not fit the schema; no server is started."""
        tool = self.catalogue.mcp_tools.get(wanted.capability)
        faults = faults_of(tool.input_schema if tool else SKILL_SCHEMA, wanted.params)
        if not faults:
            return None
        takes = cut(tool.input_schema, _MOST_SCHEMA) if tool else SKILL_SCHEMA
        why = f"{'; '.join(faults)}. Its arguments fit this JSON Schema:\n{takes}"
        return result_of(wanted, ResultStatus.INVALID_PARAMS, why)

    async def act(self, wanted: CapabilityRequest, limit: int) -> tuple[CapabilityResult, bool]:
        """Call a tool; also return whether the outcome is unknown. A failure is a status."""
        tool = self.catalogue.mcp_tools.get(wanted.capability)
        if tool is None:
            why = f"There is no capability {wanted.capability} any more."
            return result_of(wanted, ResultStatus.UNKNOWN_CAPABILITY, why), False
        if (complaint := self.complaint(wanted)) is not None:
            return complaint, False
        try:
            shown = await execute_mcp_tool(self.setup, tool, json.loads(wanted.params), limit)
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why), declined.sent
        return result_of(wanted, ResultStatus.OK, shown.content, shown.note), False


@dataclass(frozen=True)
class ToolContext:
    """Fulfils requests by the catalogue, whatever the model calls them.

    `settled` has the results of calls that the run has made or refused, by name and parameters,
    because a call with an effect is never repeated.
    """

    providers: ProviderContext
    calls: ToolCalls
    perform_skill: PerformSkill
    settled: Mapping[tuple[str, str], CapabilityResult] = field(
        default_factory=dict[tuple[str, str], CapabilityResult]
    )

    def fetch(
        self, wanted: CapabilityRequest, limits: WorkLimits
    ) -> CapabilityResult | Awaitable[CapabilityResult]:
        """Return the result of one request, or that it needs a person's approval first."""
        spec = self.calls.specs.get(wanted.capability)
        if spec is None:
            return self.providers.fetch(wanted, limits)
        if (complaint := self.calls.complaint(wanted)) is not None:
            return complaint
        if spec.effect is not Effect.ACTS:
            if spec.kind is CapabilityType.SKILL:
                return self.perform_skill(wanted)
            return self._look(wanted, limits.result_chars)
        if len(wanted.params) > _MOST_READ:
            why = f"A person has to read these arguments: {_MOST_READ:,} characters are the most."
            return result_of(wanted, ResultStatus.INVALID_PARAMS, why)
        before = self.settled.get((wanted.capability, wanted.params))
        if before is not None:
            return before.replace(key=wanted.key)
        return result_of(wanted, ResultStatus.STANDS, "It stands before it is done.")

    async def _look(self, wanted: CapabilityRequest, limit: int) -> CapabilityResult:
        return (await self.calls.act(wanted, limit))[0]
