"""What is found for Go, Rust, the JVM, Ruby and make."""

import pytest

from forge_bot.values import CommandName
from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)


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
