"""Tokens of a GitHub App: each for one repository, for an hour, fetched when it is needed."""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.errors import BadOption, NotOnGitHub, TokenRefused
from forge_bot.gate.json_payload import Node
from forge_bot.github_api.github_calls import call, checked_address, make_client

if TYPE_CHECKING:
    from github import Auth

APP_ID, APP_KEY = "FORGE_BOT_APP_ID", "FORGE_BOT_APP_KEY"
_LEAST_LEFT = timedelta(minutes=30)
"""The least remaining life of a token that is given out: the time of a usual visit."""
_PATIENCE = 10.0
_TIMEOUT = 20


class AppIdentity(NamedTuple):
    """An App, by its id and its private key; it asks for tokens and does nothing else."""

    id: str
    key: str

    def __repr__(self) -> str:
        """Return its name without the key."""
        return f"AppIdentity({self.id})"

    def auth(self) -> "Auth.AppAuth":
        """Return what signs requests as the App."""
        from github import Auth

        return Auth.AppAuth(self.id, self.key)


class _Token(NamedTuple):
    token: str
    expires_at: datetime


def app_in(environ: Mapping[str, str]) -> AppIdentity | None:
    """Return the App in the environment; None without one. Raises BadOption for an incomplete one,
    and TokenRefused for a bad private key.
    """
    number, key = environ.get(APP_ID, "").strip(), environ.get(APP_KEY, "")
    if not number and not key:
        return None
    if not number or not key:
        raise BadOption(
            f"{APP_ID} and {APP_KEY} belong together.",
            hint="Set the App's id, or its client id, and its private key (PEM).",
        )
    # A variable of one line is often written with \n in it.
    app = AppIdentity(number, key.replace("\\n", "\n"))
    try:
        app.auth().token  # noqa: B018 - it signs
    # The library for keys has errors of many kinds, and their words may show the key.
    except Exception:  # noqa: BLE001
        raise TokenRefused(
            f"{APP_KEY} is no private key of an App; nothing was sent.",
            hint="Generate one in the App's settings, and set the whole PEM file.",
        ) from None
    return app


class AppTokens:
    """The tokens of an App for repositories. Threads may share it."""

    def __init__(self, app: AppIdentity, address: str, now: Callable[[], datetime]) -> None:
        self._lock = threading.Lock()
        self._now = now
        self._kept: dict[str, _Token] = {}
        self._app, self._address = app, checked_address(address)

    def token(self, repository: str) -> str:
        """Return a token for the repository (owner/name). Raises a GitHubError."""
        with self._lock:
            kept = self._kept.get(repository)
            if kept is None or kept.expires_at - self._now() < _LEAST_LEFT:
                kept = self._kept[repository] = self._fetched(repository)
            return kept.token

    def forget(self, repository: str) -> None:
        """Fetch a new token next time: this one may have been revoked."""
        with self._lock:
            self._kept.pop(repository, None)

    def _fetched(self, repository: str) -> _Token:
        client = make_client(self._address, self._app.auth(), _TIMEOUT)

        def fetch() -> _Token:
            ask = client.requester.requestJsonAndCheck
            number = Node(ask("GET", f"/repos/{repository}/installation")[1]).number("id")
            body = {"repositories": [repository.partition("/")[2]]}
            path = f"/app/installations/{number}/access_tokens"
            answer = Node(ask("POST", path, input=body)[1])
            return _Token(answer.text("token"), datetime.fromisoformat(answer.text("expires_at")))

        what = f"no token for {repository} was given to the App"
        try:
            return call(what, "installation", fetch, patience=_PATIENCE)
        except NotOnGitHub:
            raise NotOnGitHub(
                f"The App is not installed for {repository}, or there is no such repository.",
                hint="Install it there. The worker looks again by itself.",
            ) from None
