"""What is found for Go, Rust, the JVM and Ruby."""

from tests.knowledge.repository_scene import lines, profile_of


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
