"""Check runs, suites, statuses, workflows and jobs in GitHub's JSON."""

from collections.abc import Sequence
from zlib import crc32

from tests.fakes.github.people import User
from tests.fakes.github.render import stamp
from tests.fakes.github.render.people import app, user
from tests.fakes.github.render.repositories import short
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Check, Repository, Status, WorkflowRun


def pulls_at(url: str, repo: Repository, sha: str) -> list[Thing]:
    """The open pull requests that stand at a commit, in few words."""
    here = {"id": repo.id, "url": f"{url}/repos/{repo.full_name}", "name": repo.name}
    found: list[Thing] = []
    for issue in repo.issues.values():
        if issue.pull and issue.state == "open" and repo.bare.head(issue.pull.head) == sha:
            ends = {
                "head": (issue.pull.head, sha),
                "base": (issue.pull.base, repo.bare.head(issue.pull.base)),
            }
            about: Thing = {
                "id": issue.id,
                "number": issue.number,
                "url": f"{here['url']}/pulls/{issue.number}",
            }
            found.append(
                about
                | {
                    name: {"ref": at, "sha": commit, "repo": here}
                    for name, (at, commit) in ends.items()
                }
            )
    return found


def check(url: str, repo: Repository, found: Check, actions: User) -> Thing:
    """A check run; one that Actions made is a job of the same id."""
    own = f"{url}/repos/{repo.full_name}/check-runs/{found.id}"
    page = f"{url}/{repo.full_name}/actions/runs/{found.suite}/job/{found.id}"
    output = {"title": found.title, "summary": found.summary, "text": found.text}
    return {
        "id": found.id,
        "name": found.name,
        "node_id": f"CR_{found.id}",
        "head_sha": found.sha,
        "external_id": "",
        "url": own,
        "html_url": page,
        "details_url": page,
        "status": found.status,
        "conclusion": found.conclusion,
        "started_at": stamp(found.at),
        "completed_at": stamp(found.at) if found.status == "completed" else None,
        "output": {**output, "annotations_count": 0, "annotations_url": f"{own}/annotations"},
        "check_suite": {"id": found.suite},
        "app": app(url, actions),
        "pull_requests": pulls_at(url, repo, found.sha),
    }


def verdict(checks: Sequence[Check]) -> tuple[str, str | None]:
    """Status and conclusion of a suite, from its runs."""
    if any(found.status != "completed" for found in checks):
        return "in_progress", None
    bad = next(
        (
            found.conclusion
            for found in checks
            if found.conclusion not in {"success", "neutral", "skipped"}
        ),
        None,
    )
    return "completed", bad or "success"


def simple_commit(repo: Repository, sha: str) -> Thing:
    """A commit as runs and suites carry it."""
    found = repo.bare.show(sha)
    author, committer = (
        {"name": who[0], "email": who[1]} for who in (found.author, found.committer)
    )
    about = {
        "id": sha,
        "tree_id": found.tree,
        "message": found.message,
        "timestamp": found.committer[2],
    }
    return {**about, "author": author, "committer": committer}


def branch_at(repo: Repository, sha: str) -> str | None:
    """A branch that stands at a commit."""
    return next(
        (
            name.removeprefix("refs/heads/")
            for name, at in repo.bare.refs("refs/heads").items()
            if at == sha
        ),
        None,
    )


def suite(url: str, repo: Repository, suite_id: int, actions: User) -> Thing:
    """A check suite: the check runs with its id."""
    checks = [found for found in repo.checks.values() if found.suite == suite_id]
    status, conclusion = verdict(checks)
    own, sha = f"{url}/repos/{repo.full_name}/check-suites/{suite_id}", checks[0].sha
    return {
        "id": suite_id,
        "node_id": f"CS_{suite_id}",
        "head_branch": branch_at(repo, sha),
        "head_sha": sha,
        "status": status,
        "conclusion": conclusion,
        "url": own,
        "before": None,
        "after": sha,
        "pull_requests": pulls_at(url, repo, sha),
        "app": app(url, actions),
        "repository": short(url, repo),
        "created_at": stamp(checks[0].at),
        "updated_at": stamp(checks[-1].at),
        "head_commit": simple_commit(repo, sha),
        "latest_check_runs_count": len(checks),
        "check_runs_url": f"{own}/check-runs",
    }


def status(url: str, repo: Repository, found: Status) -> Thing:
    """A commit status."""
    about: Thing = {
        "url": f"{url}/repos/{repo.full_name}/statuses/{found.sha}",
        "avatar_url": f"{url}/avatars/{found.user.id}",
    }
    about |= {
        "id": found.id,
        "node_id": f"SC_{found.id}",
        "state": found.state,
        "description": found.description,
    }
    about |= {
        "target_url": found.target,
        "context": found.context,
        "creator": user(url, found.user),
    }
    return {**about, "created_at": stamp(found.at), "updated_at": stamp(found.at)}


def workflow_id(path: str) -> int:
    """The number of a workflow: the same for the same path."""
    return crc32(path.encode())


def workflow(url: str, repo: Repository, path: str, name: str) -> Thing:
    """A workflow file of the default branch."""
    number, made = workflow_id(path), stamp(repo.created)
    page, file = f"{url}/{repo.full_name}", path.rpartition("/")[2]
    return {
        "id": number,
        "node_id": f"W_{number}",
        "name": name,
        "path": path,
        "state": repo.workflow_state,
        "created_at": made,
        "updated_at": made,
        "url": f"{url}/repos/{repo.full_name}/actions/workflows/{number}",
        "html_url": f"{page}/blob/{repo.bare.default_branch}/{path}",
        "badge_url": f"{page}/actions/workflows/{file}/badge.svg",
    }


def workflow_run(url: str, repo: Repository, run: WorkflowRun) -> Thing:
    """A run of the bot's workflow, on the default branch."""
    sha, own = (
        repo.bare.head(repo.bare.default_branch),
        f"{url}/repos/{repo.full_name}/actions/runs/{run.id}",
    )
    shown = workflow(url, repo, ".github/workflows/forge-bot.yml", "forge-bot")
    parts = ("jobs", "logs", "check_suite", "artifacts", "cancel", "rerun")
    return {
        "id": run.id,
        "node_id": f"WFR_{run.id}",
        "name": shown["name"],
        "path": shown["path"],
        "display_title": run.title,
        "head_branch": repo.bare.default_branch,
        "head_sha": sha,
        "head_commit": simple_commit(repo, sha),
        "run_number": run.id,
        "run_attempt": 1,
        "event": run.event,
        "status": "completed",
        "conclusion": run.conclusion,
        "workflow_id": shown["id"],
        "workflow_url": shown["url"],
        "url": own,
        "html_url": f"{url}/{repo.full_name}/actions/runs/{run.id}",
        "pull_requests": [],
        "created_at": stamp(run.began),
        "run_started_at": stamp(run.began),
        "updated_at": stamp(run.ended),
        "actor": user(url, run.actor),
        "triggering_actor": user(url, run.actor),
        "repository": short(url, repo),
        "head_repository": short(url, repo),
        **{f"{part}_url": f"{own}/{part}" for part in parts},
    }


def job(url: str, repo: Repository, found: Check) -> Thing:
    """The job behind a check run of Actions."""
    own = f"{url}/repos/{repo.full_name}/actions"
    at = stamp(found.at)
    return {
        "id": found.id,
        "run_id": found.suite,
        "run_url": f"{own}/runs/{found.suite}",
        "node_id": f"CR_{found.id}",
        "head_sha": found.sha,
        "url": f"{own}/jobs/{found.id}",
        "html_url": f"{url}/{repo.full_name}/actions/runs/{found.suite}/job/{found.id}",
        "status": found.status,
        "conclusion": found.conclusion,
        **dict.fromkeys(("created_at", "started_at", "completed_at"), at),
        "name": found.name,
        "check_run_url": f"{url}/repos/{repo.full_name}/check-runs/{found.id}",
        "labels": ["ubuntu-latest"],
        **dict.fromkeys(("runner_id", "runner_name", "runner_group_id", "runner_group_name")),
        "workflow_name": "CI",
        "head_branch": branch_at(repo, found.sha),
    }
