"""A formatter is used only where a repository surely uses it, and for its kinds of files only."""

import pytest

from forge_bot.project.detected_commands import takes
from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)

RUFF = "{env}/bin/python -m ruff format --force-exclude --no-cache"
BLACK = "{env}/bin/python -m black --quiet"
PRETTIER = "node_modules/.bin/prettier --write --ignore-unknown"
HOOKS = "repos:\n- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v0.5\n  hooks:\n"
WEB = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"%s}}'


@pytest.mark.parametrize(("files", "found", "reason"), ROWS["pythons_formatter_is_the_one"])
def test_pythons_formatter_is_the_one_that_is_configured_or_has_a_hook(
    files: dict[str, str], found: str, reason: str
) -> None:
    commands = profile_of({"a.py": "", **files}).commands.format
    assert [" ".join(each.argv) for each in commands] == [found][: bool(found)]
    assert [each.reason for each in commands] == [reason][: bool(found)]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"package.json": WEB % "", ".prettierrc": ""}, [PRETTIER]),
        ({"package.json": WEB % ', "prettier": "3"'}, [PRETTIER]),
        ({"package.json": WEB % ""}, []),
        ({"web/package.json": WEB % "", "web/.prettierrc": ""}, [f"web/{PRETTIER}"]),
    ],
)
def test_prettier_is_used_where_a_package_has_it(files: dict[str, str], found: list[str]) -> None:
    assert lines(profile_of(files).commands.format) == found


def test_a_crate_is_formatted_for_its_edition_and_a_module_of_go_in_its_folder() -> None:
    crate = profile_of({"Cargo.toml": '[package]\nedition = "2018"\n'}).commands.format
    assert lines(crate) == ["rustfmt --edition 2018"]
    crate = profile_of({"Cargo.toml": '[package]\nname = "x"\n'}).commands.format
    assert lines(crate) == ["rustfmt --edition 2015"]
    shared = '[package]\nedition.workspace = true\n[workspace.package]\nedition = "2024"\n'
    crate = profile_of({"Cargo.toml": shared}).commands.format
    assert lines(crate) == ["rustfmt --edition 2024"]
    (found,) = profile_of({"go.mod": "module x\n"}).commands.format
    assert [takes(found, path) for path in ("a/b.go", "a.py")] == [True, False]
    (found,) = profile_of({"api/go.mod": "module x\n", "api/a_test.go": ""}).commands.format
    assert [takes(found, path) for path in ("api/c/b.go", "b.go")] == [True, False]


def test_a_configured_formatter_takes_its_kinds_of_files_and_an_unknown_one_all() -> None:
    files = {"go.mod": "module x\n"}
    (found,) = profile_of(files, {"format": [["npx", "prettier", "--write"]]}).commands.format
    assert [takes(found, path) for path in ("a.ts", "a.go")] == [True, False]
    (found,) = profile_of(files, {"format": [["./fmt.sh"]]}).commands.format
    assert takes(found, "a.go")
    assert profile_of(files, {"format": []}).commands.format == ()
