"""The source of a task: an issue by its whole URL, a run's folder, or words; and how a host
reads the issue.

URL forms: https://docs.github.com/en/rest/issues, https://support.atlassian.com/jira
(`/browse/KEY-1`) and Linear's `/TEAM/issue/KEY-1[/title]`. A URL counts only as a whole; words
around it make the input text.
"""

import os
import re
from collections.abc import Mapping

from forge_bot.github_api.issue import parse_issue_url
from forge_bot.lazy_regex import lazy_regex
from forge_bot.mcp_server.tool_schemas import FetchNeeded, SourceType
from forge_bot.sentences import say
from forge_bot.store import SPECS
from forge_bot.values import Frozen, Source

HOSTS = "FORGE_BOT_GITHUB_HOSTS"
"""Variable with more hosts of GitHub Enterprise Server, separated by commas or blanks. GH_HOST
counts too."""

_SHORTEST = 3
_URL = lazy_regex(r"https?://\S+", re.IGNORECASE)
_FOLDER = lazy_regex(
    rf"(?:\./|(?:~|[A-Za-z]:)?/(?:[^\n]*/)?)?{re.escape(SPECS)}/(?P<name>[^/\s]*)(?:/\S*)?"
)
_JIRA = lazy_regex(
    r"https://(?P<host>[a-z0-9][a-z0-9-]{0,62}\.atlassian\.net)/browse/"
    r"(?P<id>[A-Z][A-Z0-9_]{0,30}-[1-9]\d{0,9})/?(?:[?#]\S*)?",
    re.ASCII,
)
_LINEAR = lazy_regex(
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
