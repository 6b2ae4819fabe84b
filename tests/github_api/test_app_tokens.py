"""An App's tokens: one for each repository, kept while they are good, and what stands in the way."""

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from forge_bot.errors import ForgeError, GitHubError, NotOnGitHub, RateLimited, TokenRefused
from forge_bot.github_api.app_tokens import APP_ID, APP_KEY, AppIdentity, AppTokens, app_in
from forge_bot.github_api.pygithub import GitHub
from forge_bot.runs.this_process import now
from forge_bot.sentences import hint_of
from tests.fakes.github import FakeGitHub
from tests.fakes.github.people import App
from tests.fakes.github.state import Repository


def key_pair() -> tuple[str, str]:
    """A private key as GitHub hands it out, and its public half."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


PRIVATE, PUBLIC = key_pair()


@pytest.fixture
def repo(github: FakeGitHub) -> Repository:
    return github.repository("octo/widget", private=True)


@pytest.fixture
def app(github: FakeGitHub, repo: Repository) -> App:
    app = github.app("forge[bot]", PUBLIC, issues="write")
    github.install(app, repo)
    return app


@pytest.fixture
def tokens(github: FakeGitHub, app: App) -> AppTokens:
    return AppTokens(AppIdentity(str(app.id), PRIVATE), github.url, now)


def asked(github: FakeGitHub) -> int:
    """How often a token was asked for."""
    return sum(each.path.endswith("/access_tokens") for each in github.exchanges)


def test_a_token_is_the_apps_own_for_one_repository_and_is_fetched_once(
    github: FakeGitHub, repo: Repository, tokens: AppTokens
) -> None:
    issue = github.issue(repo, "An issue")
    token = tokens.token("octo/widget")
    assert tokens.token("octo/widget") == token
    assert asked(github) == 1
    with GitHub("octo/widget", token, github.url) as client:
        client.comment(issue.number, "Hello.")
    (comment,) = issue.comments
    assert comment.user is not None
    assert comment.user.login == "forge[bot]"
    other = github.repository("octo/other", private=True)
    with GitHub(other.full_name, token, github.url) as client, pytest.raises(NotOnGitHub):
        client.issue(1)


def test_one_that_ends_soon_or_was_taken_back_is_fetched_anew(
    github: FakeGitHub, app: App, tokens: AppTokens
) -> None:
    first = tokens.token("octo/widget")
    tokens.forget("octo/widget")
    app.seconds = 29 * 60
    assert len({first, tokens.token("octo/widget"), tokens.token("octo/widget")}) == 3
    assert asked(github) == 3


def test_no_installation_no_repository_and_a_limit_are_told_apart_from_each_other(
    github: FakeGitHub, repo: Repository, app: App, tokens: AppTokens
) -> None:
    github.uninstall(app, repo)
    for name in ("octo/widget", "octo/gone"):
        with pytest.raises(NotOnGitHub, match="not installed for octo/"):
            tokens.token(name)
    github.faults.secondary("GET .*/installation", 3600)
    with pytest.raises(RateLimited) as limited:
        tokens.token("octo/widget")
    assert limited.value.seconds == 3600


def test_another_key_than_the_apps_is_refused(github: FakeGitHub, app: App) -> None:
    strange = AppTokens(AppIdentity(str(app.id), key_pair()[0]), github.url, now)
    with pytest.raises(GitHubError) as refused:
        strange.token("octo/widget")
    assert isinstance(refused.value, TokenRefused)
    assert "PRIVATE" not in f"{refused.value.message} {hint_of(refused.value)}"


def test_an_app_is_named_by_its_id_and_its_key() -> None:
    assert app_in({}) is None
    one_line = app_in({APP_ID: "7", APP_KEY: PRIVATE.replace("\n", "\\n")})
    assert one_line == AppIdentity("7", PRIVATE)
    assert PRIVATE not in repr(one_line)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({APP_ID: "7"}, "belong together"),
        ({APP_KEY: PRIVATE}, "belong together"),
        ({APP_ID: "7", APP_KEY: "hunter2"}, "no private key"),
    ],
)
def test_half_an_app_and_what_is_no_key_are_told(environ: dict[str, str], words: str) -> None:
    with pytest.raises(ForgeError, match=words) as refused:
        app_in(environ)
    assert "hunter2" not in refused.value.message
