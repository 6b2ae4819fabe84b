"""`pipeline_init`: what the input is, and whether a run of it exists; nothing is written.

The source of a task is an issue by its whole URL, a run's folder, or words. An issue that a host
read becomes a draft.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress

from pydantic import JsonValue

from forge_bot.errors import BadArguments, ContextMissing, EmptyTask, ForgeError
from forge_bot.forge import hosts_of, page_of, parse_issue_url, read_issue_command
from forge_bot.gate.flags import Start, read_task_flags
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import ExternalContext, InitFlags
from forge_bot.runs.find_runs import RunInfo, checked_out
from forge_bot.runs.request_draft import RequestDraft, draft_from, draft_from_words
from forge_bot.runs.run_snapshot import run_snapshot
from forge_bot.runs.this_process import now
from forge_bot.store.run_folder import SPECS, slug, workspace_name
from forge_bot.values import Effort, Source, source_of_issue

_SHORTEST = 3
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_FOLDER = re.compile(
    rf"(?:\./|(?:~|[A-Za-z]:)?/(?:[^\n]*/)?)?{re.escape(SPECS)}/(?P<name>[^/\s]*)(?:/\S*)?"
)
# https://support.atlassian.com/jira
_JIRA = re.compile(
    r"https://(?P<host>[a-z0-9][a-z0-9-]{0,62}\.atlassian\.net)/browse/"
    r"(?P<id>[A-Z][A-Z0-9_]{0,30}-[1-9]\d{0,9})/?(?:[?#]\S*)?",
    re.ASCII,
)
_FIELDS = "external_context: title, body, labels, type, points"
_READ = (
    "fetch {tracker} issue fields before calling pipeline_init_with_context; pass them in {rest}"
)


def read_source(text: str, environ: Mapping[str, str] = os.environ) -> Source | str:
    """Return the source that the whole input names, or why the input cannot be used."""
    plain = text.strip()
    if read_run_name(plain):
        return Source(type="workspace")
    if _URL.fullmatch(plain) is not None:
        return _read_url(plain, hosts_of(environ))
    if not plain:
        return "input is empty: say what is to be done"
    if len(re.sub(r"\W", "", plain)) < _SHORTEST:
        return f"input too short: minimum {_SHORTEST} characters required"
    return Source()


def read_run_name(text: str) -> str:
    """Return the name in `.specs/NAME`, which may be a whole path; empty if the text has anything
    else. `.` means that the name is missing.
    """
    match = _FOLDER.fullmatch(text.strip().replace("\\", "/"))
    return "" if match is None else match["name"] or "."


def _read_url(url: str, hosts: tuple[str, ...]) -> Source | str:
    if (issue := parse_issue_url(url, hosts)) is not None:
        return source_of_issue(issue.number, issue.url)
    if (jira := _JIRA.fullmatch(url)) is not None:
        return Source(
            type="jira_issue", id=jira["id"], url=f"https://{jira['host']}/browse/{jira['id']}"
        )
    example = page_of(f"https://{hosts[-1]}/OWNER/REPO", "issue", number="1")
    return (
        "unrecognised URL: it is the whole address of no issue; those that are read:"
        f" {example}, https://NAME.atlassian.net/browse/KEY-1. An"
        f" issue of another tracker is passed to pipeline_init_with_context as {_FIELDS}"
    )


def describe_fetch(source: Source) -> dict[str, JsonValue]:
    """Return what has to be read before the next call; empty where there is nothing to read. The
    command is built from the parts of a matched URL, never from the input.
    """
    if source.is_on_forge:
        rest = "external_context as github_labels, github_title, github_body"
        return {
            "type": "github",
            "fields": ["labels", "title", "body"],
            "instruction": _READ.format(tracker="github", rest=rest),
            "command": [*read_issue_command(source.url)],
        }
    if source.type == "jira_issue":
        fields = ("issue_type", "story_points", "summary", "description")
        rest = f"external_context as {', '.join(f'jira_{name}' for name in fields)}"
        return {
            "type": "jira",
            "fields": [*fields],
            "instruction": _READ.format(tracker="jira", rest=rest),
        }
    return {}


def make_draft(text: str, source: Source, issue: ExternalContext) -> RequestDraft:
    """The draft for words, or for an issue that was read. Raises ContextMissing, EmptyTask,
    TaskTooLarge.
    """
    if source.type != "text":
        if not issue.says_anything:
            needed = describe_fetch(source).get("instruction", f"pass {_FIELDS}")
            raise ContextMissing(
                f"What {source.url or 'the issue'} says is not known here.", details=(str(needed),)
            )
        return draft_from(issue.title, issue.body or "", source, issue.label_names, issue.type)
    try:
        return draft_from_words(text)
    except EmptyTask as error:
        hint = f"Say in task_text what is to be done; for an issue, pass source_url and {_FIELDS}."
        raise EmptyTask(error.message, hint=hint) from error


def describe_request(draft: RequestDraft) -> str:
    """The request in one text, as a person is shown it before a run begins."""
    whole = draft.source.type == "text" or draft.text.startswith(draft.title)
    return draft.text if whole else f"{draft.title}\n\n{draft.text}".strip()


def apply_edit(draft: RequestDraft, body: str) -> RequestDraft:
    """Return the draft of an issue with the text as a person edited it; its title stays. Raises
    TaskTooLarge.
    """
    words = body.replace("\r\n", "\n").strip()
    if words in {"", describe_request(draft).strip()}:
        return draft
    first, _, rest = words.partition("\n")
    text = rest if first.strip() == draft.title else words
    return draft_from(draft.title, text, draft.source, draft.labels, draft.issue_type)


def decide_source(
    source_url: str, source_id: str, text: str, context: ExternalContext | None
) -> Source:
    """The source the host tells: its URL decides, then the text if it is one, then the names of the
    fields. Raises BadArguments.
    """
    for address in (source_url, text.strip() if _URL.fullmatch(text.strip()) else ""):
        if not address:
            continue
        source = read_source(address)
        if isinstance(source, Source) and source.type not in {"text", "workspace"}:
            return source
        if context is not None and context.tracker == "issue":
            return Source(type="issue", id=source_id, url=address)
        problem = source if isinstance(source, str) else ""
        raise BadArguments(f"{address!r} is the address of no issue. {problem}".strip())
    if context is not None and context.says_anything:
        return Source(type=context.tracker, id=source_id)
    return Source()


# -- the call
# --------------------------------------------------------------------------------------------------


_RESUME = "resume"
"""A switch that hosts pass on and that changes nothing: a run that exists is found anyway."""


def handle_init(
    served: ServedRepository, arguments: str, current_branch: str, environ: Mapping[str, str]
) -> dict[str, JsonValue]:
    """Return the meaning of a host's arguments: a new run, one that exists, or nothing that
    could be used.
    """
    task, wrong = read_task_flags(arguments.replace("\0", ""), also=(_RESUME,))
    core, problems = task.text, [*wrong]
    source = read_source(core, environ)
    if isinstance(source, str):
        problems.append(source)
        source = Source()
    if (known := _find_run(served, core, source)) is not None:
        return {
            "resume_mode": "auto",
            "workspace": f"{SPECS}/{known.name}",
            "instruction": "call state_resume_info",
        }
    if source.type == "workspace":
        problems.append(
            f"{core} holds no run: name one of run_list, or say in words what is to be done"
        )
    if problems:
        return {"errors": [*problems]}
    name = workspace_name(now().date(), "", slug(core))
    proposal: dict[str, JsonValue] = {
        "workspace": f"{SPECS}/{name}",
        "spec_name": name.partition("-")[2],
        "source_type": source.type,
        "source_url": source.url,
        "source_id": source.id,
        "core_text": core,
        "flags": _make_flags(task, current_branch or checked_out(served.repository)),
        "fetch_needed": describe_fetch(source),
    }
    return {key: value for key, value in proposal.items() if value}


def _find_run(served: ServedRepository, core: str, source: Source) -> RunInfo | None:
    """Return the run that the input names, or the run under way for the same issue."""
    every = served.runs()
    name = read_run_name(core) if source.type == "workspace" else core
    if named := next((info for info in every if name in {info.name, info.branch}), None):
        return named
    for info in (info for info in every if source.url and not info.ended):
        # The address decides: an issue of another repository may have the same number.
        with suppress(ForgeError):
            known = run_snapshot(served.repository, info, served.config).state.source
            if known.url.rstrip("/").casefold() == source.url.rstrip("/").casefold():
                return info
    return None


def _make_flags(task: Start, current_branch: str) -> dict[str, JsonValue]:
    flags = InitFlags(
        auto=task.auto,
        skip_pr=task.skip_pr,
        debug=task.debug,
        discuss=task.discuss,
        effort_override=Effort(task.effort) if task.effort is not None else None,
        budget=task.budget.dollars,
        budget_tokens=task.budget.tokens,
        pipeline=task.pipeline or "",
        scope=task.scope,
        current_branch=current_branch,
    )
    return flags.model_dump(mode="json")
