"""Which files a text names, what is shown of a file, and which files are likely for a task."""

import pytest

from forge_bot.knowledge.code_index import CodeIndex, definitions_of
from forge_bot.knowledge.excerpts import FileFocus, excerpt
from forge_bot.knowledge.mentions import Mentions, Place, mentions, request_names, resolve
from forge_bot.knowledge.search_index import words

FILES = ("src/app/core.py", "src/app/errors.py", "tests/test_core.py", "Makefile")


def test_paths_names_and_lines_are_read_in_the_order_of_the_text() -> None:
    named = mentions(
        "- `src/app/core.py`: `Context.invoke` calls it (`src/app/errors.py:12-14`)\n"
        "- `tests/test_core.py` (line 40) and docs/api.md\n"
    )
    assert named.places == (
        Place("src/app/core.py"),
        Place("src/app/errors.py", ((12, 14),)),
        Place("tests/test_core.py", ((40, 40),)),
        Place("docs/api.md"),
    )
    assert named.names == ("Context.invoke",)
    assert mentions("") == Mentions()


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("## Need not change\n\n- `a.py`: read only\n", ()),
        ("## Not affected\n\n### Further\n\n- `a.py`\n", ()),
        ("- `a.py`: read, need not change\n", ()),
        ("- `a.py` is not affected\n- `c.py`: unaffected\n", ()),
        ("- `a.py`: only exports `f`; need not change\n", ()),
        ("- `a.py`: `f` gets a default, so its callers need not change; the rest is", ("a.py",)),
        ("See https://github.com/pallets/click and 3.11, `1.2`.", ()),
    ],
)
def test_a_file_counts_unless_its_line_or_section_spares_it(
    text: str, paths: tuple[str, ...]
) -> None:
    assert mentions(f"{text}\n## Changes\n\n- `b.py`: it changes\n").paths == (*paths, "b.py")


def test_a_traceback_names_its_places_and_functions_also_inside_a_fence() -> None:
    named = mentions(
        '```\nTraceback (most recent call last):\n  File "/home/x/lib/app/core.py", line 33, in main\n'
        "```\ntests/test_core.py:7: AssertionError\n"
    )
    assert named.places == (
        Place("/home/x/lib/app/core.py", ((33, 33),)),
        Place("tests/test_core.py", ((7, 7),)),
    )
    assert named.names == ("main",)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("./src/app/core.py", "src/app/core.py"),
        ("core.py", "src/app/core.py"),
        ("/home/x/lib/app/core.py", "src/app/core.py"),
        ("other.py", ""),
    ],
)
def test_a_path_means_the_file_or_the_one_that_ends_with_it(written: str, path: str) -> None:
    assert "".join(resolve(written, FILES)) == path


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- `a/b.py`: `f` (34) and `g` (51-60) do it", ((34, 34), (51, 60))),
        ("- a/b.py: `f` (34), line 40, set at 45", ((34, 34), (40, 40), (45, 45))),
        ("- `a/b.py:12`: asked at 15 (once), 20 (twice)", ((12, 12), (15, 15), (20, 20))),
        ("- `a/b.py` (R-1, R-2): since 2024, 15 tests, 40 %, #123", ()),
    ],
)
def test_numbers_behind_a_path_are_its_lines(text: str, lines: tuple[tuple[int, int], ...]) -> None:
    (place,) = mentions(text).places
    assert place.lines == lines


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("`prog --id -5` fails where `--id` is given", ("--id",)),
        ("with `short-option-groups: false` set", ("short-option-groups",)),
        ("for `for attempt in retrying:` see above", ()),
        ("`(*FlagSet).Parse` and (*Flag).Set() fail", ("FlagSet.Parse", "Flag.Set")),
        ("`s.parse::<Vec<u8>>()` and `bitflags!` fail", ("s.parse", "bitflags")),
        (
            "`Schema({Remove(dot): In(y)})` keeps `x.__str__`",
            ("Schema", "Remove", "In", "x.__str__"),
        ),
        ("Fails:\n\n```\nlog_in(Account())\n```\n", ("log_in", "Account")),
    ],
)
def test_options_keys_and_code_are_names_of_a_request(text: str, names: tuple[str, ...]) -> None:
    assert set(request_names("It fails", text)) == set(names)


CODE: dict[str, tuple[str, list[tuple[str, int, int]]]] = {
    "a.py": (
        (
            "class Context:\n    @property\n    def name(self):\n        return 1\n\n"
            "    def invoke(self, call):\n        return call()\n\n\ndef main():\n    pass\n"
        ),
        [("Context", 1, 7), ("name", 2, 4), ("invoke", 6, 7), ("main", 10, 11)],
    ),
    "a.go": (
        "package a\n\n// Add adds.\nfunc Add(a int) int {\n\treturn a\n}\n\nfunc (s *Store) Load() error {\n\treturn nil\n}\n",
        [("Add", 3, 6), ("Load", 8, 10)],
    ),
    "a.rs": (
        "pub struct Parser {\n    args: u8,\n}\n\nimpl Parser {\n    #[inline]\n    fn next(&self) {}\n}\n",
        [("Parser", 1, 3), ("next", 6, 7)],
    ),
    "a.ts": (
        "export class Parser {\n  // Sorts.\n  parse(args: string) {\n    return args;\n  }\n}\n",
        [("Parser", 1, 6), ("parse", 2, 5)],
    ),
    "a.unknown": ("def f():\n    pass\n", []),
}


@pytest.mark.parametrize("path", CODE)
def test_definitions_have_their_lines_with_what_stands_right_above(path: str) -> None:
    text, lines = CODE[path]
    assert [(each.name, each.first, each.last) for each in definitions_of(path, text)] == lines


def test_the_most_likely_file_is_the_one_with_the_words_code_before_tests() -> None:
    index = CodeIndex(
        {
            "app/pager.py": "def page(text):\n    '''Show text in a pager.'''\n",
            "app/colour.py": "def paint(text):\n    pass\n",
            "tests/test_pager.py": "from app import pager\n",
            "app/cli.py": "from app.colour import paint\n",
            "app/a.py": "class A:\n    def f(self):\n        pass\n",
            "app/b.py": "class B:\n    def f(self):\n        pass\n",
        }
    )
    assert index.best(words("The pager shows text twice"), 2) == (
        "app/pager.py",
        "tests/test_pager.py",
    )
    assert index.definitions("paint") == [("app/colour.py", 1)]
    assert index.definitions("B.f") == [("app/b.py", 2)]
    assert CodeIndex({"a.py": ""}).best(words("anything"), 5) == ()


LARGE = "".join(f"def number_{n}(value):\n    return value + {n}\n\n\n" for n in range(12_000))


def _filler(number: int) -> str:
    body = "".join(f"    value += {number} * {n}\n" for n in range(60))
    return f"def filler_{number}(value):\n{body}    return value\n\n\n"


_FILLER = "".join(_filler(number) for number in range(12))


def _shown(text: str, *names: str, path: str = "app.py", about: str = "") -> str:
    wanted = FileFocus(names=names, about=tuple(words(about)), search=True, first=True)
    return excerpt(path, text, wanted, 6_000).text


def test_of_a_large_file_the_named_place_is_shown_letter_by_letter_and_gaps_are_said() -> None:
    wanted = FileFocus(names=("number_9000",), about=("number", "7000"))
    part = excerpt("app.py", LARGE, wanted, 4_000)
    assert "def number_9000(value):\n    return value + 9000\n" in part.text
    assert len(part.text) <= 4_000
    assert "are not shown here: number_" in part.text
    assert part.part.endswith(" of 48,000")
    cited = excerpt("app.py", LARGE, FileFocus(lines=((5_001, 5_001),)), 2_000)
    assert "def number_1250(value):" in cited.text
    for first, last in cited.spans:
        assert "\n".join(LARGE.split("\n")[first - 1 : last]) in cited.text


def test_a_part_of_a_long_function_stands_with_its_signature_and_small_gaps_are_closed() -> None:
    body = "".join(f"    value += {n}\n" for n in range(200))
    text = f"{_FILLER}def put(\n    value,\n    dotted=False,\n):\n{body}\n\n{_FILLER}"
    at = text.split("\n").index("    value += 100") + 1
    part = excerpt("app.py", text, FileFocus(lines=((at, at + 1), (at + 10, at + 11))), 4_000)
    assert "def put(\n    value,\n    dotted=False,\n):\n[…" in part.text
    assert "    value += 105\n" in part.text
    assert "def filler_" not in part.text


def test_the_end_of_a_file_of_tests_is_shown_before_anything_else_of_it() -> None:
    wanted = FileFocus(names=("number_9000",), tail=True)
    total = LARGE.count("\n")
    assert excerpt("test_app.py", LARGE, wanted, 1_000).spans[-1][1] == total


def test_a_small_file_is_shown_whole_and_not_a_second_time() -> None:
    text = CODE["a.py"][0]
    part = excerpt("a.py", text, FileFocus(), 8_000)
    assert (part.text, part.part) == (text, "")
    assert excerpt("a.py", text, FileFocus(), 8_000, without=part.spans).spans == ()
    rest = excerpt("a.py", text, FileFocus(), 8_000, without=((1, 5),))
    assert "class Context" not in rest.text
    assert "def invoke" in rest.text


def test_a_line_without_end_does_not_fill_a_prompt() -> None:
    part = excerpt("a.py", "x" * 2_000_000, FileFocus(names=("x",)), 8_000)
    assert len(part.text) <= 8_000


def test_a_method_of_many_classes_is_shown_of_the_class_that_is_named_too() -> None:
    body = "\n".join(f"        assert {number} % 2 == 0" for number in range(0, 40, 2))
    classes = "\n\n".join(
        f"class Test{owner}:\n    def test_even(self):\n        {owner.lower()}()\n{body}\n"
        for owner in ("Chunked", "Sliced", "Ranges", "Windows")
    )
    text = f"{_FILLER}{classes}\n{_FILLER}"
    of_one = excerpt("t.py", text, FileFocus(names=("TestSliced", "test_even")), 9_000).text
    assert "sliced()" in of_one
    assert "windows()" not in of_one
    of_none = excerpt("t.py", text, FileFocus(names=("filler_1", "test_even")), 9_000).text
    assert "sliced()" not in of_none


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        (
            "a.js",
            "class P {{\n  parse() {{\n{0}    function inner(x) {{\n      wanted();\n    }}\n  }}\n}}\n",
            "inner",
        ),
        ("a.js", "{0}exports.run = function (x) {{\n  wanted();\n}};\n", "run"),
        (
            "a.test.js",
            "{0}it('adds one, and more', () => {{\n  wanted();\n}});\n",
            "adds one, and more",
        ),
        ("a_test.go", '{0}\tt.Run("adds", func() {{\n\t\twanted()\n\t}})\n', "adds"),
    ],
)
def test_a_definition_that_no_grammar_lists_is_shown_by_its_indentation(
    path: str, text: str, name: str
) -> None:
    others = "".join(f"    other({n});\n" for n in range(900))
    assert "wanted()" in excerpt(path, text.format(others), FileFocus(names=(name,)), 2_000).text


def test_of_a_long_named_function_the_part_with_most_words_of_the_task_is_shown() -> None:
    body = "\n".join(f"    value_{number} = {number}" for number in range(200))
    text = f"def sort_all(args):\n{body}\n    negative = number < 0\n    assert negative\n{body}\n"
    wanted = FileFocus(names=("sort_all",), about=tuple(words("a negative number")))
    assert "negative = number < 0" in excerpt("a.py", text, wanted, 5_000).text


def test_what_a_named_definition_calls_what_uses_it_and_its_test_are_shown_with_it() -> None:
    text = _FILLER.join(
        (
            "def save(path):\n    return _write(path)\n\n\n",
            "def _write(path):\n    return path\n\n\n",
            "def on_upload(file):\n    return save(file.name)\n\n\n",
            "__all__ = [\n    'save',\n]\n\n\n",
        )
    )
    shown = _shown(text, "save")
    assert "def _write(path):" in shown
    assert "def on_upload(file):" in shown
    assert "'save'," not in shown, "it only hands the name on"
    tests = f"{_FILLER}def test_wide_text():\n    assert one()\n\n\n{_FILLER}"
    assert "assert one()" in _shown(tests, "wide_text")


def test_of_a_long_function_that_a_request_is_about_parts_are_shown_with_what_they_call() -> None:
    filler = "".join(f"    if value == {number}:\n        value += 1\n" for number in range(90))
    deciding = (
        "    if dotted:\n        table = key\n\n        dotted = table\n        place(table)\n"
    )
    text = f"{_FILLER}def put(value, dotted):\n{filler}{deciding}{filler}\n\n"
    text += f"{_FILLER}def place(table):\n    return table.end\n\n\n{_FILLER}"
    shown = _shown(text, "nothing_here", about="a dotted key of a table")
    assert "dotted = table" in shown
    assert "return table.end" in shown
    assert "value == 44" not in shown


def test_of_a_file_without_the_names_of_a_request_the_parts_with_its_words_are_shown() -> None:
    parts = "".join(f"def wait_{n}(seconds):\n    return {n} * seconds\n\n\n" for n in range(9))
    shown = _shown(f"{_FILLER}{parts}{_FILLER}", "reraise", about="ignores the seconds of a wait")
    assert 1 <= shown.count("def wait_") <= 5
