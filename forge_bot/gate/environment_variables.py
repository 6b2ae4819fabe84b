"""The inputs of the action, each with an environment variable of its own."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from forge_bot.errors import BadInput
from forge_bot.forge.types import FLOORS
from forge_bot.gate.grammar import NAMED
from forge_bot.gate.parse_comment import PREFIX
from forge_bot.gate.people import Policy
from forge_bot.sentences import check_language

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
