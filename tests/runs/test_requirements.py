"""The verifier's table of requirements goes into the pull request."""

from forge_bot.artifacts.read_artifact import read_requirements

TABLE = """
## Requirements

| Requirement | Files | Tests | State |
|---|---|---|---|
| R-1: `next` prints a day | `rota/cli.py`, `README.md` | `test_it_prints` | shown by the run |
| R-2: a \\| b | – | | not shown |
"""


def test_rows_are_read_with_their_files_and_tests() -> None:
    first, second = read_requirements(TABLE)
    assert first.text == "R-1: next prints a day"
    assert (first.files, first.tests, first.state) == (
        ("rota/cli.py", "README.md"),
        ("test_it_prints",),
        "shown by the run",
    )
    assert (second.text, second.files, second.tests) == ("R-2: a | b", (), ())


def test_titles_in_typographic_quotes_are_names_of_tests_commas_included() -> None:
    cells = '“adds a, b”, “says "no"” | met |'
    table = TABLE.replace("`test_it_prints` | shown by the run |", cells)
    assert read_requirements(table)[0].tests == ("adds a, b", 'says "no"')


def test_the_cases_of_a_test_in_parentheses_are_no_tests_and_titles_of_a_file_are() -> None:
    for cells, tests in {
        "`TestWalk` (“Get, then Route”; “Route alone”), `TestRoutes` |": ("TestWalk", "TestRoutes"),
        "`test/walk.js` (“lists both”) |": ("test/walk.js", "lists both"),
        "`test_kinds` (`Path`, a list of `bytes`), `test_b` |": ("test_kinds", "test_b"),
        "`tests/test_a.py` (`test_a`, `test_b`) |": ("tests/test_a.py", "test_a", "test_b"),
        "none |": (),
        "none needed |": (),
        "present tests unchanged |": (),
        "none; no type checker ran |": ("none; no type checker ran",),
        "nonempty_list_is_kept, none_is_refused |": ("nonempty_list_is_kept", "none_is_refused"),
    }.items():
        table = TABLE.replace("`test_it_prints` |", cells)
        assert read_requirements(table)[0].tests == tests


def test_words_for_the_tests_of_the_row_above_stand_for_their_names() -> None:
    for cells, tests in {
        "both, red before and green now": ("test_it_prints",),
        "the same, and `test_it_ends`": ("test_it_prints", "test_it_ends"),
        "both, case `no handler`": ("test_it_prints", "no handler"),
        "its three tests": ("test_it_prints",),
        "`test_both_ways`": ("test_both_ways",),
        "every new test, by `check_code`": ("test_it_prints",),
        "all new tests": ("test_it_prints",),
        "–": (),
    }.items():
        table = TABLE.replace("| – | | not shown |", f"| – | {cells} | shown |")
        assert read_requirements(table)[1].tests == tests, cells
    assert read_requirements(TABLE.replace("`test_it_prints`", "both"))[0].tests == ()


def test_a_document_without_such_a_table_has_no_rows() -> None:
    assert (
        read_requirements("## Requirements\n\nAll met.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n") == ()
    )
    assert read_requirements("```\n" + TABLE + "\n```") == ()
