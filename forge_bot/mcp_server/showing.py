"""An open question in words for a person, and as the component that faces render."""

from pydantic import JsonValue

from forge_bot.mcp_server.wire import Discussion, NeedsConfirmation, NeedsDiscussion, Proposal, Ready
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


def beforehand(answer: NeedsConfirmation | NeedsDiscussion | Ready) -> dict[str, JsonValue]:
    """What goes along with an answer before a run begins: the question as data, and what comes next."""
    match answer:
        case NeedsConfirmation(needs_user_confirmation=proposal):
            return {"hints": {"next": "ask the person, then call again with user_confirmation"}, "ui": _choice(proposal)}
        case NeedsDiscussion(needs_discussion=discussion):
            return {"hints": {"next": "ask the person, then call again with discussion_answers"}, "ui": _form(discussion)}
        case Ready():
            following = f"git checkout -b {answer.branch}, then pipeline_next_action" if answer.create_branch else "pipeline_next_action"
            return {"hints": {"next": following}}


def _choice(proposal: Proposal) -> dict[str, JsonValue]:
    actions: list[JsonValue] = []
    for effort, option in proposal.effort_options.items():
        left_out = ", ".join(phase.label for phase in option.skipped_phases)
        effect = f"all phases but {left_out}" if left_out else "all phases"
        actions.append({"answer": effort.value, "effect": f"{effect}; recommended" if option.recommended else effect})
    data = proposal.model_dump(mode="json", include={"detected_effort", "current_branch", "is_main_branch", "enriched_request_body"})
    return {"kind": "confirmation", "title": "Effort and branch", "data": data, "actions": actions, "requires_response": True}


def _form(discussion: Discussion) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"questions": list(discussion.questions)}
    return {"kind": "input", "title": "Before it begins", "data": data, "actions": [], "requires_response": True}
