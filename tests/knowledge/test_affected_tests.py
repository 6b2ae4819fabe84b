"""Which tests a set of edited files affects, and how a runner is told to run only these."""

import pytest

from forge_bot.knowledge.affected_tests import affected_tests, manifest_of, runs_none, selected

PYTHON = {
    "src/shop/__init__.py": "",
    "src/shop/price.py": "VAT = 19\n",
    "src/shop/cart.py": "from shop.price import VAT\n",
    "src/shop/mail.py": "import smtplib\n",
    "tests/test_cart.py": "from shop.cart import total\n",
    "tests/test_mail.py": "from shop import mail\n",
    "tests/test_other.py": "import os\n",
}
GO = {
    "clock/clock.go": "package clock\n",
    "clock/clock_test.go": "package clock\n",
    "text/text.go": "package text\n",
    "text/text_test.go": "package text\n",
}
RUST = {
    "src/lib.rs": "pub fn half() {}\n",
    "tests/halves.rs": "use shop::half;\n",
    "tests/common/mod.rs": "pub fn two() {}\n",
    "tests/price.rs": "mod common;\n",
}
WEB = {
    "src/cart.js": 'import { price } from "./price.js"\n',
    "src/price.js": "export const price = 1\n",
    "test/cart.test.js": 'import { cart } from "../src/cart"\n',
    "test/mail.test.js": 'import { mail } from "../src/mail"\n',
}


@pytest.mark.parametrize(
    ("edited", "texts", "tests"),
    [
        (["src/shop/price.py"], PYTHON, ("tests/test_cart.py",)),
        (["src/shop/mail.py"], PYTHON, ("tests/test_mail.py",)),
        (["tests/test_other.py", "README.md"], PYTHON, ("tests/test_other.py",)),
        (["clock/clock.go"], GO, ("clock/clock_test.go",)),
        (["tests/price.rs", "README.md"], RUST, ("tests/price.rs",)),
        (["src/lib.rs", "tests/price.rs"], RUST, ()),
        (["tests/common/mod.rs"], RUST, ()),
        (["src/price.js"], WEB, ("test/cart.test.js",)),
        (["docs/use.md"], PYTHON, ()),
    ],
)
def test_tests_that_use_an_edited_file_over_others_are_affected(
    edited: list[str], texts: dict[str, str], tests: tuple[str, ...]
) -> None:
    assert affected_tests(edited, texts) == tests


@pytest.mark.parametrize("edited", ["tests/conftest.py", "pyproject.toml", "src/shop/names.json"])
def test_a_file_that_any_test_may_read_affects_no_test_in_particular(edited: str) -> None:
    assert affected_tests([edited], PYTHON) == ()


PYTEST = ("{env}/bin/python", "-m", "pytest", "-q", "-rfE")
UNITTEST = ("python3", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", ".")
MAIL = ("tests/test_mail.py",)


@pytest.mark.parametrize(
    ("argv", "tests", "chosen"),
    [
        (PYTEST, MAIL, (*PYTEST, *MAIL)),
        ((*PYTEST, "tests", "-m", "not slow"), MAIL, (*PYTEST, "-m", "not slow", *MAIL)),
        ((*PYTEST, "-c", "tests"), MAIL, (*PYTEST, "-c", "tests", *MAIL)),
        (UNITTEST, MAIL, ("python3", "-m", "unittest", "-v", "tests.test_mail")),
        ((*UNITTEST[:-1], "src"), MAIL, None),
        (PYTEST, [path for path in PYTHON if "test_" in path], None),
        (PYTEST, (), None),
        (("make", "test"), MAIL, None),
        (("tox",), MAIL, None),
    ],
)
def test_a_python_runner_gets_the_files(
    argv: tuple[str, ...], tests: list[str], chosen: tuple[str, ...] | None
) -> None:
    assert selected(argv, tests, PYTHON) == chosen


def test_go_gets_the_packages_in_the_place_of_all() -> None:
    wide, one = ("go", "test", "./..."), ["clock/clock_test.go"]
    assert selected(wide, one, GO) == ("go", "test", "./clock")
    assert selected(("go", "test", "./clock"), one, GO) is None


MODULES = {
    "a/Cargo.toml": "",
    "go.mod": "",
    "top_test.go": "",
    "inner/inner_test.go": "",
    "api/go.mod": "",
    "api/api_test.go": "",
    "api/deep/deep_test.go": "",
    "lib/go.mod": "",
    "lib/lib_test.go": "",
    "lib/testdata/copied_test.go": "",
}


@pytest.mark.parametrize(
    ("command", "tests", "chosen"),
    [
        ("go -C api test ./...", "api/deep/deep_test.go", "go -C api test ./deep"),
        ("go -C api test -race ./...", "api/api_test.go", "go -C api test -race ."),
        ("go test -C api ./...", "api/api_test.go", "go test -C api ."),
        ("go test ./api/... ./lib/...", "lib/lib_test.go", "go test ./lib"),
        ("go test ./...", "top_test.go", "go test ."),
        # What another module has, or Go leaves out, no pattern of this one stands for.
        ("go test ./...", "api/api_test.go", None),
        ("go -C lib test ./...", "api/api_test.go", None),
        ("go test ./api/...", "lib/lib_test.go", None),
        ("go -C lib test ./...", "lib/testdata/copied_test.go", None),
        ("go test ./... e.com/all/...", "top_test.go", None),
    ],
)
def test_go_is_narrowed_within_the_modules_of_the_command(
    command: str, tests: str, chosen: str | None
) -> None:
    words = tuple(chosen.split()) if chosen else None
    assert selected(command.split(), [tests], MODULES) == words


def test_the_only_package_of_a_module_is_named_where_all_is_wanted() -> None:
    files = {"a/go.mod": "", "a/a_test.go": ""}
    wide = ("go", "-C", "a", "test", "./...")
    assert selected(wide, ["a/a_test.go"], files) is None
    assert selected(wide, ["a/a_test.go"], files, even_all=True) == (*wide[:-1], ".")


def test_a_crate_of_another_manifest_is_not_asked_for_its_targets() -> None:
    files = dict.fromkeys(("a/tests/one.rs", "b/tests/two.rs", "a/Cargo.toml", "b/Cargo.toml"), "")
    wide = ("cargo", "test", "--manifest-path", "a/Cargo.toml")
    assert selected(wide, ["a/tests/one.rs", "b/tests/two.rs"], files) == (
        *("cargo", "test", "--test", "one"), *wide[2:],
    )  # fmt: skip
    assert selected(wide, ["b/tests/two.rs"], files) is None
    inner = {**files, "Cargo.toml": "", "tests/three.rs": ""}
    assert selected(("cargo", "test"), ["a/tests/one.rs"], inner) is None
    assert runs_none(("cargo", "test"), ["a/tests/one.rs"], inner)
    assert not runs_none(("cargo", "test", "--workspace"), ["a/tests/one.rs"], inner)


@pytest.mark.parametrize(
    ("command", "test", "none"),
    [
        ("go -C api test ./...", "api/deep/deep_test.go", False),
        ("go -C api test ./...", "lib/lib_test.go", True),
        ("go test e.com/all/...", "lib/lib_test.go", False),
        ("go test", "lib/lib_test.go", False),
        ("cargo test --manifest-path a/Cargo.toml", "b/src/lib.rs", True),
        ("cargo test --manifest-path a/Cargo.toml", "a/src/lib.rs", False),
        ("{env}/bin/python -m pytest api", "web/cart.test.js", True),
        ("python3 -m unittest", "tests/test_cart.py", False),
        ("npm --prefix web test", "web/cart.test.js", False),
        ("npm --prefix web test", "shop/cart.test.js", True),
        ("npm --prefix .web test", ".web/cart.test.js", False),
        ("npm --prefix ./.web test", "web/cart.test.js", True),
        ("pnpm --dir web test", "shop/cart.test.js", True),
        ("npm test", "tests/test_cart.py", False),
        ("make test", "tests/test_cart.py", False),
    ],
)
def test_a_command_that_runs_none_of_some_tests_is_known(
    command: str, test: str, *, none: bool
) -> None:
    assert runs_none(command.split(), [test], MODULES) is none


def test_cargo_is_told_the_targets_of_integration_tests() -> None:
    wide = ("cargo", "test", "--locked", "--no-fail-fast")
    assert selected(wide, ["tests/price.rs"], RUST) == (
        *("cargo", "test", "--test", "price", "--locked", "--no-fail-fast"),
    )
    both = ["tests/halves.rs", "tests/price.rs"]
    assert selected(wide, both, RUST) is None
    assert selected(("cargo", "test"), both, RUST, even_all=True) == (
        *("cargo", "test", "--test", "halves", "--test", "price"),
    )


@pytest.mark.parametrize(
    ("argv", "script", "chosen"),
    [
        (("npm", "test"), "jest --ci", ("npm", "test", "--", "--runTestsByPath")),
        (("yarn", "test"), "jest", ("yarn", "test", "--runTestsByPath")),
        (("pnpm", "test"), "vitest run", ("pnpm", "test")),
        (("npm", "test"), "node --test --test-reporter=tap", ("npm", "test", "--")),
        (("npm", "test"), "node --test test/mail.test.js", None),
        (("npm", "test"), "node test.js", None),
        (("npm", "test"), "eslint . && jest", None),
        (("npm", "test"), "mocha test", None),
    ],
)
def test_the_runner_of_a_test_script_gets_the_files_behind_it(
    argv: tuple[str, ...], script: str, chosen: tuple[str, ...] | None
) -> None:
    package = f'{{"scripts": {{"test": "{script}"}}}}'
    files = ["test/cart.test.js"]
    assert selected(argv, files, WEB, package) == (chosen and (*chosen, *files))


@pytest.mark.parametrize(
    ("test", "chosen"),
    [
        ("web/test/cart.test.js", "npm --prefix ./web test -- test/cart.test.js"),
        ("test/cart.test.js", None),
    ],
)
def test_the_runner_of_a_package_in_a_folder_gets_the_files_as_they_are_named_there(
    test: str, chosen: str | None
) -> None:
    words = ("npm", "--prefix", "./web", "test")
    files = [*WEB, *(f"web/{path}" for path in WEB)]
    package = '{"scripts": {"test": "vitest run"}}'
    assert manifest_of(words) == "web/package.json"
    assert selected(words, [test], files, package) == (tuple(chosen.split()) if chosen else None)
    both = [path for path in files if path.endswith("test.js")]
    assert selected(words, both, files, package) is None


@pytest.mark.parametrize("workspaces", ["[]", '["web"]'])
def test_the_runner_at_the_root_gets_the_files_of_packages_in_its_workspace_alone(
    workspaces: str,
) -> None:
    files = [*WEB, "web/package.json", "web/test/own.test.js"]
    package = f'{{"scripts": {{"test": "jest"}}, "workspaces": {workspaces}}}'
    chosen = selected(("npm", "test"), ["web/test/own.test.js"], files, package)
    assert (chosen is None) is (workspaces == "[]")


def test_the_runner_of_node_itself_gets_the_files_in_the_place_of_folders() -> None:
    argv, files = ("node", "--test", "--test-reporter=tap"), ["test/cart.test.js"]
    assert selected((*argv, "test/"), files, WEB) == (*argv, *files)
    assert selected(argv, ["test/cart.test.js", "test/mail.test.js"], WEB) is None


def test_a_package_json_that_cannot_be_read_selects_nothing() -> None:
    assert selected(("npm", "test"), ["test/cart.test.js"], WEB, "{") is None
