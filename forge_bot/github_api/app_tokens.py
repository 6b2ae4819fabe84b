"""Tokens of a GitHub App: each for one repository, for an hour, fetched when it is needed."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from pydantic import Field

from forge_bot.errors import BadOption, NotOnGitHub, TokenRefused
from forge_bot.github_api.request_runner import ApiRequest, AppIdentity, RequestRunner
from forge_bot.github_api.types import FromGitHub
from forge_bot.sentences import say

APP_ID, APP_KEY = "FORGE_BOT_APP_ID", "FORGE_BOT_APP_KEY"
_LEAST_LEFT = timedelta(minutes=30)
"""The least remaining life of a token that is given out: the time of a usual visit."""
_PATIENCE = 10.0


class _InstallationWire(FromGitHub):
    id: int


class _TokenWire(FromGitHub):
    token: str
    expires_at: datetime = Field(strict=False)


def app_in(environ: Mapping[str, str]) -> AppIdentity | None:
    """Return the App in the environment; None without one. Raises BadOption for an incomplete one,
    and TokenRefused for a bad private key.
    """
    number, key = environ.get(APP_ID, "").strip(), environ.get(APP_KEY, "")
    if not number and not key:
        return None
    if not number or not key:
        raise BadOption(
            say("github.app_tokens.set_both", app_id=APP_ID, app_key=APP_KEY),
            hint=say("github.app_tokens.set_id_and_key"),
        )
    # A variable of one line is often written with \n in it.
    app = AppIdentity(number, key.replace("\\n", "\n"))
    try:
        app.auth().token  # noqa: B018 - it signs
    # The library for keys has errors of many kinds, and their words may show the key.
    except Exception:  # noqa: BLE001
        raise TokenRefused(
            say("github.app_tokens.key_is_unreadable", app_key=APP_KEY),
            hint=say("github.app_tokens.generate_a_key"),
        ) from None
    return app


class AppTokens:
    """The tokens of an App for repositories. Threads may share it."""

    def __init__(self, app: AppIdentity, address: str, now: Callable[[], datetime]) -> None:
        self._lock = threading.Lock()
        self._now = now
        self._kept: dict[str, _TokenWire] = {}
        self._runner = RequestRunner(address, app, wait=time.sleep, patience=_PATIENCE)

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

    def _fetched(self, repository: str) -> _TokenWire:
        errand = ApiRequest(
            say("github.requests.no_token_for_app", repository=repository), "installation"
        )
        try:
            found = self._runner.ask(errand, "GET", f"/repos/{repository}/installation")
        except NotOnGitHub:
            raise NotOnGitHub(
                say("github.app_tokens.not_installed", repository=repository),
                hint=say("github.app_tokens.install_the_app"),
            ) from None
        number = found.read(_InstallationWire).id
        path = f"/app/installations/{number}/access_tokens"
        body = {"repositories": [repository.partition("/")[2]]}
        return self._runner.ask(errand, "POST", path, body=body).read(_TokenWire)
