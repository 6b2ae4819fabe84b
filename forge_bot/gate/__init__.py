"""Admission of events: events and comments are read and people authorised with nothing but the
standard library.

`parse`, `obeyed` and `authorise` are pure. The gate uses them in front of everything, and who
carries out commands uses them again on every comment that it reads by itself.
"""

from forge_bot.gate.authorise import (
    ActorPart,
    Allowed,
    Attempt,
    Denied,
    DenyReason,
    Policy,
    RequestedOperation,
    attempt_of_comment,
    authorise,
    to_ask_about,
)
from forge_bot.gate.command_types import Command, Mistyped
from forge_bot.gate.environment_variables import Inputs, read_inputs
from forge_bot.gate.events import Event, is_edited, read_event
from forge_bot.gate.intents import dispatched_command
from forge_bot.gate.json_payload import Node, read_json
from forge_bot.gate.parse_comment import obeyed
from forge_bot.gate.people import Account, read_account
from forge_bot.gate.roles import KnownRole, Membership, Role, UnknownRole, read_membership

__all__ = [
    "Account",
    "ActorPart",
    "Allowed",
    "Attempt",
    "Command",
    "Denied",
    "DenyReason",
    "Event",
    "Inputs",
    "KnownRole",
    "Membership",
    "Mistyped",
    "Node",
    "Policy",
    "RequestedOperation",
    "Role",
    "UnknownRole",
    "attempt_of_comment",
    "authorise",
    "dispatched_command",
    "is_edited",
    "obeyed",
    "read_account",
    "read_event",
    "read_inputs",
    "read_json",
    "read_membership",
    "to_ask_about",
]
