"""The inputs of a prompt, and the prompt. Both are plain values."""

from typing import Literal

from pydantic import Field

from forge_bot.values import Finding, Frozen, TaskSpec

Delivery = Literal["answer", "files"]
"""The way the agent answers.

`answer`: our own loop shows the inputs and takes a structured answer. `files`: a client's agent
reads and writes files itself.
"""


class InputFile(Frozen):
    """A text that the agent has to read."""

    name: str = Field(
        description="artifact name, path from the root of the repository, or what the output is of"
    )
    text: str
    untrusted: bool = Field(
        default=False,
        description="strangers wrote it: hidden text is taken out before a model sees it",
    )
    kind: Literal["artifact", "diff", "file", "output"] = "artifact"
    shown_as: str = Field(
        default="", description="the name above the text, if not `name`; such as which lines it has"
    )

    shared: bool = Field(
        default=True, description="later prompts of the run have it at the same place"
    )

    @property
    def is_quoted(self) -> bool:
        """Return whether the text is quoted to an agent that reads files by itself: it is no file,
        or the wanted parts of one.
        """
        return self.kind == "output" or (self.kind == "file" and bool(self.shown_as))


class Capability(Frozen):
    """A capability that the model may request with `Explore`."""

    name: str
    description: str
    parameters: str = Field(description="one line: a JSON object that shows its parameters")
    kind: Literal["provider", "mcp_tool", "skill"] = "provider"


class Line(Frozen):
    """One fact about the repository, such as `Test command` and `pytest`."""

    label: str
    text: str


class NextDocument(Frozen):
    """The document of a later phase, which the agent may write in the same answer."""

    output_file: str
    agent: str = Field(description="whose document it is")
    phase: str
    headings: tuple[str, ...]
    sized: bool = Field(default=False, description="it says how many tasks there are")


class Material(Frozen):
    """Everything that goes into one prompt."""

    agent: str
    phase: str
    label: str = Field(description="the phase's name for people")
    delivery: Delivery
    workspace: str = Field(description="the run's folder, relative to the root of the repository")
    output_file: str = Field(description="name of the artifact to write, within the workspace")
    branch: str
    base: str
    change: str = Field(
        default="",
        description=(
            "the command that shows the change under review, for an agent that runs it itself"
        ),
    )
    inputs: tuple[InputFile, ...] = ()
    further: tuple[str, ...] = Field(
        default=(), description="documents that need not be read, for an agent that reads files"
    )
    headings: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = Field(
        default=(),
        description="positive, positive with notes, negative; empty if nothing is judged",
    )
    next_documents: tuple[NextDocument, ...] = ()
    task: TaskSpec | None = None
    round: int = Field(default=1, ge=1)
    notes: tuple[str, ...] = Field(
        default=(), description="what a maintainer who may decide has said"
    )
    decided: tuple[str, ...] = Field(
        default=(),
        description="what a maintainer said at the checkpoints so far, unless it is in `notes`",
    )
    question: str = Field(
        default="",
        description="what a maintainer wants to know, for the one agent that answers questions",
    )
    instruction: str = Field(
        default="", description="what the pipeline says is to be written, for a step of it"
    )
    findings: tuple[Finding, ...] = Field(
        default=(), description="what a review found, if no input tells it"
    )
    problems: tuple[str, ...] = Field(
        default=(), description="why the last answer could not be used"
    )
    repository: tuple[Line, ...] = Field(default=(), description="layer 3")
    similar: tuple[str, ...] = Field(
        default=(), description="layer 4: past runs like this one, one line each, best first"
    )
    patterns: tuple[str, ...] = Field(
        default=(), description="layer 4: what reviews keep finding, most frequent first"
    )
    friction: tuple[str, ...] = Field(
        default=(), description="layer 4: where runs got stuck, most important first"
    )
    capabilities: tuple[Capability, ...] = ()
    offered: tuple[Capability, ...] = Field(
        default=(),
        description=(
            "what any agent of the run may ask for; the same for all of them, so that layer 1 is"
            " too. Empty: the agent's own"
        ),
    )
    menu_notes: tuple[str, ...] = Field(
        default=(),
        description="what the list of capabilities leaves out: names only, or why one is missing",
    )
    answer: Literal["Document", "Change"] = "Document"
    drafts: bool = Field(
        default=False,
        description="the answer may hold the change that the document designs, or corrects",
    )
    limits: tuple[int, int] = Field(
        default=(8, 8), description="turns, and requests and actions a turn"
    )


class Prompt(Frozen):
    """A complete prompt.

    `system` is equal for all agents, rounds and runs with the same settings. `user` is the rest, in
    an order in which consecutive prompts of a run begin alike; `role` is the part of it that says
    who the agent is.
    """

    system: str
    user: str
    role: str = ""
    seams: tuple[int, ...] = Field(
        default=(),
        description="places of `user` at which an input ends that later prompts have too",
    )
    tokens: int = Field(description="estimated, both parts together")
    dropped: tuple[str, ...] = Field(
        default=(), description="what was left out to keep within the budget, a sentence each"
    )
    removed: str = Field(
        default="",
        description="what hidden text was taken out of untrusted inputs; empty if there was none",
    )

    @property
    def text(self) -> str:
        """Both parts as one text, for a client's agent that takes a single prompt."""
        return f"{self.system}\n{self.user}"
