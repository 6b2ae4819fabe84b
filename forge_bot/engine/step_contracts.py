"""The calls of steps: the arguments and the output of each tool and resource."""

from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from forge_bot.values import Frozen

WRITE = "fs_write_file"
ISSUES = "forge_issues"


class NoArguments(Frozen):
    """Nothing is taken."""


class OrientationOutput(Frozen):
    """The repository in a few words."""

    project_id: str
    project_path: str
    branch: str
    stack: str
    summary: str


class QueryArguments(Frozen):
    """A question to the project's graph."""

    name: str = ""
    tier: str = ""
    kind: str = ""
    domain: str = ""
    of: str = ""
    used_by: str = ""
    touches: tuple[str, ...] = ()
    between: tuple[str, ...] = ()


class QueriedNode(Frozen):
    """One node of an answer."""

    id: str
    kind: str
    tier: str | None
    domain: str
    criticality: str
    how: str
    line: int
    problem: str


class QueryOutput(Frozen):
    """The nodes that answer a question."""

    sentence: str
    total: int
    nodes: list[QueriedNode]


class GraphFindingOutput(Frozen):
    """One finding in the graph."""

    code: str
    node: str
    message: str
    path: str
    line: int
    dependency_ids: list[str]


class ScanOutput(Frozen):
    """The findings in the graph without any rule."""

    total: int
    findings: list[GraphFindingOutput]


class VerifyArguments(Frozen):
    """The project whose rules are looked at; there is only the run's."""

    project_path: str = ""


class VerifyOutput(Frozen):
    """The rules that do not hold. The exit code is the command's: 0, or 2 for violations."""

    exit_code: int
    total: int
    findings: list[GraphFindingOutput]


class ScaffoldArguments(Frozen):
    """A file that is wanted."""

    name: str
    kind: str = "module"
    stack: str = ""
    purpose: str = ""


class ScaffoldOutput(Frozen):
    """A new file where the project would put it, and files of its kind near it."""

    output_path: str
    file_content: str
    node_id: str
    near: list[str]


class AnnotateArguments(Frozen):
    """The findings that are to be kept, or told."""

    findings: list[GraphFindingOutput]


class FileToWrite(Frozen):
    """A file with its text."""

    path: str
    content: str


class AnnotateOutput(Frozen):
    """One file for each finding; they are not written yet."""

    total: int
    files: list[FileToWrite]


class WriteArguments(Frozen):
    """A file, or several."""

    path: str = ""
    content: str = ""
    files: tuple[FileToWrite, ...] = ()


class WriteOutput(Frozen):
    """The paths that were written."""

    paths: list[str]


class IssueToOpen(Frozen):
    """An issue. One with the same key that is open, or that people closed while the text it speaks
    of was the same, stands for it.
    """

    title: str
    body: str
    key: str
    text: str


class IssuesOutput(Frozen):
    """The issues that are opened at the end of the run."""

    total: int
    issues: list[IssueToOpen]


class ContextOutput(Frozen):
    """A repository in words."""

    project_id: str
    project_path: str
    text: str


class ManifestOutput(Frozen):
    """The nodes and rules of a project."""

    version: int
    files: int
    left_out: int
    nodes: list[dict[str, JsonValue]]
    rules: list[dict[str, JsonValue]]


class AnnotationsOutput(Frozen):
    """The findings of a project, each with the text of its node by git's id."""

    total: int
    annotations: list[dict[str, JsonValue]]
    kept: list[dict[str, JsonValue]]


class GloveOutput(Frozen):
    """The files and definitions that are read of a stack."""

    stack: str
    kind: str
    tier: str | None
    endings: list[str]
    reads: str
    resolves_imports: bool
    scaffolds: bool


class StepContract(NamedTuple):
    """The arguments and the output of a call. One with an effect changes something for good."""

    takes: type[BaseModel]
    gives: type[BaseModel]
    effect: bool = False


TOOLS: dict[str, StepContract] = {
    "forge_orient": StepContract(NoArguments, OrientationOutput),
    "forge_query": StepContract(QueryArguments, QueryOutput),
    "forge_scan": StepContract(NoArguments, ScanOutput),
    "forge_verify": StepContract(VerifyArguments, VerifyOutput),
    "forge_scaffold": StepContract(ScaffoldArguments, ScaffoldOutput),
    "forge_annotate": StepContract(AnnotateArguments, AnnotateOutput),
    ISSUES: StepContract(AnnotateArguments, IssuesOutput, effect=True),
    WRITE: StepContract(WriteArguments, WriteOutput, effect=True),
}

RESOURCES: dict[str, type[BaseModel]] = {
    "forge://project/{project_id}/context": ContextOutput,
    "forge://project/{project_id}/manifest": ManifestOutput,
    "forge://project/{project_id}/annotations": AnnotationsOutput,
    "forge://glove/{kind}/{stack}": GloveOutput,
}


def resource_at(address: str) -> tuple[str, type[BaseModel]] | None:
    """Return the address with placeholders that an address fits, and its output; None if none."""
    parts = address.split("/")
    for known, gives in RESOURCES.items():
        wanted = known.split("/")
        if len(parts) == len(wanted) and all(
            there == part or (there.startswith("{") and part)
            for there, part in zip(wanted, parts, strict=True)
        ):
            return known, gives
    return None
