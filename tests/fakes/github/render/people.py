"""Accounts and Apps in GitHub's JSON."""

from urllib.parse import quote

from tests.fakes.github.people import Clock, User
from tests.fakes.github.render import stamp
from tests.fakes.github.replies import Thing

_PARTS = ("followers", "subscriptions", "repos", "received_events")
ACTIONS = "github-actions"


def user(url: str, account: User) -> Thing:
    """An account, as it stands in other things."""
    own = f"{url}/users/{quote(account.login, safe='')}"
    page = account.login.removesuffix("[bot]")
    return {
        "login": account.login,
        "id": account.id,
        "node_id": f"U_{account.id}",
        "avatar_url": f"{url}/avatars/{account.id}",
        "gravatar_id": "",
        "url": own,
        "html_url": f"{url}/apps/{page}" if account.type == "Bot" else f"{url}/{page}",
        "following_url": own + "/following{/other_user}",
        "gists_url": own + "/gists{/gist_id}",
        "starred_url": own + "/starred{/owner}{/repo}",
        "organizations_url": f"{own}/orgs",
        "events_url": own + "/events{/privacy}",
        "type": account.type,
        "site_admin": False,
        "user_view_type": "public",
        **{f"{part}_url": f"{own}/{part}" for part in _PARTS},
    }


def account(url: str, person: User) -> Thing:
    """An account by itself, as everybody may see it."""
    unknown = dict.fromkeys(("company", "location", "email", "hireable", "bio"))
    counted = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    began = stamp(Clock().seconds)
    return {
        **user(url, person),
        "name": person.login,
        "blog": "",
        **unknown,
        **counted,
        "created_at": began,
        "updated_at": began,
    }


def app(url: str, owner: User, slug: str = ACTIONS) -> Thing:
    """The App that made a check."""
    began = stamp(Clock().seconds)
    return {
        "id": 15368,
        "slug": slug,
        "node_id": "A_15368",
        "client_id": "Iv1.05c79e9ad1f6bdfa",
        "owner": user(url, owner),
        "name": "GitHub Actions",
        "description": "Automate your workflow from idea to production",
        "external_url": "https://help.github.com/en/actions",
        "html_url": f"{url}/apps/{slug}",
        "created_at": began,
        "updated_at": began,
        "permissions": {
            "actions": "write",
            "checks": "write",
            "contents": "write",
            "issues": "write",
            "metadata": "read",
        },
        "events": ["check_run", "check_suite", "push"],
    }
