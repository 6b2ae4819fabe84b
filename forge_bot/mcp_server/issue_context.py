"""An issue that a host read, as a draft; and the effort that its labels, type and points tell."""

from collections.abc import Sequence

from pydantic import JsonValue

from forge_bot.errors import BadArguments, ContextMissing, EmptyTask
from forge_bot.mcp_server.task_source import Origin, fetch_needed, origin_of
from forge_bot.mcp_server.tool_schemas import ExternalContext, SourceType
from forge_bot.runs.effort import EffortGuess, guess_effort
from forge_bot.runs.request_draft import RequestDraft, draft_from, draft_from_words
from forge_bot.sentences import say
from forge_bot.values import Effort, Frozen

_TRACKERS = {"github": "GitHub", "jira": "Jira", "linear": "Linear"}
_EXPECTED = tuple(
    f"{name}: "
    + ", ".join(field for field in ExternalContext.model_fields if field.startswith(f"{start}_"))
    for start, name in _TRACKERS.items()
)


class IssueContext(Frozen):
    """A draft, and what its tracker says about its size."""

    draft: RequestDraft
    effort: EffortGuess


def issue_context(
    text: str, origin: Origin, context: ExternalContext | None, flag: Effort | None
) -> IssueContext:
    """The ticket for words, or for an issue that was read. Raises ContextMissing, EmptyTask,
    TaskTooLarge.
    """
    if origin.type == "text" and context is not None and not text.strip():
        raise ContextMissing(
            say("client.issue_context.no_known_field"),
            details=_EXPECTED,
        )
    if origin.type == "text":
        draft, kind, points = _of_words(text), "", None
    else:
        if context is None:
            raise _missing(origin)
        title, body, labels, kind, points = _fields(origin.type, context)
        if not title.strip() and not body.strip():
            raise _missing(origin)
        draft = draft_from(title, body, origin.source, labels, kind)
    effort = guess_effort(
        flag=flag.value if flag is not None else None,
        labels=draft.labels,
        issue_type=kind,
        story_points=points,
        text=f"{draft.title}\n{draft.text}",
    )
    return IssueContext(draft=draft, effort=effort)


def _of_words(text: str) -> RequestDraft:
    try:
        return draft_from_words(text, token=None, api_url=None)
    except EmptyTask as error:
        raise EmptyTask(error.message, hint=say("client.issue_context.pass_the_task")) from error


def proposed(draft: RequestDraft) -> str:
    """The request in one text, as a person is shown it before a run begins."""
    whole = draft.source.type == "text" or draft.text.startswith(draft.title)
    return draft.text if whole else f"{draft.title}\n\n{draft.text}".strip()


def edited(ticket: IssueContext, body: str) -> IssueContext:
    """Return the ticket of an issue with the text as a person edited it; its title stays. Raises
    TaskTooLarge.
    """
    words, draft = body.replace("\r\n", "\n").strip(), ticket.draft
    if words in {"", proposed(draft).strip()}:
        return ticket
    first, _, rest = words.partition("\n")
    text = rest if first.strip() == draft.title else words
    return ticket.replace(
        draft=draft_from(draft.title, text, draft.source, draft.labels, draft.issue_type)
    )


def told_origin(
    source_url: str, source_id: str, text: str, context: ExternalContext | None
) -> Origin:
    """The source the host tells: its URL decides, then the text if it is one, then the names of the
    fields. Raises BadArguments.
    """
    for address in (
        source_url,
        text if text.strip().startswith("http") and " " not in text.strip() else "",
    ):
        if address:
            origin = origin_of(address)
            if origin.problem or origin.type in {"text", "workspace"}:
                raise BadArguments(
                    say(
                        "client.issue_context.no_issue", address=address, problem=origin.problem
                    ).strip()
                )
            return origin
    if context is not None:
        given = {
            name.partition("_")[0]
            for name, value in context.model_dump(exclude_defaults=True).items()
            if value
        }
        types: dict[str, SourceType] = {
            "github": "github_issue",
            "jira": "jira_issue",
            "linear": "linear_issue",
        }
        for name, kind in types.items():
            if name in given:
                return Origin(type=kind, id=source_id)
    return Origin()


def _missing(origin: Origin) -> ContextMissing:
    needed = fetch_needed(origin)
    details = (needed.instruction,) if needed is not None else ()
    return ContextMissing(
        say(
            "client.issue_context.text_is_unknown",
            url=origin.url or say("client.issue_context.issue"),
        ),
        details=details,
    )


def _fields(
    kind: SourceType, context: ExternalContext
) -> tuple[str, str, tuple[str, ...], str, float | None]:
    match kind:
        case "github_issue":
            return (
                context.github_title,
                context.github_body or "",
                _names(context.github_labels),
                "",
                None,
            )
        case "jira_issue":
            return (
                context.jira_summary,
                context.jira_description or "",
                (),
                context.jira_issue_type,
                context.jira_story_points,
            )
        case "linear_issue":
            return (
                context.linear_title,
                context.linear_description or "",
                _names(context.linear_labels),
                "",
                context.linear_estimate,
            )
        case "text" | "workspace":
            return "", "", (), "", None


def _names(labels: Sequence[str | dict[str, JsonValue]]) -> tuple[str, ...]:
    """Labels by name, whether the host gives names or GitHub's objects."""
    plain = (label if isinstance(label, str) else str(label.get("name", "")) for label in labels)
    return tuple(label.strip() for label in plain if label.strip())
