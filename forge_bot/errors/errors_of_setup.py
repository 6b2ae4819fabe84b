"""Errors of what has to be there before a run: configuration, sandbox, action, Temporal."""

from forge_bot.errors.error_base import SetupError


class BadConfig(SetupError, code="CONFIG-001"):
    """A file under .forge/ does not say what it should; every problem is listed with its place."""


class BadManifest(SetupError, code="CONFIG-008"):
    """.forge/manifest.yaml does not say what it should; every problem is listed with its place."""


class BadPipeline(SetupError, code="CONFIG-002"):
    """A pipeline descriptor contradicts itself or its schema."""


class BadTemplate(SetupError, code="CONFIG-004"):
    """A prompt template cannot be rendered."""


class NoStateHome(SetupError, code="CONFIG-005"):
    """There is no folder to keep work trees and journals in."""


class BadCapabilities(SetupError, code="CONFIG-006"):
    """forge-mcp.json does not say what it should; every problem is listed with its place."""


class CapabilityMissing(SetupError, code="CONFIG-007"):
    """A server or skill that the configuration calls required cannot be used."""


class BadSigningKey(SetupError, code="CONFIG-010"):
    """The key that commits for merge are to be signed with is missing, or cannot sign."""


class UnknownLanguage(SetupError, code="CONFIG-011"):
    """FORGE_BOT_LANGUAGE names a language that has no sentences."""


class NoTestCommand(SetupError, code="CHECK-001"):
    """No way to test the repository was found, so nothing could be verified."""


class NotReady(SetupError, code="PREFLIGHT-001"):
    """Something stands in the way of a run; found before a model is asked, so nothing was spent."""


class NoSandbox(SetupError, code="SANDBOX-001"):
    """Project commands cannot be locked in on this machine."""


class SandboxFailed(SetupError, code="SANDBOX-002"):
    """The sandbox was there but a command could not be started in it."""


class CannotJudge(SetupError, code="SANDBOX-003"):
    """A command failed because the sandbox lacks something that bubblewrap has: the result says
    nothing about the project.
    """


class CredentialKept(SetupError, code="SANDBOX-005"):
    """Setup left a registry's credential where later commands could read it."""


class SetupNotWalled(SetupError, code="SANDBOX-004"):
    """Setup would run where no network namespace holds it to our proxy, and nobody allowed that."""


class NotInAction(SetupError, code="ACTION-001"):
    """A program that GitHub Actions starts was started by something else."""


class BadInput(SetupError, code="ACTION-002"):
    """An input of the action has a value that it cannot have."""


class TemporalMissing(SetupError, code="TEMPORAL-001"):
    """The client of Temporal is not installed."""


class TemporalServerMissing(SetupError, code="TEMPORAL-002"):
    """The program of Temporal's development server is not installed."""


class TemporalUnavailable(SetupError, code="TEMPORAL-003"):
    """The Temporal server does not answer."""


class TemporalRefused(SetupError, code="TEMPORAL-004"):
    """The Temporal server answers, but not for this namespace or with this access."""


class NoTemporalWorker(SetupError, code="TEMPORAL-005"):
    """No worker takes the work of this repository from the server."""


class TemporalWorkerDiffers(SetupError, code="TEMPORAL-007"):
    """A worker of another version of forge-bot has the run, and cannot go on with it."""
