"""Errors of what has to be there before a run: configuration, sandbox, action, Temporal."""

from forge_bot.errors.error_base import SetupError


class BadConfig(SetupError):
    """A file under .forge/ does not say what it should; every problem is listed with its place."""

    code = "CONFIG-001"
    hint = "hints.setup.bad_config"


class BadManifest(SetupError):
    """.forge/manifest.yaml does not say what it should; every problem is listed with its place."""

    code = "CONFIG-008"
    hint = "hints.setup.bad_manifest"


class BadStack(SetupError):
    """A declared stack does not say what it should; every problem is listed with its place."""

    code = "CONFIG-009"
    hint = "hints.setup.bad_stack"


class BadPipeline(SetupError):
    """A pipeline descriptor contradicts itself or its schema."""

    code = "CONFIG-002"
    hint = "hints.setup.bad_pipeline"


class BadTemplate(SetupError):
    """A prompt template cannot be rendered."""

    code = "CONFIG-004"
    hint = "hints.setup.bad_template"


class NoStateHome(SetupError):
    """There is no folder to keep work trees and journals in."""

    code = "CONFIG-005"
    hint = "hints.setup.no_state_home"


class BadCapabilities(SetupError):
    """forge-mcp.json does not say what it should; every problem is listed with its place."""

    code = "CONFIG-006"
    hint = "hints.setup.bad_capabilities"


class CapabilityMissing(SetupError):
    """A server or skill that the configuration calls required cannot be used."""

    code = "CONFIG-007"
    hint = "hints.setup.capability_missing"


class BadSigningKey(SetupError):
    """The key that commits for merge are to be signed with is missing, or cannot sign."""

    code = "CONFIG-010"
    hint = "hints.setup.bad_signing_key"


class UnknownLanguage(SetupError):
    """FORGE_BOT_LANGUAGE names a language that has no sentences."""

    code = "CONFIG-011"
    hint = "hints.setup.unknown_language"


class NoTestCommand(SetupError):
    """No way to test the repository was found, so nothing could be verified."""

    code = "CHECK-001"
    hint = "hints.setup.no_test_command"


class NotReady(SetupError):
    """Something stands in the way of a run; found before a model is asked, so nothing was spent."""

    code = "PREFLIGHT-001"
    hint = "hints.setup.not_ready"


class NoSandbox(SetupError):
    """Project commands cannot be locked in on this machine."""

    code = "SANDBOX-001"
    hint = "hints.setup.no_sandbox"


class SandboxFailed(SetupError):
    """The sandbox was there but a command could not be started in it."""

    code = "SANDBOX-002"
    hint = "hints.setup.sandbox_failed"


class CannotJudge(SetupError):
    """A command failed because the sandbox lacks something that bubblewrap has: the result says
    nothing about the project.
    """

    code = "SANDBOX-003"
    hint = "hints.setup.cannot_judge"


class CredentialKept(SetupError):
    """Setup left a registry's credential where later commands could read it."""

    code = "SANDBOX-005"
    hint = "hints.setup.credential_kept"


class SetupNotWalled(SetupError):
    """Setup would run where no network namespace holds it to our proxy, and nobody allowed that."""

    code = "SANDBOX-004"
    hint = "hints.setup.setup_not_walled"


class NotInAction(SetupError):
    """A program that GitHub Actions starts was started by something else."""

    code = "ACTION-001"
    hint = "hints.setup.not_in_action"


class BadInput(SetupError):
    """An input of the action has a value that it cannot have."""

    code = "ACTION-002"
    hint = "hints.setup.bad_input"


class TemporalMissing(SetupError):
    """The client of Temporal is not installed."""

    code = "TEMPORAL-001"
    hint = "hints.setup.temporal_missing"


class TemporalServerMissing(SetupError):
    """The program of Temporal's development server is not installed."""

    code = "TEMPORAL-002"
    hint = "hints.setup.temporal_server_missing"


class TemporalUnavailable(SetupError):
    """The Temporal server does not answer."""

    code = "TEMPORAL-003"
    hint = "hints.setup.temporal_unavailable"


class TemporalRefused(SetupError):
    """The Temporal server answers, but not for this namespace or with this access."""

    code = "TEMPORAL-004"
    hint = "hints.setup.temporal_refused"


class NoTemporalWorker(SetupError):
    """No worker takes the work of this repository from the server."""

    code = "TEMPORAL-005"
    hint = "hints.setup.no_temporal_worker"


class TemporalWorkerDiffers(SetupError):
    """A worker of another version of forge-bot has the run, and cannot go on with it."""

    code = "TEMPORAL-007"
    hint = "hints.setup.temporal_worker_differs"
