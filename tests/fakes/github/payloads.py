"""What GitHub sends with an event, made from the state of the fake: what a workflow finds in
GITHUB_EVENT_PATH.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.fakes.github.description import description
from tests.fakes.github.people import User
from tests.fakes.github.render import checks, issues, repositories, stamp
from tests.fakes.github.render.people import user
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Check, Comment, Issue, Repository

if TYPE_CHECKING:
    from tests.fakes.github.world import World

# Named as in the description's x-webhooks; scripts/github-description reads this.
EVENTS = (
    *("issues-labeled", "issues-closed", "issues-reopened", "issue-comment-created"),
    *("check-suite-completed", "workflow-run-completed"),
)


class Payloads:
    """Payloads of one repository's events, sent by one person."""

    def __init__(self, hub: "World", repo: Repository, sender: User) -> None:
        self.hub, self.repo, self.sender = hub, repo, sender

    def made(self, event: str, **parts: Any) -> Thing:
        """The payload of `issues.labeled` and the like; an AssertionError says where it does not
        fit the description.
        """
        makers: dict[str, Callable[..., Thing]] = {
            "issues": self._issue,
            "issue_comment": self._comment,
            "check_suite": self._check_suite,
            "workflow_run": self._workflow_run,
        }
        name, _, action = event.partition(".")
        payload = {**makers[name](action=action, **parts), **self._around()}
        if action:
            payload["action"] = action
        found = description().check_payload("-".join(event.replace(".", "-").split("_")), payload)
        assert not found, found
        return payload

    def _around(self) -> Thing:
        around: Thing = {
            "repository": repositories.middle(self.hub.url, self.repo),
            "sender": user(self.hub.url, self.sender),
        }
        if self.repo.owner.type == "Organization":
            around["organization"] = self._organization()
        return around

    def _organization(self) -> Thing:
        owner, own = self.repo.owner, f"{self.hub.url}/orgs/{self.repo.owner.login}"
        about = {
            "login": owner.login,
            "id": owner.id,
            "node_id": f"O_{owner.id}",
            "url": own,
            "avatar_url": f"{self.hub.url}/avatars/{owner.id}",
        }
        plain = {f"{part}_url": f"{own}/{part}" for part in ("repos", "events", "hooks", "issues")}
        people = {
            "members_url": own + "/members{/member}",
            "public_members_url": own + "/public_members{/member}",
        }
        return {**about, **plain, **people, "description": None}

    def _issue(self, issue: Issue, action: str, label: str = "") -> Thing:
        about: Thing = {"issue": issues.issue(self.hub.url, self.repo, issue)}
        if label:
            found = self.repo.label(label)
            assert found is not None, f"no label is called {label}"
            about["label"] = issues.label(self.hub.url, self.repo, found)
        del action
        return about

    def _comment(self, comment: Comment, action: str) -> Thing:
        shown = issues.comment(self.hub.url, self.repo, comment)
        return {**self._issue(comment.issue, action), "comment": shown}

    def _check_suite(self, check: Check, action: str) -> Thing:
        del action
        return {"check_suite": checks.suite(self.hub.url, self.repo, check.suite, self.hub.actions)}

    def _workflow_run(
        self,
        check: Check,
        action: str,
        workflow: str = ".github/workflows/ci.yml",
        cause: str = "pull_request",
    ) -> Thing:
        shown = checks.workflow(self.hub.url, self.repo, workflow, "CI")
        suite, own = (
            checks.suite(self.hub.url, self.repo, check.suite, self.hub.actions),
            f"{self.hub.url}/repos/{self.repo.full_name}/actions",
        )
        run, actor = f"{own}/runs/{check.suite}", user(self.hub.url, self.sender)
        parts = ("jobs", "logs", "artifacts", "cancel", "rerun")
        kept = (
            "id",
            "head_branch",
            "head_sha",
            "status",
            "conclusion",
            "head_commit",
            "pull_requests",
            "created_at",
            "updated_at",
        )
        about: Thing = {name: suite[name] for name in kept} | {
            f"{part}_url": f"{run}/{part}" for part in parts
        }
        about |= {
            "name": "CI",
            "node_id": f"WFR_{check.suite}",
            "path": workflow,
            "display_title": "CI",
            "event": cause,
        }
        about |= {
            "run_number": 1,
            "run_attempt": 1,
            "run_started_at": stamp(check.at),
            "previous_attempt_url": None,
        }
        about |= {
            "check_suite_id": check.suite,
            "check_suite_node_id": suite["node_id"],
            "check_suite_url": suite["url"],
        }
        about |= {"workflow_id": shown["id"], "workflow_url": shown["url"], "url": run}
        about |= {
            "html_url": f"{self.hub.url}/{self.repo.full_name}/actions/runs/{check.suite}",
            "referenced_workflows": [],
        }
        about |= {
            "repository": suite["repository"],
            "head_repository": suite["repository"],
            "actor": actor,
            "triggering_actor": actor,
        }
        del action
        return {"workflow": shown, "workflow_run": about}
