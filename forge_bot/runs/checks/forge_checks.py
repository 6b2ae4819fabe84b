"""Checks of the repository where it is hosted."""

from collections.abc import Iterator, Mapping

from forge_bot.agent.models.known_providers import key_name
from forge_bot.errors import ForgeError
from forge_bot.forge import RepositoryAddress, check_repository, parse_remote
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks import CheckResult, CheckSubject, note, warn
from forge_bot.values import Tier


def origin(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the bot's requirements, where origin is on the forge."""
    place = parse_remote(subject.repository.remote_url(), subject.environ)
    if place is not None:
        key = key_name(subject.model_names[Tier.STRONG])
        yield from check_hosted(place, subject.environ, key)


def check_hosted(
    place: RepositoryAddress, environ: Mapping[str, str], key: str = ""
) -> Iterator[CheckResult]:
    """Yield the bot's requirements of a repository; `key` is the secret of the configured model, if
    that is known.
    """
    try:
        for need in check_repository(place, environ, key):
            problem, good = need.problem, need.good
            yield warn(need.what, problem, need.step) if problem else note(need.what, good)
    except ForgeError as error:
        yield warn("GitHub", error.message, advice_at_terminal(error))
