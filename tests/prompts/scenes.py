"""Material for prompts as a run would hand it in, and what can be read off a Markdown document."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import yaml
from markdown_it import MarkdownIt
from pydantic import TypeAdapter

from forge_bot.engine import Pipeline
from forge_bot.engine.phases import AgentPhase, AnsweringPhase, ReviewPhase, TaskReviewPhase
from forge_bot.engine.pipeline import Descriptor
from forge_bot.prompts.material import Capability, InputFile, Line, Material
from forge_bot.resources import templates
from forge_bot.runs.models_and_prompts import INQUIRY, PERFORMER
from forge_bot.values import Frozen

READ_FILE = Capability(
    name="read_file",
    description="A file of the repository. For example",
    parameters='{"path": "src/app.py"}',
)
JIRA = Capability(
    name="jira_search",
    description="Search tickets. For example",
    parameters='{"query": "timeout"}',
    kind="mcp_tool",
)

CLOSING = "</untrusted-text>"


def material(**changes: Any) -> Material:
    """An architect's first round."""
    plain: dict[str, Any] = {
        "agent": "architect",
        "phase": "phase-3",
        "label": "Design",
        "delivery": "answer",
        "workspace": ".specs/20260401-42-uploads",
        "output_file": "design.md",
        "branch": "fix/42-uploads",
        "base": "main",
        "inputs": (
            InputFile(name="request.md", text="Uploads fail.", untrusted=True),
            InputFile(name="analysis.md", text="# Analysis"),
        ),
        "headings": ("Approach", "Changes", "Test Strategy", "Risks", "Decisions"),
        "capabilities": (READ_FILE,),
        "repository": (
            Line(label="Languages", text="Python (92 %)"),
            Line(label="Layout", text="app/\ntests/"),
        ),
    }
    return Material(**plain | changes)


class Part(Frozen):
    """One agent in one phase, and what the pipeline wants of it."""

    agent: str
    phase: str
    writes: str
    headings: tuple[str, ...]
    verdicts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.agent} in {self.phase}" + (
            " with debug" if "Debug Report" in self.headings else ""
        )

    def material(self, **changes: Any) -> Material:
        """What this agent would be given."""
        own = {
            "agent": self.agent,
            "phase": self.phase,
            "output_file": self.writes,
            "headings": self.headings,
        }
        return material(**own | {"verdicts": self.verdicts} | changes)


@cache
def parts() -> tuple[Part, ...]:
    """Every agent of the pipeline that ships, in every phase it speaks in, and the one who answers
    questions.
    """
    descriptor: Descriptor = TypeAdapter[Descriptor](Descriptor).validate_python(
        yaml.safe_load((templates() / "pipelines" / "develop.yaml").read_text(encoding="utf-8"))
    )
    assert isinstance(descriptor, Pipeline)
    speaking = tuple(
        part
        for phase in descriptor.phases
        if isinstance(phase, AnsweringPhase)
        for part in _of(phase)
    )
    return (
        *speaking,
        Part(agent=INQUIRY, phase="checkpoint-a", writes="answer.md", headings=()),
        Part(agent=PERFORMER, phase="phase-1", writes="result.md", headings=()),
    )


def _of(phase: AnsweringPhase) -> Iterable[Part]:
    verdicts = phase.verdicts if isinstance(phase, ReviewPhase | TaskReviewPhase) else ()
    writes = phase.writes.replace("{task}", "1")
    whole = Part(
        agent=phase.agent,
        phase=phase.id,
        writes=writes,
        headings=phase.headings,
        verdicts=tuple(verdicts),
    )
    yield whole
    if isinstance(phase, AgentPhase):
        for variant in phase.variants.values():
            yield whole.model_copy(update={"agent": variant.agent, "headings": variant.headings})
        if phase.debug_headings:
            yield whole.model_copy(update={"headings": (*phase.headings, *phase.debug_headings)})


def sections(markdown: str) -> dict[str, str]:
    """The level-2 headings of a document, each with the text below it."""
    found: dict[str, str] = {}
    lines = markdown.splitlines()
    tokens = MarkdownIt().parse(markdown)
    starts = [
        (token.map[0], tokens[place + 1].content)
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2" and token.map
    ]
    for number, (start, heading) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        found[heading] = "\n".join(lines[start + 1 : end]).strip()
    return found


def fences(markdown: str, language: str) -> list[str]:
    """What stands in the fenced blocks of one language."""
    return [
        token.content
        for token in MarkdownIt().parse(markdown)
        if token.type == "fence" and token.info.strip() == language
    ]
