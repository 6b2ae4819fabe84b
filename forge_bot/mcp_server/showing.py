"""An open question in words for a person, and as the component that faces render."""

from pydantic import JsonValue

from forge_bot.runs.asking import Question

_LONGEST = 24_000
"""Characters of all documents of a question together; what is cut can be read in the file."""


def presented(asked: Question, workspace: str) -> str:
    """The question as Markdown: what is decided, what speaks against it, the documents, and what each answer does."""
    data = asked.data
    parts = [f"## {asked.title}", *data.decision]
    if data.risks:
        parts.append("**Risks**\n\n" + "\n".join(f"- {risk}" for risk in data.risks))
    if data.findings:
        parts.append("**Findings**\n\n" + "\n".join(f"- [{finding.severity.value}] {finding.description}" for finding in data.findings))
    if data.difference:
        parts.append(f"**What changed since the version shown before**\n\n~~~diff\n{data.difference[:_LONGEST]}\n~~~")
    room = _LONGEST
    for document in data.documents:
        shown = document.text[:room]
        cut = f"\n\n[… cut here: {workspace}/{document.name} has the rest]" if len(shown) < len(document.text) else ""
        parts.append(f"### {workspace}/{document.name}\n\n{shown.strip()}{cut}")
        room = max(room - len(shown), 0)
    if data.digest:
        parts.append(f"Version: `{data.digest[:12]}`")
    parts.append("\n".join(f"- `{choice.answer}`: {choice.effect}" for choice in asked.actions))
    return "\n\n".join(parts)


def component(asked: Question) -> dict[str, JsonValue]:
    """The question as data, without the documents' texts, which the host can read by itself."""
    shown = asked.model_dump(mode="json", exclude={"data": {"documents": {"__all__": {"text"}}}})
    return dict(shown)
