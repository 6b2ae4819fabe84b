"""The action as its users meet it: every input with its variable and default, every output.
action.yml says the same; a test compares.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActionInput:
    """One input of the action. Steps get it by a variable of its own and never as text of a script;
    empty means the default.
    """

    name: str
    what: str
    default: str = ""
    variable: str = ""

    @property
    def env(self) -> str:
        """The variable it travels by."""
        return self.variable or f"FORGE_BOT_{self.name.upper().replace('-', '_')}"


@dataclass(frozen=True, slots=True)
class ActionOutput:
    """One output of the action."""

    name: str
    what: str


AT_THE_GATE = (
    ActionInput("prefix", "word that commands begin with", "/forge"),
    ActionInput(
        "bare",
        "`false`: only `/forge approve` counts, `/approve` is left to other programs",
        "true",
    ),
    ActionInput("label", "label that starts a run", "forge"),
    ActionInput(
        "role", "lowest role that may give commands: triage, write, maintain or admin", "write"
    ),
    ActionInput("login", "account that the token writes as", "github-actions[bot]"),
)
"""What the gate has to know; everybody behind it reads the same."""

INPUTS = (
    ActionInput(
        "github-token",
        "token that reads and writes: that of the job, or of an App",
        "${{ github.token }}",
        "GITHUB_TOKEN",
    ),
    *AT_THE_GATE,
    ActionInput("model", "model as `provider:model`; replaces `model` of `.forge/config.yml`"),
    ActionInput(
        "budget",
        "US dollars that a run may cost, or tokens such as `200000 tokens`; replaces `budget` of"
        " `.forge/config.yml`, which is 5 unless it says otherwise",
    ),
    ActionInput(
        "trust-local",
        "`true`: an approval that was given elsewhere than in the thread is not asked again",
        "false",
    ),
    ActionInput(
        "extras", "model providers beyond OpenAI and Anthropic: google, bedrock, mistral, groq"
    ),
    ActionInput(
        "server-variables",
        "variables that servers of `forge-mcp.json` may have, by name, such as `TICKETS_TOKEN"
        " DOCS_TOKEN`",
    ),
    ActionInput(
        "signing-key",
        "OpenSSH private key that signs the commits for merge; its comment says who commits, as"
        " `NAME <ADDRESS>`",
    ),
    ActionInput(
        "temporal-address",
        "`host:port` of the Temporal server whose workers do the work; empty: this job does it",
        variable="TEMPORAL_ADDRESS",
    ),
    ActionInput(
        "temporal-namespace", "namespace on that server", "default", variable="TEMPORAL_NAMESPACE"
    ),
    ActionInput("python", "Python to start with, 3.11 or newer", "python3"),
    ActionInput(
        "part",
        "`all`, or one of `hear`, `work`, `publish` and `finish`, for a workflow in which these are"
        " jobs",
        "all",
    ),
    ActionInput("wake", "what the part `hear` let in; for the parts behind it"),
    ActionInput("handed", "what was handed to the worker; for the parts behind it"),
    ActionInput("folder", "folder by which the part `work` hands on what it did", "forge-bot-work"),
)

OUTPUTS = (
    ActionOutput(
        "outcome",
        "`done`, `waiting`, `budget`, `abandoned`, `failed`, `usage` or `refused`; `working` before"
        " a worker; or the gate's word",
    ),
    ActionOutput("issue", "number of the issue"),
    ActionOutput("branch", "branch of the run"),
    ActionOutput("pull-request", "address of the pull request"),
    ActionOutput("wake", "what the part `hear` let in"),
    ActionOutput("handed", "what a worker has to do now; empty if nothing"),
)
