"""Which remote addresses lead to a repository on GitHub, and where its API is; a token goes nowhere
else.
"""

import pytest

from forge_bot.github_api.issue import parse_remote
from tests.fakes.rows import rows

ROWS = rows(__file__)

DOTCOM = ("acme/rota", "https://github.com/acme/rota", "https://api.github.com")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/acme/rota.git",
        "https://github.com/acme/rota",
        "https://somebody:secret@GitHub.com/acme/rota.git/",
        "git@github.com:acme/rota.git",
        "ssh://git@github.com/acme/rota.git",
    ],
)
def test_every_way_to_write_an_address_leads_to_the_same_place(remote: str) -> None:
    place = parse_remote(remote, {})
    assert place is not None
    assert (place.name, place.page, place.api) == DOTCOM


@pytest.mark.parametrize("remote", ROWS["what_lies_elsewhere_is_no"])
def test_what_lies_elsewhere_is_no_place_on_github(remote: str | None) -> None:
    assert parse_remote(remote, {}) is None


def test_a_server_of_ones_own_counts_when_the_environment_names_it() -> None:
    remote = "https://git.acme.example/acme/rota.git"
    assert parse_remote(remote, {}) is None
    named = parse_remote(remote, {"GH_HOST": "git.acme.example"})
    assert named is not None
    assert named.api == "https://git.acme.example/api/v3"
    run = parse_remote(
        remote,
        {
            "GITHUB_SERVER_URL": "https://git.acme.example",
            "GITHUB_API_URL": "https://git.acme.example/api/v3",
        },
    )
    assert run == named
