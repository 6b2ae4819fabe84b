""".forge/config.yml: every key, its default, and what it does."""

import os
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter

from forge_bot.errors import BadConfig
from forge_bot.gate.arguments import LEAST_TOKENS, MOST_TOKENS, Amount
from forge_bot.settings.approvals import ApprovalRule
from forge_bot.settings.protected_paths import checked_pattern
from forge_bot.values import Frozen, Tier

CONFIG = ".forge/config.yml"
DEFAULT_MODEL = "anthropic:claude-sonnet-5-5"
MOST_DOLLARS = 1_000_000
"""A budget beyond this is a slip of the hand, not a limit."""


_YAML_LIST: TypeAdapter[list[str | list[str]]] = TypeAdapter(
    list[str | list[str]], config=ConfigDict(defer_build=True)
)


def _argv_lists(value: object) -> object:
    """Commands may be written as strings, which are split as in a shell, or as lists of words."""
    if isinstance(value, str):
        return [shlex.split(value)]
    if not isinstance(value, list):
        return value
    entries = _YAML_LIST.validate_python(value)
    if any(isinstance(entry, str) and entry.startswith("-") for entry in entries):
        raise ValueError(
            "a command is one string, or a list of words inside the list: [[python, -m, pytest]]"
        )
    return [shlex.split(entry) if isinstance(entry, str) else entry for entry in entries]


def _off(value: object) -> object:
    """YAML 1.1 reads a bare `off` as false."""
    return "off" if value is False else value


def _as_list(value: object) -> object:
    """One rule may stand without its list."""
    rules: list[object] = [value]
    return rules if isinstance(value, dict) else value


def folder_of(value: str) -> str:
    """Return a folder as git names it. Raises ValueError for a path outside the repository."""
    plain = posixpath.normpath(value.strip().replace("\\", "/"))
    if plain in {".", ""} or plain.startswith(("/", "../")) or plain == "..":
        raise ValueError("a folder inside the repository, such as packages/api")
    return plain


def _file_of(value: str) -> str:
    """Return a file as git names it. Raises ValueError for a path outside the repository and for
    what is git's or forge-bot's own.
    """
    plain = posixpath.normpath(value.strip())
    top = plain.partition("/")[0].casefold()
    if plain in {".", ""} or top in {"", "..", ".git", ".specs"} or "\\" in plain:
        raise ValueError("a file inside the repository that git ignores, such as .env.test")
    return plain


Folder = Annotated[str, AfterValidator(folder_of)]
File = Annotated[str, AfterValidator(_file_of)]
Argv = Annotated[tuple[str, ...], Field(min_length=1)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?$")]
Port = Annotated[int, Field(strict=True, ge=1, le=65_535)]
CommandList = Annotated[
    tuple[Argv, ...], BeforeValidator(_argv_lists, json_schema_input_type=str | list[str | Argv])
]
ApprovalRules = Annotated[
    tuple[ApprovalRule, ...],
    BeforeValidator(_as_list, json_schema_input_type=ApprovalRule | tuple[ApprovalRule, ...]),
]


class CommandSettings(Frozen):
    """The project's own commands. A key that is missing is detected; an empty list means none, on
    purpose.
    """

    setup: CommandList | None = Field(
        default=None, description="install what the others need into `{env}`; has the network"
    )
    build: CommandList | None = Field(default=None, description="compile the project")
    test: CommandList | None = Field(default=None, description="run the tests")
    lint: CommandList | None = Field(default=None, description="run the linters")

    def overrides(self) -> dict[str, tuple[Argv, ...]]:
        """The kinds that are set, for the detection to respect."""
        return {name: commands for name, commands in self if commands is not None}


class AgentSettings(Frozen):
    """Limits on one agent's work."""

    turns: int = Field(
        default=10, ge=1, le=100, description="answers of the model, looking around included"
    )
    requests_per_turn: int = Field(
        default=10, ge=1, le=50, description="look-ups that one answer may ask for"
    )
    output_tokens: int = Field(default=16_000, ge=256, description="output tokens of one answer")
    input_tokens: int = Field(
        default=2_000_000, ge=1_000, description="input tokens of all turns together"
    )
    seconds: float = Field(default=3_600, gt=0, description="time for one agent")
    prompt_tokens: int = Field(default=60_000, ge=4_000, description="tokens of the first message")


class CapabilityPolicy(Frozen):
    """The rules for the tools of MCP servers and for skills. The entries of the first three are
    names of the catalogue, such as mcp_tickets_create; `*` stands for any characters.
    """

    allow: tuple[str, ...] = Field(
        default=(), description="run without a person, though they may change something"
    )
    ask: tuple[str, ...] = Field(
        default=(), description="a person is asked first, though they say that they only read"
    )
    deny: tuple[str, ...] = Field(default=(), description="are not offered")
    required: tuple[str, ...] = Field(
        default=(), description="names of servers and skills without which no run starts"
    )
    network: tuple[str, ...] = Field(
        default=(), description="servers, and skills by skill_NAME, that may use the network"
    )
    seconds: float = Field(
        default=60, gt=0, le=3_600, description="deadline of one call, its server's start included"
    )
    skill_seconds: float = Field(
        default=600,
        gt=0,
        le=3_600,
        description="deadline of one skill, its model's answers included",
    )


class TrySettings(Frozen):
    """Limits on running the project's commands right after a task's edits."""

    most: int = Field(
        default=3, ge=0, le=10, description="times that edits go back; 0 runs nothing"
    )
    seconds: float = Field(
        default=900, gt=0, description="time for all commands of one task together"
    )


Dollars = Annotated[Decimal, Field(gt=0, le=MOST_DOLLARS)]


class CapSettings(Frozen):
    """Caps on the money of all runs of the repository together, in US dollars, beside each run's
    own budget. A run that reaches one waits until the window ends or the cap is raised.
    """

    day: Dollars | None = Field(default=None, description="all runs together in a day of UTC")
    month: Dollars | None = Field(default=None, description="all runs together in a month of UTC")
    person: Dollars | None = Field(
        default=None, description="the runs that one person asked for, in a month of UTC"
    )

    @property
    def exist(self) -> bool:
        """Return whether there is a cap."""
        return any(cap is not None for cap in (self.day, self.month, self.person))


class WakeSettings(Frozen):
    """The work of the scheduled workflow."""

    enabled: bool = Field(
        default=True, description="`false`: it does nothing, and `init` writes none"
    )
    remind_after_days: int = Field(
        default=7,
        ge=1,
        le=365,
        description="age of a question that gets a reminder; after as long again, a label",
    )


class Config(Frozen):
    """The keys of .forge/config.yml."""

    model: str = Field(
        default="",
        description=(
            "`provider:model` for all tiers, by default `anthropic:claude-sonnet-5-5`; "
            "`--model` and `$FORGE_BOT_MODEL` override it"
        ),
    )
    models: dict[Tier, str] = Field(
        default_factory=dict[Tier, str],
        description="models by tier: `{fast: …, standard: …, strong: …}`",
    )
    model_output: Literal["auto", "native", "prompted"] = Field(
        default="auto",
        description=(
            "`native`: the provider enforces the form of an answer; `prompted`: words alone tell "
            "it, for servers that cannot enforce it"
        ),
    )
    model_timeout_seconds: float = Field(
        default=600, gt=0, description="time for one attempt at an answer"
    )
    model_retries: int = Field(
        default=4, ge=0, le=20, description="further attempts after 429, 5xx and lost connections"
    )
    pipeline: str = Field(
        default="develop", description="a file under `.forge/pipelines/`, or one that ships"
    )
    budget: Decimal | None = Field(
        default=Decimal(5),
        gt=0,
        le=MOST_DOLLARS,
        description="US dollars that a run may cost before it stops and asks; `null` is no limit",
    )
    budget_tokens: int | None = Field(
        default=None,
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="tokens that a run may use, for models without a known price",
    )
    caps: CapSettings = Field(
        default=CapSettings(), description="caps on the money of all runs together"
    )
    wakes: WakeSettings = Field(
        default=WakeSettings(), description="how waiting runs are looked after"
    )
    commands: CommandSettings = Field(
        default=CommandSettings(),
        description=(
            "the project's own commands where the detected ones are wrong: a string, a list of "
            "strings or a list of word lists; `[]` means that there is none"
        ),
    )
    projects: dict[Folder, CommandSettings] = Field(
        default_factory=dict[str, CommandSettings],
        description="commands by folder, in a repository with several projects",
    )
    command_seconds: float = Field(default=900, gt=0, description="time for one project command")
    run_seconds: float | None = Field(
        default=None,
        gt=0,
        description="time for the work of one command on a run, without waits for people",
    )
    environment: dict[str, str] = Field(
        default_factory=dict[str, str], description="environment variables for project commands"
    )
    carry: tuple[File, ...] = Field(
        default=(),
        description=(
            "files of your checkout that git ignores and that build, tests and lint need, such as "
            "`.env.test`; never in a commit"
        ),
    )
    services: dict[str, Port] = Field(
        default_factory=dict[str, int],
        description=(
            "ports on 127.0.0.1 that build, tests and lint may reach, by the name of the service: "
            "`{postgres: 5432}`"
        ),
    )
    network: tuple[Host, ...] = Field(
        default=(),
        description=(
            "hosts that setup may reach beside the usual registries, as `HOST` or `HOST:PORT`"
        ),
    )
    setup_credentials: tuple[Variable, ...] = Field(
        default=(),
        description=(
            "variables with credentials of registries, for setup alone; their values come from "
            "`FORGE_SETUP_…`"
        ),
    )
    sign_off: bool = Field(
        default=False, description="commits for merge end with `Signed-off-by` and their author"
    )
    assisted_by: bool = Field(
        default=True, description="commits for merge end with `Assisted-by: forge-bot (MODEL)`"
    )
    request_review: bool = Field(
        default=True,
        description="a pull request in the thread asks those who approved for a review",
    )
    sign: bool = Field(
        default=False,
        description=(
            "commits for merge are signed with the SSH key in `$FORGE_BOT_SIGNING_KEY` or in git's "
            "configuration; without a key no run begins"
        ),
    )
    sandbox: Annotated[Literal["auto", "bubblewrap", "landlock", "off"], BeforeValidator(_off)] = (
        Field(default="auto", description="`auto`, `bubblewrap`, `landlock` or `off`")
    )
    setup_without_namespace: bool = Field(
        default=False,
        description="setup may run where no network namespace keeps it behind the proxy (Landlock)",
    )
    agent: AgentSettings = Field(default=AgentSettings(), description="limits on one agent's work")
    capabilities: CapabilityPolicy = Field(
        default=CapabilityPolicy(), description="rules for tools of MCP servers and for skills"
    )
    tries: TrySettings = Field(
        default=TrySettings(),
        description="limits on running the project's commands right after a task's edits",
    )
    protected: tuple[Annotated[str, AfterValidator(checked_pattern)], ...] = Field(
        default=(), description="more paths that a model may change only with a person's approval"
    )
    protected_branches: tuple[str, ...] = Field(
        default=(),
        description="branches that no run works on, besides the default one, such as `release/*`",
    )

    approvals: ApprovalRules = Field(
        default=(),
        description="who may approve in a thread: a rule, or a list of rules that all hold",
    )

    def model_for(self, tier: Tier) -> str:
        return self.models.get(tier) or self.model or DEFAULT_MODEL

    def overrides_by_project(self) -> dict[str, dict[str, tuple[Argv, ...]]]:
        """The kinds of commands that are set for each listed project."""
        return {folder: commands.overrides() for folder, commands in self.projects.items()}

    @property
    def amount(self) -> Amount:
        """The amount that a run may spend."""
        return Amount(self.budget, self.budget_tokens)


_CONFIG: TypeAdapter[Config] = TypeAdapter(Config)


def _keys(settings: type[Frozen], before: str = "") -> Iterator[str]:
    for name, field in settings.model_fields.items():
        yield f"{before}{field.alias or name}"
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, Frozen):
                yield from _keys(inner, f"{name}.")


@lru_cache(maxsize=16)
def _parse(text: str) -> Config:
    from forge_bot.settings.yaml_file import read_yaml

    return read_yaml(text, CONFIG, _CONFIG, BadConfig, tuple(_keys(Config)))


def file_text(root: Path, path: str) -> str | None:
    """Return the present text of a repository's file, committed or not; None without a file."""
    file = root / path
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None


def load_config(root: Path) -> Config:
    """Return the configuration of the repository in a folder, as `parse_config` says."""
    return parse_config(file_text(root, CONFIG))


def parse_config(text: str | None, environ: Mapping[str, str] = os.environ) -> Config:
    """Return the configuration that a text makes; None is no file.

    $FORGE_BOT_MODEL replaces `model`. Raises BadConfig with all problems and their lines.
    """
    config = _parse(text) if text is not None else Config()
    if model := environ.get("FORGE_BOT_MODEL", "").strip():
        return config.replace(model=model, models={})
    return config
