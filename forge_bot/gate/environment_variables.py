"""The environment variables of the action: its inputs, and the variables that every step of a
workflow has.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from forge_bot.errors import BadInput, NotInAction
from forge_bot.gate.grammar import NAMED
from forge_bot.gate.parse_comment import PREFIX
from forge_bot.gate.people import FLOORS, Policy
from forge_bot.sentences import check_language

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_PREFIX = re.compile(r"[/@!.][A-Za-z][\w-]{1,38}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of the action that the gate reads; each has a variable of its own, and empty means
    the default.
    """

    prefix: str = PREFIX
    bare: bool = True
    label: str = "forge"
    policy: Policy = field(default_factory=Policy)
    mention: str = "@github-actions"


GATE_VARIABLES = tuple(
    f"FORGE_BOT_{name}" for name in ("PREFIX", "BARE", "LABEL", "ROLE", "LOGIN", "MENTION")
)
"""The inputs that the gate has to know; everybody behind it reads the same."""
INPUT_VARIABLES = (
    *GATE_VARIABLES,
    *("FORGE_BOT_MODEL", "FORGE_BOT_BUDGET", "FORGE_BOT_TRUST_LOCAL", "FORGE_BOT_EXTRAS"),
    *("FORGE_BOT_SERVER_VARIABLES", "FORGE_BOT_SIGNING_KEY", "FORGE_BOT_PYTHON", "FORGE_BOT_PART"),
    *("FORGE_BOT_WAKE", "FORGE_BOT_HANDED", "FORGE_BOT_FOLDER"),
)
"""All inputs of the action that travel by a variable of ours. Steps get none of them as text of a
script, and empty means the default.
"""


@dataclass(frozen=True, slots=True)
class StepContext:
    """The run of the workflow that this step belongs to."""

    event: str
    payload: str
    repository: str
    api: str
    token: str
    actor: str
    triggering_actor: str
    run_url: str
    attempt: int


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Return the inputs. Raises BadInput for the first that cannot be, UnknownLanguage."""
    check_language(environ)
    prefix, role, bare, own, label = (
        environ.get(name, "").strip() or usual
        for name, usual in (
            ("FORGE_BOT_PREFIX", PREFIX),
            ("FORGE_BOT_ROLE", Policy().floor.word),
            ("FORGE_BOT_BARE", "true"),
            ("FORGE_BOT_LOGIN", Policy().own),
            ("FORGE_BOT_LABEL", Inputs().label),
        )
    )
    if not _PREFIX.fullmatch(prefix) or prefix[1:].casefold() in NAMED:
        raise BadInput(
            f"FORGE_BOT_PREFIX is {prefix!r}: it has to be a sign (/ @ ! .) and a word of ASCII"
            " letters that is no command."
        )
    if role not in FLOORS:
        raise BadInput(f"FORGE_BOT_ROLE is {role!r}: it is one of {', '.join(FLOORS)}.")
    if bare.casefold() not in {"true", "false"}:
        raise BadInput(f"FORGE_BOT_BARE is {bare!r}: it is true or false.")
    named = environ.get("FORGE_BOT_MENTION", "").strip() or own.removesuffix("[bot]")
    mention = "" if named == "none" else f"@{named.removeprefix('@')}"
    policy = Policy(FLOORS[role], own)
    return Inputs(prefix, bare.casefold() == "true", label, policy, mention)


def read_step_context(environ: Mapping[str, str]) -> StepContext:
    """Return the variables of
    https://docs.github.com/en/actions/reference/workflows-and-actions/variables. Raises
    NotInAction.
    """
    needed = (
        *("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY"),
        *("GITHUB_ACTOR", "GITHUB_OUTPUT", "GITHUB_TOKEN"),
    )
    if missing := [name for name in needed if not environ.get(name)]:
        raise NotInAction(f"The gate needs {', '.join(missing)} in its environment.")
    repository = environ["GITHUB_REPOSITORY"]
    if not _REPOSITORY.fullmatch(repository):
        raise NotInAction(f"GITHUB_REPOSITORY is {repository!r}, which is no owner/name.")
    server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
    attempt = environ.get("GITHUB_RUN_ATTEMPT", "")
    return StepContext(
        event=environ["GITHUB_EVENT_NAME"],
        payload=environ["GITHUB_EVENT_PATH"],
        repository=repository,
        api=(environ.get("GITHUB_API_URL") or "https://api.github.com").rstrip("/"),
        token=environ["GITHUB_TOKEN"],
        actor=environ["GITHUB_ACTOR"],
        # Old servers do not tell who started the run. The first time that is the actor; later
        # nobody can say.
        triggering_actor=environ.get("GITHUB_TRIGGERING_ACTOR", "")
        or (environ["GITHUB_ACTOR"] if attempt == "1" else ""),
        run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
        attempt=int(attempt) if attempt.isdecimal() else 1,
    )
