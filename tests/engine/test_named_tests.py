"""A test that a document names is found in the files of a repository and selected alone."""

import pytest

from forge_bot.verification.named_tests import is_listed, places, select_place, select_places

TEXTS = {
    "tests/test_cli.py": (
        "class TestCli:\n    class TestIn:\n        def test_a(self): ...\n\n"
        "async def test_b(): ...\n"
    ),
    "tests/test_other.py": "def test_b(): ...\n# def test_gone(): ...\n",
    "pkg/io/read_test.go": 'func TestRead(t *testing.T) {}\n\tt.Run("empty file", nil)\n',
    "src/lib.rs": "#[test]\nfn it_adds() {}\n",
    "web/sum.test.ts": "describe('sum', () => { it('adds two numbers', () => {});"
    " it('isn\\'t (yet) wrong', () => {}) })\n",
}


@pytest.mark.parametrize(
    ("name", "command", "words"),
    [
        ("test_a", "python -m pytest -q tests", "python -m pytest -q T::TestCli::TestIn::test_a"),
        ("tests/test_cli.py::test_b[x]", "pytest", "pytest T::test_b"),
        ("`test_a()`".strip("`"), "pytest -q", "pytest -q T::TestCli::TestIn::test_a"),
        ("tests/test_cli.py:12", "pytest -q", "pytest -q T"),
        ("test_cli.py::test_b", "pytest -q", "pytest -q T::test_b"),
        ("TestCli.test_a", "python3 -m unittest", "U *test_cli.TestCli.TestIn.test_a*"),
        ("TestRead/empty_file", "go test ./...", "go test -v -count=1 -run ^(TestRead)$ ./pkg/io"),
        ("TestRead", "go -C pkg test ./...", "go -C pkg test -v -count=1 -run ^(TestRead)$ ./io"),
        ("TestRead", "go -C=pkg/io test", "go -C=pkg/io test -v -count=1 -run ^(TestRead)$ ."),
        ("it_adds", "cargo test --no-fail-fast", "cargo test --no-fail-fast -- it_adds"),
        ("tests::it_adds", "cargo test", "cargo test -- it_adds"),
    ],
)
def test_a_name_leads_to_the_words_that_run_it(name: str, command: str, words: str) -> None:
    (place,) = places(name, TEXTS)
    selected = select_place(command.split(), place)
    assert selected is not None
    wanted = words.replace("U ", "python3 -m unittest -k ").replace("T::", "tests/test_cli.py::")
    assert " ".join(selected) in {wanted, wanted.replace("-q T", "-q tests/test_cli.py")}


def test_a_test_of_go_is_not_looked_for_where_the_command_does_not_work() -> None:
    (place,) = places("TestRead", TEXTS)
    assert select_place(["go", "-C", "web", "test", "./..."], place) is None


def test_a_title_of_jest_is_selected_behind_a_package_manager_too() -> None:
    (place,) = places("adds two numbers", TEXTS)
    for script in ("vitest run", "jest --ci"):
        assert select_place(["npm", "test"], place, script) == (
            "npm", "test", "--", "web/sum.test.ts", "-t", "adds two numbers",
        )  # fmt: skip
    assert select_place(["npm", "test"], place, "mocha") is None
    there = ("npm", "--prefix", "web", "test")
    assert select_place(there, place, "vitest run") == (
        *there, "--", "sum.test.ts", "-t", "adds two numbers",
    )  # fmt: skip
    assert select_place(("npm", "--prefix", "api", "test"), place, "vitest run") is None
    assert select_place(there, place, "vitest run && tsc") is None


def test_a_title_is_found_by_its_words_as_a_reader_sees_them() -> None:
    for title in ("isn't (yet) wrong", "isn't (yet) …", "adds two …"):
        assert [place.path for place in places(title, TEXTS)] == ["web/sum.test.ts"], title
    for title in ("adds …", "adds three …", "…"):
        assert places(title, TEXTS) == (), title


@pytest.mark.parametrize(
    ("script", "before"),
    [
        ("tsc && jest", "npm test --"),
        ("NODE_ENV=test jest --ci", "npm test --"),
        ("jest --ci && npm run check:types", "node_modules/.bin/jest --ci"),
        ("vitest run; echo done", "node_modules/.bin/vitest run"),
        ("cross-env A=1 jest && tsc", ""),
    ],
)
def test_a_title_is_handed_to_the_runner_and_not_to_what_a_script_runs_after_it(
    script: str, before: str
) -> None:
    (place,) = places("adds two numbers", TEXTS)
    words = select_place(["npm", "test"], place, script)
    wanted = [*f"{before} web/sum.test.ts -t".split(), "adds two numbers"]
    assert words == (tuple(wanted) if before else None)


def test_titles_are_selected_at_once_and_their_values_are_left_open() -> None:
    texts = {
        "a.test.js": "it('%s is $kind', f); it('says `${word}` twice over', f); it(\"adds (a)\", f)"
    }
    wanted = [*places("%s is $kind", texts), *places("adds (a)", texts)]
    assert select_places(["npx", "jest"], wanted) == (
        "npx", "jest", "a.test.js", "-t", r".* is .*|adds \(a\)"
    )  # fmt: skip
    (cut,) = places("says …` twice over", texts)
    words = select_places(["npx", "jest"], [cut])
    assert words is not None
    assert words[-1] == "says .*` twice over"
    assert select_places(["npx", "mocha"], [cut]) is None


def test_one_name_in_two_files_is_found_twice_and_a_commented_one_never() -> None:
    assert [place.path for place in places("test_b", TEXTS)] == [
        "tests/test_cli.py",
        "tests/test_other.py",
    ]
    for unknown in ("test_gone", "none", "tests/test_missing.py", "tests/test_missing.py::test_b"):
        assert places(unknown, TEXTS) == ()


def test_a_case_in_a_test_of_go_is_no_test_by_itself() -> None:
    assert places("empty file", TEXTS) == ()
    assert [place.name for place in places("TestRead/empty_file", TEXTS)] == ["TestRead"]


def test_where_nothing_can_be_selected_the_output_tells_whether_a_test_ran() -> None:
    output = "  sum\n    ✔ adds two numbers\n    - subtracts\n test it_is ... ignored\n"
    assert is_listed("adds two numbers", output)
    for title in ("subtracts", "it_is", "adds two", "multiplies"):
        assert not is_listed(title, output)
