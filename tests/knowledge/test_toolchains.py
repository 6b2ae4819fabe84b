"""What is found for Go, Rust, the JVM, Ruby and make, and the formatters of all languages: one is used
only where a repository surely uses it, and for its kinds of files only.
"""

import pytest

from forge_bot.project.detected_commands import takes
from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)


def test_a_go_module_with_requirements_fetches_them_before() -> None:
    files = {"go.mod": "module x\n\nrequire (\n\texample.com/y v1.0.0\n)\n"}
    assert lines(profile_of(files).commands.setup) == ["go mod download"]
    assert profile_of({**files, "vendor/modules.txt": ""}).commands.setup == ()


def test_the_modules_of_a_go_workspace_are_tested_by_name() -> None:
    files = {
        "go.work": "go 1.22\n\nuse (\n\t./api\n\t./lib/\n)\n",
        "api/go.mod": "module a\n",
        "lib/go.mod": "module b\n",
    }
    assert lines(profile_of(files).commands.test) == ["go test ./api/... ./lib/..."]


def test_go_modules_in_folders_are_tested_there() -> None:
    commands = profile_of(
        {"a/go.mod": "module a\n", "b/go.mod": "module b\n", "a/inner/go.mod": "module c\n"}
    ).commands
    assert lines(commands.test) == ["go -C a test ./...", "go -C b test ./..."]


def test_a_go_module_in_the_folder_of_another_is_tested_by_itself() -> None:
    files = {
        "go.mod": "module a\n",
        "a_test.go": "",
        "inner/go.mod": "module a/inner\n\nrequire a v0.0.0\n\nreplace a => ../\n",
        "inner/inner_test.go": "",
        "tools/go.mod": "module a/tools\n",
        "examples/one/go.mod": "module one\n",
        "examples/one/one_test.go": "",
        "e2e/go.mod": "module e2e\n",
        "e2e/e2e_test.go": "",
    }
    commands = profile_of(files).commands
    assert lines(commands.test) == ["go test ./...", "go -C inner test ./..."]
    assert lines(commands.build) == ["go build ./...", "go -C inner build ./..."]
    assert lines(commands.setup) == ["go -C inner mod download"]


def test_a_go_module_that_the_workspace_does_not_name_is_told_to_be_untested() -> None:
    files = {"go.work": "use .\nuse ./b\n", "go.mod": "module a\n"}
    files |= {f"{each}/go.mod": f"module {each}\n" for each in "bc"}
    profile = profile_of({**files, "b/b_test.go": "", "c/c_test.go": ""})
    assert profile.notes == ("The Go module in c is not tested.",)


def test_a_cargo_workspace_is_tested_whole_and_its_lock_is_kept() -> None:
    commands = profile_of(
        {
            "Cargo.toml": '[workspace]\nmembers = ["a"]\n',
            "Cargo.lock": "",
            "a/Cargo.toml": "[package]\n",
        }
    ).commands
    assert lines(commands.setup) == ["cargo fetch --locked"]
    assert lines(commands.test) == ["cargo test --workspace --locked --no-fail-fast"]


def test_rust_is_linted_by_what_is_configured() -> None:
    package = {"Cargo.toml": "[package]\n"}
    assert profile_of(package).commands.lint == ()
    assert lines(profile_of({**package, "clippy.toml": ""}).commands.lint) == [
        "cargo clippy --all-targets"
    ]
    assert lines(profile_of({**package, "rustfmt.toml": ""}).commands.lint) == [
        "cargo fmt --all --check"
    ]


def test_maven_and_gradle_are_run_by_their_wrappers_where_there_are_any() -> None:
    assert lines(profile_of({"pom.xml": ""}).commands.test) == ["mvn -B -ntp test"]
    assert lines(profile_of({"pom.xml": "", "mvnw": ""}).commands.test) == ["sh mvnw -B -ntp test"]
    gradle = profile_of({"build.gradle.kts": "", "gradlew": ""}).commands.test
    assert lines(gradle) == ["sh gradlew --no-daemon --console=plain test --continue"]


def test_ruby_is_tested_by_specs_or_by_a_rake_task() -> None:
    specs = profile_of(
        {"Gemfile": "gem 'rubocop'\n", ".rubocop.yml": "", "spec/a_spec.rb": ""}
    ).commands
    assert lines(specs.test) == ["bundle exec rspec"]
    assert lines(specs.lint) == ["bundle exec rubocop --format emacs"]
    rake = profile_of({"Gemfile": "", "Rakefile": "Rake::TestTask.new\n"}).commands
    assert lines(rake.test) == ["bundle exec rake test"]
    assert profile_of({"Gemfile": ""}).commands.setup == ()


def test_two_languages_at_the_root_are_both_tested() -> None:
    files = {"Cargo.toml": "[package]\n", "package.json": '{"scripts": {"test": "node --test"}}'}
    assert lines(profile_of(files).commands.test) == ["npm test", "cargo test --no-fail-fast"]


def test_a_gemfile_lock_is_frozen() -> None:
    files = {"Gemfile": "gem 'rspec'\n", ".rspec": "", "Gemfile.lock": ""}
    assert lines(profile_of(files).commands.setup) == [
        "env BUNDLE_FROZEN=true bundle install --quiet"
    ]


def found(makefile: str, **others: str) -> list[str]:
    """The test commands for a Makefile."""
    return lines(profile_of({"Makefile": makefile, **others}).commands.test)


@pytest.mark.parametrize("makefile", ROWS["a_rule_for_test_is"])
def test_a_rule_for_test_is_one(makefile: str) -> None:
    assert found(makefile) == ["make test"]


@pytest.mark.parametrize("makefile", ROWS["what_only_looks_like_a"])
def test_what_only_looks_like_a_rule_for_test_is_none(makefile: str) -> None:
    assert found(makefile) == []


def test_check_is_used_when_there_is_no_test() -> None:
    assert found("check:\n\t./t\n") == ["make check"]
    assert found("check:\n\t./c\ntest:\n\t./t\n") == ["make test"]


def test_makes_own_order_of_files_is_kept() -> None:
    assert found("test:\n\t./t\n", GNUmakefile="check:\n\t./c\n") == ["make check"]


def test_make_gives_way_to_a_toolchain_with_tests() -> None:
    files = {"Makefile": "all: check\ncheck:\n\t./c\nlint:\n\tgo vet ./...\n"}
    commands = profile_of(files).commands
    assert lines((*commands.build, *commands.test, *commands.lint)) == [
        "make all",
        "make check",
        "make lint",
    ]
    commands = profile_of({**files, "go.mod": "module x\n"}).commands
    assert lines((*commands.test, *commands.lint)) == ["go test ./..."]


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
