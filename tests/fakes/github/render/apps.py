"""Installations of Apps and their tokens in GitHub's JSON."""

from datetime import timedelta

from forge_bot.runs.this_process import now
from tests.fakes.github.people import App, Clock
from tests.fakes.github.render import people, stamp
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Repository


def installation(url: str, app: App, repo: Repository) -> Thing:
    """An App at the owner of a repository."""
    number, began = app.installed[repo.id], stamp(Clock().seconds)
    return {
        "id": number,
        "account": people.user(url, repo.owner),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/app/installations/{number}/access_tokens",
        "repositories_url": f"{url}/installation/repositories",
        "html_url": f"{url}/settings/installations/{number}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": repo.owner.id,
        "target_type": repo.owner.type,
        "permissions": app.permissions,
        "events": [],
        "created_at": began,
        "updated_at": began,
        "single_file_name": None,
        "suspended_by": None,
        "suspended_at": None,
    }


def token(app: App, text: str) -> Thing:
    """A token for an installation. Its end is told in the time of the one who asks."""
    ends = now() + timedelta(seconds=app.seconds)
    return {
        "token": text,
        "expires_at": f"{ends:%Y-%m-%dT%H:%M:%SZ}",
        "permissions": app.permissions,
        "repository_selection": "selected",
    }
