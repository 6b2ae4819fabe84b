"""What is found in JavaScript projects of many kinds."""

import json

import pytest

from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)

TEST = {"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^3"}}


def package(**content: object) -> str:
    """A package.json."""
    return json.dumps(content)


@pytest.mark.parametrize(("files", "more", "setup", "test"), ROWS["the_package_manager_is_the"])
def test_the_package_manager_is_the_one_the_repository_is_kept_with(
    files: dict[str, str], more: dict[str, str], setup: str, test: str
) -> None:
    commands = profile_of({"package.json": package(**TEST, **more), **files}).commands
    assert lines(commands.setup) == [setup]
    assert lines(commands.test) == [test]


def test_what_npm_init_writes_in_place_of_a_test_is_no_test() -> None:
    scripts = {"test": 'echo "Error: no test specified" && exit 1', "start": "node ."}
    commands = profile_of(
        {"package.json": package(scripts=scripts, dependencies={"x": "1"})}
    ).commands
    assert commands.test == commands.setup == ()


def test_nothing_is_installed_when_nothing_is_needed() -> None:
    assert (
        profile_of({"package.json": package(scripts={"test": "node --test"})}).commands.setup == ()
    )


def test_the_packages_of_a_workspace_are_tested_together_when_the_root_has_no_script() -> None:
    files = {
        "package.json": package(workspaces=["packages/*"]),
        "packages/a/package.json": package(scripts={"test": "node --test"}),
        "packages/b/package.json": package(scripts={"build": "tsc"}),
    }
    commands = profile_of(files).commands
    assert lines(commands.test) == ["npm run test --workspaces --if-present"]
    assert lines(commands.build) == ["npm run build --workspaces --if-present"]
    pnpm = {
        **files,
        "package.json": package(),
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
        "pnpm-lock.yaml": "",
    }
    assert lines(profile_of(pnpm).commands.test) == ["pnpm -r --if-present run test"]


def test_a_package_in_a_folder_is_tested_there() -> None:
    files = {
        "web/package.json": package(**TEST),
        "web/yarn.lock": "",
        "api/package.json": package(**TEST),
    }
    commands = profile_of(files).commands
    assert lines(commands.test) == ["npm --prefix api test", "yarn --cwd web test"]
    assert lines(commands.setup)[1] == "yarn --cwd web install --frozen-lockfile"


@pytest.mark.parametrize(("script", "files", "used"), ROWS["a_lint_script_is_run"])
def test_a_lint_script_is_run_when_it_is_configured_and_only_looks(
    script: str, files: dict[str, str], used: bool
) -> None:
    profile = profile_of({"package.json": package(scripts={"lint": script}), **files})
    assert lines(profile.commands.lint) == (["npm run lint"] if used else [])
    assert bool(profile.notes) is not used


def test_a_lint_script_may_stand_beside_other_checks_in_its_name() -> None:
    scripts = {"check:lint": "biome lint", "check:format": "prettier --check .", "test": "jest"}
    profile = profile_of({"package.json": package(scripts=scripts)})
    assert lines(profile.commands.lint) == ["npm run check:lint"]
    profile = profile_of({"package.json": package(scripts={**scripts, "lint": "biome lint ."})})
    assert lines(profile.commands.lint) == ["npm run lint"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"scripts": []}',
        '{"scripts": {"test": 1}}',
        '{"workspaces": 3}',
        "[" * 100_000,
    ],
)
def test_a_manifest_in_another_shape_gives_no_commands(text: str) -> None:
    commands = profile_of({"package.json": text}).commands
    assert commands.test == commands.setup == ()
