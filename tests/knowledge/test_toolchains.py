"""What is found for Go, Rust, the JVM, Ruby and make, and the formatters of all languages: one is used
only where a repository surely uses it, and for its kinds of files only.
"""

import pytest

from forge_bot.project.detected_commands import takes
from forge_bot.values import CommandName
from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)


WEB = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"%s}}'
PRETTIER = "node_modules/.bin/prettier --write --ignore-unknown"
RUST = {"Cargo.toml": "[package]\n"}
RUBY = {"Gemfile": "gem 'rubocop'\n", ".rubocop.yml": ""}
REQUIRING = {"go.mod": "module x\n\nrequire (\n\texample.com/y v1.0.0\n)\n"}
WORKSPACE = {
    "go.work": "go 1.22\n\nuse (\n\t./api\n\t./lib/\n)\n",
    "api/go.mod": "",
    "lib/go.mod": "",
}
NODE = {"package.json": '{"scripts": {"test": "node --test"}}'}
CARGO = {"Cargo.toml": '[workspace]\nmembers = ["a"]\n', "Cargo.lock": "", "a/Cargo.toml": ""}
FOUND: list[tuple[dict[str, str], str, list[str]]] = [
    (REQUIRING, "setup", ["go mod download"]),
    ({**REQUIRING, "vendor/modules.txt": ""}, "setup", []),
    (WORKSPACE, "test", ["go test ./api/... ./lib/..."]),
    (
        {"a/go.mod": "", "b/go.mod": "", "a/inner/go.mod": ""},
        "test",
        ["go -C a test ./...", "go -C b test ./..."],
    ),
    (CARGO, "setup", ["cargo fetch --locked"]),
    (CARGO, "test", ["cargo test --workspace --locked --no-fail-fast"]),
    (RUST, "lint", []),
    ({**RUST, "clippy.toml": ""}, "lint", ["cargo clippy --all-targets"]),
    ({**RUST, "rustfmt.toml": ""}, "lint", ["cargo fmt --all --check"]),
    ({"pom.xml": ""}, "test", ["mvn -B -ntp test"]),
    ({"pom.xml": "", "mvnw": ""}, "test", ["sh mvnw -B -ntp test"]),
    (
        {"build.gradle.kts": "", "gradlew": ""},
        "test",
        ["sh gradlew --no-daemon --console=plain test --continue"],
    ),
    ({**RUBY, "spec/a_spec.rb": ""}, "test", ["bundle exec rspec"]),
    ({**RUBY, "spec/a_spec.rb": ""}, "lint", ["bundle exec rubocop --format emacs"]),
    ({"Gemfile": "", "Rakefile": "Rake::TestTask.new\n"}, "test", ["bundle exec rake test"]),
    ({"Gemfile": ""}, "setup", []),
    (
        {"Gemfile": "gem 'rspec'\n", ".rspec": "", "Gemfile.lock": ""},
        "setup",
        ["env BUNDLE_FROZEN=true bundle install --quiet"],
    ),
    ({**RUST, **NODE}, "test", ["npm test", "cargo test --no-fail-fast"]),
    ({"Makefile": "check:\n\t./t\n"}, "test", ["make check"]),
    ({"Makefile": "check:\n\t./c\ntest:\n\t./t\n"}, "test", ["make test"]),
    ({"Makefile": "test:\n\t./t\n", "GNUmakefile": "check:\n\t./c\n"}, "test", ["make check"]),
    *(({"Makefile": text}, "test", ["make test"]) for text in ROWS["a_rule_for_test_is"]),
    *(({"Makefile": text}, "test", []) for text in ROWS["what_only_looks_like_a"]),
    ({"package.json": WEB % "", ".prettierrc": ""}, "format", [PRETTIER]),
    ({"package.json": WEB % ', "prettier": "3"'}, "format", [PRETTIER]),
    ({"package.json": WEB % ""}, "format", []),
    ({"web/package.json": WEB % "", "web/.prettierrc": ""}, "format", [f"web/{PRETTIER}"]),
]


@pytest.mark.parametrize(("files", "kind", "expected"), FOUND, ids=range(len(FOUND)))
def test_manifests_stand_for_these_commands(
    files: dict[str, str], kind: str, expected: list[str]
) -> None:
    assert lines(profile_of(files).commands.of(CommandName(kind))) == expected


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


@pytest.mark.parametrize(("files", "found", "reason"), ROWS["pythons_formatter_is_the_one"])
def test_pythons_formatter_is_the_one_that_is_configured_or_has_a_hook(
    files: dict[str, str], found: str, reason: str
) -> None:
    commands = profile_of({"a.py": "", **files}).commands.format
    assert [" ".join(each.argv) for each in commands] == [found][: bool(found)]
    assert [each.reason for each in commands] == [reason][: bool(found)]


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
