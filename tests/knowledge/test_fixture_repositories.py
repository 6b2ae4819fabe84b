"""Small real projects, and exactly the commands that are found in them."""

import pytest

from forge_bot.values import CommandName
from tests.knowledge.repository_scene import REPOSITORIES, lines, profile_at

VENV = "python3 -m venv {env}"
PIP = "{env}/bin/python -m pip install -q --disable-pip-version-check"
PYTEST = "{env}/bin/python -m pytest -q -rfE"

EXPECTED = {
    "python-pytest": {
        "setup": [VENV, f"{PIP} -e .[test] ruff"],
        "test": [PYTEST],
        "lint": ["{env}/bin/python -m ruff check --output-format=concise ."],
    },
    "python-unittest": {"test": ["python3 -m unittest discover -v -s tests -t ."]},
    "npm": {
        "setup": ["npm ci --no-audit --no-fund"],
        "build": ["npm run build"],
        "test": ["npm test"],
    },
    "make": {"build": ["make all"], "test": ["make check"]},
    "go": {
        "build": ["go build ./..."],
        "test": ["go test ./..."],
        "lint": ["golangci-lint run ./..."],
    },
    "rust": {
        "build": ["cargo build --locked"],
        "test": ["cargo test --locked --no-fail-fast"],
        "lint": ["cargo clippy --locked --all-targets"],
    },
    "bare": {},
    "monorepo": {
        "build": ["cargo build --manifest-path crates/weight/Cargo.toml"],
        "test": [
            "env PYTHONPATH=services/prices python3 -m unittest discover -v -s services/prices",
            "npm --prefix web test",
            "cargo test --manifest-path crates/weight/Cargo.toml --no-fail-fast",
        ],
    },
    "make-python": {
        "setup": [VENV, f"{PIP} -r requirements.txt -r requirements-dev.txt"],
        "test": [PYTEST],
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_repository_gives_exactly_its_commands(name: str) -> None:
    commands = profile_at(REPOSITORIES / name).commands
    found = {str(kind): lines(commands.of(kind)) for kind in CommandName}
    assert {kind: typed for kind, typed in found.items() if typed} == EXPECTED[name]


def test_every_repository_among_the_fixtures_is_expected_to_give_something() -> None:
    assert {
        path.name for path in REPOSITORIES.iterdir() if path.is_dir() and path.name != "__pycache__"
    } == set(EXPECTED)
