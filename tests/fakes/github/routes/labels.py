"""Labels of a repository, and on its issues."""

import re
from collections.abc import Sequence

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import issues as render
from tests.fakes.github.replies import Reply, Thing, mapping, not_found, sequence, unfit
from tests.fakes.github.state import Issue, Label

_BOTH = ("issues=write", "pull_requests=write")
_SEEN = ("issues=read", "pull_requests=read")


def _found(call: Call) -> Label:
    found = call.repo.label(call.params["name"])
    if found is None:
        raise not_found()
    return found


def _color(given: Thing, color: str) -> str:
    color = str(given.get("color", color))
    if not re.fullmatch("[0-9a-fA-F]{6}", color):
        raise unfit("Label", "color")
    return color.lower()


def _described(given: Thing) -> str | None:
    text = given.get("description")
    if isinstance(text, str) and len(text) > 100:
        raise unfit(
            "Label", "description", "custom", "description is too long (maximum is 100 characters)"
        )
    return text


@route("GET", R + "/labels", *_SEEN)
def labels(call: Call) -> Reply:
    """All labels of the repository."""
    return Reply(
        body=[render.label(call.hub.url, call.repo, found) for found in call.repo.labels], page=True
    )


@route("POST", R + "/labels", *_BOTH, role=Role.WRITE)
def create_label(call: Call) -> Reply:
    """A new label; a name that exists is refused."""
    name, given = call.text("name", "Label"), call.given()
    if call.repo.label(name):
        raise unfit("Label", "name", "already_exists")
    found = Label(call.hub.next_id(), name, _color(given, "ededed"), _described(given))
    call.repo.labels.append(found)
    body = render.label(call.hub.url, call.repo, found)
    return Reply(201, body, {"Location": body["url"]})


@route("GET", R + "/labels/{name}", *_SEEN)
def label(call: Call) -> Reply:
    """One label."""
    return Reply(body=render.label(call.hub.url, call.repo, _found(call)))


def _on(call: Call, issue: Issue) -> Reply:
    issue.updated = call.hub.clock.tick()
    return Reply(body=[render.label(call.hub.url, call.repo, found) for found in issue.labels])


def named(call: Call, wanted: Sequence[object]) -> list[Label]:
    """The labels of those names; GitHub makes the ones that do not exist, for those who may
    triage.
    """
    found: list[Label] = []
    for each in wanted:
        name = each if isinstance(each, str) else mapping(each).get("name")
        if not isinstance(name, str) or not name.strip():
            raise unfit("Label", "name", "missing_field")
        label = call.repo.label(name)
        if label is None:
            label = Label(call.hub.next_id(), name)
            call.repo.labels.append(label)
        found += [label] if label not in found else []
    return found


def set_labels(call: Call, issue: Issue, wanted: Sequence[Label]) -> None:
    """Give an issue these labels, with an event for each that it did not have and each that it
    loses.
    """
    for kind, changed in (
        ("unlabeled", [each for each in issue.labels if each not in wanted]),
        ("labeled", wanted),
    ):
        for label in changed:
            if kind == "unlabeled" or label not in issue.labels:
                call.hub.happened(issue, kind, call.user, label=label)
    issue.labels = list(wanted)


def _wanted(call: Call) -> list[Label]:
    return named(call, sequence(mapping(call.body).get("labels")) or sequence(call.body))


@route("POST", R + "/issues/{issue_number}/labels", *_BOTH, role=Role.TRIAGE)
def add_labels(call: Call) -> Reply:
    """Add labels to those that are there."""
    issue = call.issue()
    set_labels(
        call,
        issue,
        [*issue.labels, *(label for label in _wanted(call) if label not in issue.labels)],
    )
    return _on(call, issue)


@route("DELETE", R + "/issues/{issue_number}/labels/{name}", *_BOTH, role=Role.TRIAGE)
def remove_label(call: Call) -> Reply:
    """Take a label off."""
    issue, gone = call.issue(), _found(call)
    if gone not in issue.labels:
        raise not_found()
    set_labels(call, issue, [label for label in issue.labels if label is not gone])
    return _on(call, issue)
