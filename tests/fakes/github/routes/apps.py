"""What an App asks for by itself: where it is installed, and tokens for that."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import App, Token
from tests.fakes.github.render import apps
from tests.fakes.github.replies import Refused, Reply, not_found


def _app(call: Call) -> App:
    assert call.token is not None
    assert call.token.signed_by is not None
    return call.token.signed_by


@route("GET", R + "/installation")
def installation(call: Call) -> Reply:
    """The App's installation for a repository."""
    app = _app(call)
    if call.repo.id not in app.installed:
        raise not_found()
    return Reply(body=apps.installation(call.hub.url, app, call.repo))


@route("POST", "/app/installations/{installation_id}/access_tokens")
def access_token(call: Call) -> Reply:
    """A token for one repository of an installation."""
    app, number = _app(call), call.params["installation_id"]
    places = [each for each, known in app.installed.items() if str(known) == number]
    if not places:
        raise not_found()
    repo = call.hub.repositories[places[0]]
    if call.given().get("repositories") != [repo.name]:
        raise Refused(422, "There is at least one repository that does not exist.")
    text = f"ghs_app{len(call.hub.tokens)}"
    call.hub.tokens[text] = Token(text, app.user, app.permissions, repo.id, installed_by=app)
    return Reply(201, apps.token(app, text))
