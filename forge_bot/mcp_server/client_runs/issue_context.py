"""The source of a task: an issue by its whole URL, a run's folder, or words. An issue that a host
read, as a draft; and the effort that its labels, type and points tell.
"""

import os
import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from forge_bot.errors import BadArguments, ContextMissing, EmptyTask
from forge_bot.github_api.issue import parse_issue_url
from forge_bot.mcp_server.tool_schemas import ExternalContext, FetchNeeded, SourceType
from forge_bot.runs.effort import EffortGuess, guess_effort
from forge_bot.runs.request_draft import RequestDraft, draft_from, draft_from_words
from forge_bot.sentences import say
from forge_bot.store import SPECS
from forge_bot.values import Effort, Frozen, Source

# -- the source of a task
# --------------------------------------------------------------------------------------------------

# URL forms: https://docs.github.com/en/rest/issues, https://support.atlassian.com/jira
# (`/browse/KEY-1`) and Linear's `/TEAM/issue/KEY-1[/title]`. A URL counts only as a whole; words
# around it make the input text.
HOSTS = "FORGE_BOT_GITHUB_HOSTS"
"""Variable with more hosts of GitHub Enterprise Server, separated by commas or blanks. GH_HOST
counts too."""

_SHORTEST = 3
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_FOLDER = re.compile(
    rf"(?:\./|(?:~|[A-Za-z]:)?/(?:[^\n]*/)?)?{re.escape(SPECS)}/(?P<name>[^/\s]*)(?:/\S*)?"
)
_JIRA = re.compile(
    r"https://(?P<host>[a-z0-9][a-z0-9-]{0,62}\.atlassian\.net)/browse/"
    r"(?P<id>[A-Z][A-Z0-9_]{0,30}-[1-9]\d{0,9})/?(?:[?#]\S*)?",
    re.ASCII,
)
_LINEAR = re.compile(
    r"https://linear\.app/(?P<org>[A-Za-z0-9_-]{1,80})/issue/"
    r"(?P<id>[A-Za-z][A-Za-z0-9]{0,10}-[1-9]\d{0,9})(?:/[A-Za-z0-9._~%-]{0,300})?/?(?:[?#]\S*)?",
    re.ASCII,
)


class Origin(Frozen):
    """The kind of an input; `problem` says why it cannot be used."""

    type: SourceType = "text"
    id: str = ""
    url: str = ""
    problem: str = ""

    @property
    def source(self) -> Source:
        """Return the source in the form of the run's record."""
        return Source(type=self.type, id=self.id, url=self.url)


def origin_of(text: str, environ: Mapping[str, str] = os.environ) -> Origin:
    """Return the origin of the whole input."""
    plain = text.strip()
    if run_named(plain):
        return Origin(type="workspace")
    if _URL.fullmatch(plain) is not None:
        return _of_url(plain, github_hosts(environ))
    if len(re.sub(r"\W", "", plain)) < _SHORTEST:
        return Origin(
            problem=(
                say("client.task_source.too_short", least=_SHORTEST)
                if plain
                else say("client.task_source.empty")
            )
        )
    return Origin()


def run_named(text: str) -> str:
    """Return the name in `.specs/NAME`, which may be a whole path; empty if the text has anything
    else. `.` means that the name is missing.
    """
    match = _FOLDER.fullmatch(text.strip().replace("\\", "/"))
    return "" if match is None else match["name"] or "."


def github_hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Hosts whose issue URLs count as GitHub's."""
    named = re.split(r"[\s,]+", f"{environ.get('GH_HOST', '')} {environ.get(HOSTS, '')}")
    return tuple(dict.fromkeys(("github.com", *(host.lower() for host in named if host))))


def _of_url(url: str, hosts: tuple[str, ...]) -> Origin:
    if (issue := parse_issue_url(url, hosts)) is not None:
        clean = f"https://{issue.host}/{issue.owner}/{issue.repository}/issues/{issue.number}"
        return Origin(type="github_issue", id=str(issue.number), url=clean)
    if (jira := _JIRA.fullmatch(url)) is not None:
        return Origin(
            type="jira_issue", id=jira["id"], url=f"https://{jira['host']}/browse/{jira['id']}"
        )
    if (linear := _LINEAR.fullmatch(url)) is not None:
        key = linear["id"].upper()
        return Origin(
            type="linear_issue", id=key, url=f"https://linear.app/{linear['org']}/issue/{key}"
        )
    known = (
        f"https://{hosts[-1]}/OWNER/REPO/issues/1, https://NAME.atlassian.net/browse/KEY-1,"
        " https://linear.app/ORG/issue/KEY-1"
    )
    return Origin(problem=say("client.task_source.unrecognised_url", known=known))


def fetch_needed(origin: Origin) -> FetchNeeded | None:
    """Return the command for reading the issue; None where there is nothing to read. Built from the
    parts of a matched URL, never from the input.
    """
    match origin.type:
        case "github_issue":
            return FetchNeeded(
                type="github",
                fields=("labels", "title", "body"),
                instruction=(
                    "fetch github issue fields before calling pipeline_init_with_context; "
                    "pass them in external_context as github_labels, github_title, github_body"
                ),
                command=("gh", "issue", "view", origin.url, "--json", "labels,title,body"),
            )
        case "jira_issue":
            return FetchNeeded(
                type="jira",
                fields=("issue_type", "story_points", "summary", "description"),
                instruction=(
                    "fetch jira issue fields before calling pipeline_init_with_context, with a Jira"
                    " tool or its REST API; pass them in external_context as jira_issue_type,"
                    " jira_story_points, jira_summary, jira_description"
                ),
            )
        case "linear_issue":
            return FetchNeeded(
                type="linear",
                fields=("title", "description", "labels", "estimate"),
                instruction=(
                    "fetch linear issue fields before calling pipeline_init_with_context, with a"
                    " Linear tool; pass them in external_context as linear_title,"
                    " linear_description, linear_labels, linear_estimate"
                ),
            )
        case "text" | "workspace":
            return None


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
        text=draft.words,
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
