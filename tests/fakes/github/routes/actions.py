"""GitHub Actions: what it may do, its secrets' names, its workflows, jobs and their logs."""

import base64

from nacl.public import SealedBox

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import checks as render
from tests.fakes.github.render import stamp
from tests.fakes.github.replies import Refused, Reply, mapping, not_found
from tests.fakes.github.state import Check, Dispatch


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


@route("PUT", R + "/actions/permissions/workflow", "administration=write", role=Role.ADMIN)
def set_workflow_permissions(call: Call) -> Reply:
    """Change them."""
    given = call.given()
    call.repo.workflow_permissions = given.get(
        "default_workflow_permissions", call.repo.workflow_permissions
    )
    call.repo.actions_may_open_pulls = given.get(
        "can_approve_pull_request_reviews", call.repo.actions_may_open_pulls
    )
    return Reply(204)


@route("GET", R + "/actions/secrets/public-key", "secrets=read", role=Role.WRITE)
def public_key(call: Call) -> Reply:
    """The key that secrets are sealed for."""
    key = bytes(call.hub.key_for_secrets.public_key)
    return Reply(body={"key_id": "1", "key": base64.b64encode(key).decode()})


@route("PUT", R + "/actions/secrets/{secret_name}", "secrets=write", role=Role.WRITE)
def put_secret(call: Call) -> Reply:
    """Store a secret, which has to be sealed for the key."""
    sealed = base64.b64decode(call.text("encrypted_value", "Secret"))
    call.hub.secret_values[call.params["secret_name"]] = (
        SealedBox(call.hub.key_for_secrets).decrypt(sealed).decode()
    )
    call.repo.secrets.append(call.params["secret_name"])
    return Reply(201, {})


@route("GET", R + "/actions/runs", "actions=read")
def runs(call: Call) -> Reply:
    """The runs of workflows."""
    lines = [render.workflow_run(call.hub.url, call.repo, run) for run in call.repo.runs]
    return Reply(body=lines, page=True, envelope="workflow_runs")


@route("GET", R + "/actions/secrets", "secrets=read", role=Role.WRITE)
def secrets(call: Call) -> Reply:
    """The names of the secrets; nobody reads their values."""
    made = stamp(call.repo.created)
    lines = [{"name": name, "created_at": made, "updated_at": made} for name in call.repo.secrets]
    return Reply(body=lines, page=True, envelope="secrets")


@route("GET", R + "/actions/workflows/{workflow_id}", "actions=read")
def workflow(call: Call) -> Reply:
    """A workflow of the default branch, by the name of its file."""
    path = f".github/workflows/{call.params['workflow_id']}"
    if call.repo.bare.read(call.repo.bare.default_branch, path) is None:
        raise not_found()
    return Reply(body=render.workflow(call.hub.url, call.repo, path, "forge-bot"))


@route("POST", R + "/actions/workflows/{workflow_id}/dispatches", "actions=write", role=Role.WRITE)
def dispatch(call: Call) -> Reply:
    """Start a workflow that can be started by hand."""
    number, ref = call.params["workflow_id"], call.text("ref", "Workflow")
    paths = call.repo.bare.texts(ref, ".github/workflows/*")
    name = next(
        (
            path.rpartition("/")[2]
            for path in paths
            if number in {str(render.workflow_id(path)), path.rpartition("/")[2]}
        ),
        None,
    )
    if call.user is None or name is None:
        raise not_found()
    inputs = dict(mapping(call.given().get("inputs") or {}))
    call.repo.dispatches.append(Dispatch(name, ref, inputs, call.user))
    return Reply(204)


@route("GET", R + "/environments/{environment_name}", "actions=read")
def environment(call: Call) -> Reply:
    """An environment of jobs."""
    name, made = call.params["environment_name"], stamp(call.repo.created)
    if name not in call.repo.environments:
        raise not_found()
    page = (
        f"{call.hub.url}/{call.repo.full_name}/deployments/activity_log?environments_filter={name}"
    )
    body = {"id": 1, "node_id": f"EN_{name}", "name": name, "html_url": page}
    own = f"{call.hub.url}/repos/{call.repo.full_name}/environments/{name}"
    return Reply(body={**body, "url": own, "created_at": made, "updated_at": made})


@route("GET", R + "/environments/{environment_name}/secrets", "environments=read", role=Role.WRITE)
def environment_secrets(call: Call) -> Reply:
    """The names of the secrets that only jobs of an environment get."""
    made, names = stamp(call.repo.created), call.repo.environments
    lines = [
        {"name": name, "created_at": made, "updated_at": made}
        for name in names.get(call.params["environment_name"], [])
    ]
    return Reply(body=lines, page=True, envelope="secrets")


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
