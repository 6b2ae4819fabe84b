"""GitHub Actions: what it may do, its secrets' names, its workflows, jobs and their logs."""

from typing import Any

import yaml

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import checks as render
from tests.fakes.github.render import stamp
from tests.fakes.github.replies import Refused, Reply, Thing, mapping, not_found
from tests.fakes.github.state import Check, Dispatch

_FOLDER = ".github/workflows"


@route("GET", R + "/actions/permissions", "administration=read", role=Role.ADMIN)
def permissions(call: Call) -> Reply:
    """Whether Actions run here at all."""
    return Reply(body={"enabled": True, "allowed_actions": "all", "sha_pinning_required": False})


@route("GET", R + "/actions/permissions/workflow", "administration=read", role=Role.ADMIN)
def workflow_permissions(call: Call) -> Reply:
    """What the token of Actions may do by default, and whether it may open pull requests."""
    may = call.repo.actions_may_open_pulls
    return Reply(
        body={
            "default_workflow_permissions": call.repo.workflow_permissions,
            "can_approve_pull_request_reviews": may,
        }
    )


@route("GET", R + "/actions/secrets", "secrets=read", role=Role.WRITE)
def secrets(call: Call) -> Reply:
    """The names of the secrets; nobody reads their values."""
    made = stamp(call.repo.created)
    lines = [{"name": name, "created_at": made, "updated_at": made} for name in call.repo.secrets]
    return Reply(body=lines, page=True, envelope="secrets")


def _files(call: Call) -> dict[str, Any]:
    """The workflow files of the default branch, by path, as far as they are YAML."""
    bare = call.repo.bare
    head = bare.head(bare.default_branch)
    folder = bare.entry(head, _FOLDER) if head else None
    entries = bare.folder(head, _FOLDER) if folder and folder.type == "tree" else []
    named = {
        f"{_FOLDER}/{entry.path}": entry.sha
        for entry in entries
        if entry.path.endswith((".yml", ".yaml"))
    }
    return {path: yaml.safe_load(bare.blob(sha).decode()) for path, sha in named.items()}


def _shown(call: Call, path: str, content: Any) -> Thing:
    name = mapping(content).get("name")
    return render.workflow(call.hub.url, call.repo, path, str(name or path))


def _workflow(call: Call) -> tuple[str, Any]:
    """The workflow that the address names by file name or number."""
    wanted = call.params["workflow_id"]
    for path, content in _files(call).items():
        if wanted in {path.rpartition("/")[2], str(render.workflow_id(path))}:
            return path, content
    raise not_found()


@route("GET", R + "/actions/workflows", "actions=read")
def workflows(call: Call) -> Reply:
    """The workflows of the default branch."""
    lines = [_shown(call, path, content) for path, content in _files(call).items()]
    return Reply(body=lines, page=True, envelope="workflows")


@route("GET", R + "/actions/workflows/{workflow_id}", "actions=read")
def workflow(call: Call) -> Reply:
    """One workflow."""
    return Reply(body=_shown(call, *_workflow(call)))


@route("POST", R + "/actions/workflows/{workflow_id}/dispatches", "actions=write", role=Role.WRITE)
def dispatch(call: Call) -> Reply:
    """Start a workflow that has a workflow_dispatch trigger, with inputs it knows."""
    (path, content), ref = _workflow(call), call.text("ref", "WorkflowDispatch")
    if not call.repo.bare.resolve(ref):
        raise Refused(422, f"No ref found for: {ref}")
    # YAML 1.1 reads the key `on` as true.
    triggers: Any = mapping(content).get("on", content.get(True))
    if "workflow_dispatch" not in (triggers if isinstance(triggers, list | dict) else [triggers]):
        raise Refused(422, "Workflow does not have 'workflow_dispatch' trigger")
    known = mapping(mapping(mapping(triggers).get("workflow_dispatch")).get("inputs"))
    inputs = mapping(call.given().get("inputs"))
    if unknown := sorted(set(inputs) - set(known)):
        raise Refused(422, f'Unexpected inputs provided: ["{unknown[0]}"]')
    call.repo.dispatches.append(Dispatch(path, ref, dict(inputs), call.someone))
    return Reply(204)


def _job(call: Call) -> Check:
    text = call.params["job_id"]
    found = call.repo.checks.get(int(text)) if text.isdigit() else None
    if found is None or found.log is None:
        raise not_found()
    return found


@route("GET", R + "/actions/jobs/{job_id}", "actions=read")
def job(call: Call) -> Reply:
    """A job: the check run of the same id."""
    return Reply(body=render.job(call.hub.url, call.repo, _job(call)))


@route("GET", R + "/actions/jobs/{job_id}/logs", "actions=read")
def logs(call: Call) -> Reply:
    """Where the log lies: at another host, for a minute, for whoever has the address."""
    found = _job(call)
    if call.token is None:
        raise Refused(403, "Must have admin rights to Repository.")
    return Reply(
        302, None, {"Location": f"{call.hub.storage_url}/logs/{call.repo.id}/{found.id}?sig=signed"}
    )
