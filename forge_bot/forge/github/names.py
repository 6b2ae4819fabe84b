"""GitHub's addresses, paths and variables, for every room that needs them, and the run of a
workflow that a step belongs to. Standard library only; another forge has other ones.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from forge_bot.errors import NotInAction

HOST = "github.com"
DOWNLOAD_HOSTS = (
    *(HOST, f"api.{HOST}", f"codeload.{HOST}", "raw.githubusercontent.com"),
    *("objects.githubusercontent.com", "release-assets.githubusercontent.com"),
)
"""The hosts that packages and toolchains are downloaded from."""

FOLDER = ".github"
"""The folder of a repository with what GitHub reads."""
WORKFLOWS = f"{FOLDER}/workflows"
GUIDE_FOLDERS = (f"{FOLDER}/", "", "docs/")
"""The folders in which GitHub searches for guides and templates, in its order."""
CODE_OWNERS = tuple(f"{folder}CODEOWNERS" for folder in GUIDE_FOLDERS)
"""Where the owners of paths stand; the first file that is there counts."""

OWN_ADDRESS = f"forge-bot@users.noreply.{HOST}"
"""The address in commits of forge-bot itself."""

COMMENT_ANCHOR = "#issuecomment-"
"""In every address of a comment."""
COMMENT_LINK = re.compile(
    r"https?://[^/\s]+/(?P<name>[^/\s]+/[^/\s]+)/(?:issues|pull)/(?P<issue>\d{1,9})"
    rf"{COMMENT_ANCHOR}(?P<comment>\d{{1,15}})"
)
"""The address of a comment."""

_NUMBER = re.compile(r"/(?:issues|pull)/(\d+)/?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_OF_GATE = (
    *("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY"),
    *("GITHUB_ACTOR", "GITHUB_OUTPUT", "GITHUB_TOKEN"),
)


def number_of(address: str) -> int:
    """Return the number of the issue or pull request at an address; 0 without one."""
    match = _NUMBER.search(address)
    return int(match[1]) if match is not None and match.end() == len(address) else 0


PAGES = {
    "file": "blob/{commit}/{path}",
    "folder": "tree/{commit}/{path}",
    "commit": "commit/{commit}",
    "branches": "branches",
    "issue": "issues/{number}",
    "pull request": "pull/{number}",
    "comparison": "compare/{base}...{branch}?expand=1",
    "settings": "settings/actions",
    "secrets": "settings/secrets/actions",
    "labels": "labels",
}
"""The pages of a repository, below its own address."""

PULL_PAGE = r"https?://\S+/pull/"
"""The address of a pull request before its number, as a regular expression."""


def page_of(repository: str, page: str, **parts: str) -> str:
    """Return the address of a page of `PAGES`, in the repository at this address."""
    quoted = {name: quote(part) for name, part in parts.items()}
    return f"{repository}/{PAGES[page].format(**quoted)}".rstrip("/")


ADDRESSES = ("GITHUB_SERVER_URL", "GITHUB_API_URL")
"""Variables with the addresses of the server."""


LOGIN_VARIABLE = "GITHUB_TOKEN"
JOB_NEEDS = ("GITHUB_REPOSITORY", LOGIN_VARIABLE)
"""Variables that no job can do without."""
JOB_PREFIXES = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_", "STATE_")
"""How the names of a workflow's own variables begin."""
MACHINE_VARIABLES = ("RUNNER_TEMP", "RUNNER_OS", "RUNNER_ARCH", "RUNNER_TOOL_CACHE")
"""Those of them that tell of the machine alone."""
CREDENTIALS = r"GITHUB_TOKEN|GH_TOKEN|ACTIONS_\w+"
"""Variables with tokens, as a regular expression."""


def is_job(environ: Mapping[str, str]) -> bool:
    """Return whether this is a job that GitHub runs."""
    return environ.get("GITHUB_ACTIONS") == "true"


def token_of(environ: Mapping[str, str]) -> str | None:
    """Return the token of a job, or of the person at a terminal."""
    return environ.get(LOGIN_VARIABLE) or environ.get("GH_TOKEN")


def server_of(environ: Mapping[str, str]) -> str:
    """Return the address of the server."""
    return (environ.get("GITHUB_SERVER_URL") or f"https://{HOST}").rstrip("/")


def hosts_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that a token may be sent to: only those in the user's own environment."""
    return tuple(host for host in (HOST, environ.get("GH_HOST", "").lower()) if host)


def api_of(server: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the address of the API of a server, unless the environment names it."""
    named = (environ or {}).get("GITHUB_API_URL", "")
    usual = f"https://api.{HOST}" if server == f"https://{HOST}" else f"{server}/api/v3"
    return (named or usual).rstrip("/")


def job_variables(repository: str, run_id: str, payload: str, outputs: str) -> dict[str, str]:
    """Return the variables of a step, for one that no workflow starts."""
    return {
        "GITHUB_REPOSITORY": repository,
        "GITHUB_RUN_ID": run_id,
        "GITHUB_EVENT_PATH": payload,
        "GITHUB_OUTPUT": outputs,
        "GITHUB_STEP_SUMMARY": "",
    }


@dataclass(frozen=True, slots=True)
class StepContext:
    """The run of the workflow that this step belongs to."""

    event: str
    payload: str
    repository: str
    server: str
    api: str
    token: str
    actor: str
    triggering_actor: str
    run_url: str
    attempt: int
    outputs: str
    summary: str


def read_step_context(
    environ: Mapping[str, str], needed: tuple[str, ...] = _OF_GATE
) -> StepContext:
    """Return the variables of
    https://docs.github.com/en/actions/reference/workflows-and-actions/variables. Raises
    NotInAction.
    """
    if missing := [name for name in needed if not environ.get(name)]:
        raise NotInAction(f"This step needs {', '.join(missing)} in its environment.")
    repository, server = environ["GITHUB_REPOSITORY"], server_of(environ)
    if not _REPOSITORY.fullmatch(repository):
        raise NotInAction(f"GITHUB_REPOSITORY is {repository!r}, which is no owner/name.")
    actor, attempt = environ.get("GITHUB_ACTOR", ""), environ.get("GITHUB_RUN_ATTEMPT", "")
    return StepContext(
        event=environ.get("GITHUB_EVENT_NAME", ""),
        payload=environ.get("GITHUB_EVENT_PATH", ""),
        repository=repository,
        server=server,
        api=api_of(server, environ),
        token=environ[LOGIN_VARIABLE],
        actor=actor,
        # Old servers do not tell who started the run. The first time that is the actor; later
        # nobody can say.
        triggering_actor=environ.get("GITHUB_TRIGGERING_ACTOR", "")
        or (actor if attempt == "1" else ""),
        run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
        attempt=int(attempt) if attempt.isdecimal() else 1,
        outputs=environ.get("GITHUB_OUTPUT", ""),
        summary=environ.get("GITHUB_STEP_SUMMARY", ""),
    )
