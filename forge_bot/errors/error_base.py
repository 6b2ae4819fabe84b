"""The base of every error, and the kinds of them that end an invocation alike."""

import re
from collections.abc import Iterator
from typing import ClassVar, TypedDict

from forge_bot.remedies import Remedy


class WaysOut(TypedDict, total=False):
    """The ways out that any error may be given, and its details."""

    hint: str | None
    remedy: Remedy | None
    details: tuple[str, ...]


class ForgeError(Exception):
    """Base of all errors with a code. Raise a subclass, never this one."""

    code: ClassVar[str] = "ERR-001"
    hint: ClassVar[str] = ""
    """The name of a sentence on the way out that every face shows unchanged."""
    usual_remedy: ClassVar[Remedy | None] = None
    """The way out that each face words in its own commands (`interaction/remedy_words.py`)."""
    exit_code: ClassVar[int] = 1

    def __init_subclass__(
        cls,
        *,
        code: str = "",
        hint: str | None = None,
        remedy: Remedy | None = None,
        exit_code: int | None = None,
    ) -> None:
        """Take the facts of a class. A class with a code has the hint of its own name in
        `hints.toml`, unless it names another one or "" for none.
        """
        if code:
            cls.code = code
            cls.hint = _own_hint(cls.__name__) if hint is None else hint
        if remedy is not None:
            cls.usual_remedy = remedy
        if exit_code is not None:
            cls.exit_code = exit_code

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        remedy: Remedy | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """Make the error; a hint or a remedy of its own takes the place of both that are usual."""
        super().__init__(message)
        own = bool(hint) or remedy is not None
        self.message = message
        self.own_hint = hint or ""
        self.hint_name = "" if own else self.hint
        usual = self.usual_remedy or (None if self.hint else Remedy("report-bug"))
        self.remedy = remedy if own else usual
        self.details = details

    @property
    def domain(self) -> str:
        """First half of the code: the room the error comes from."""
        return self.code.partition("-")[0]


def _own_hint(name: str) -> str:
    """Return the name of a class's hint: `hints.not_a_repository` of NotARepository."""
    words = re.sub("(?<=.)(?=[A-Z])", "_", name).lower()
    return f"hints.{words.replace('git_hub', 'github')}"


def registry() -> dict[str, type[ForgeError]]:
    """All error classes that can be raised, by code."""

    def below(cls: type[ForgeError]) -> Iterator[type[ForgeError]]:
        for child in cls.__subclasses__():
            yield child
            yield from below(child)

    return {cls.code: cls for cls in below(ForgeError) if "code" in cls.__dict__}


class RequestError(ForgeError, exit_code=2):
    """An error for a request that cannot be carried out as asked."""


class SetupError(ForgeError, exit_code=5):
    """The repository or the machine is not ready for a run."""


class RunError(ForgeError, exit_code=5):
    """This run cannot do that now."""


class ReportRejected(RunError, code="REPORT-001", hint="hints.report_rejected"):
    """A report that does not fit the state of its run; the state is unchanged."""


class StateError(ForgeError):
    """An error for files on disk that cannot be trusted."""


class GitHubError(ForgeError):
    """GitHub could not be asked, or said no."""


class ModelError(ForgeError):
    """A model could not be asked, or did not answer."""
