"""Which files a text names, what is shown of a file, and which files are likely for a task."""

import pytest

from forge_bot.knowledge.code_blocks import code_blocks, named
from forge_bot.knowledge.excerpts import excerpt, special_methods
from forge_bot.knowledge.likely_files import LikelyFiles
from forge_bot.knowledge.mentions import Mentions, Place, mentions, request_names, resolve
from forge_bot.knowledge.wanted_places import WantedPlaces, places_by_worth
from forge_bot.project.search_words import words

FILES = ("src/app/core.py", "src/app/errors.py", "tests/test_core.py", "Makefile")


def test_paths_names_and_lines_are_read_in_the_order_of_the_text() -> None:
    found = mentions(
        "- `src/app/core.py`: `Context.invoke` calls it (`src/app/errors.py:12-14`)\n"
        "- `tests/test_core.py` (line 40) and docs/api.md\n"
    )
    assert found.places[0] == Place("src/app/core.py")
    assert Place("src/app/errors.py", ((12, 14),)) in found.places
    assert Place("tests/test_core.py", ((40, 40),)) in found.places
    assert found.paths[-1] == "docs/api.md"
    assert found.names == ("Context.invoke",)


@pytest.mark.parametrize(
    "text",
    [
        "## Need not change\n\n- `a.py`: read only\n",
        "## Not affected\n\n### Further\n\n- `a.py`\n",
        "- `a.py`: read, need not change\n",
        "- `a.py` is not affected\n- `a.py`: unaffected\n",
        "- `a.py`: only exports `f`; need not change\n- `c.py`, `d.py`: name it, need not change.\n",
    ],
)
def test_what_need_not_change_does_not_count(text: str) -> None:
    assert mentions(f"{text}\n## Changes\n\n- `b.py`: it changes\n").paths == ("b.py",)


def test_a_file_whose_callers_need_not_change_counts() -> None:
    text = "- `a.py`: `f` gets a default, so its callers need not change; the rest is unchanged"
    assert mentions(text).paths == ("a.py",)


def test_a_traceback_names_its_places_and_functions_also_inside_a_fence() -> None:
    found = mentions(
        '```\nTraceback (most recent call last):\n  File "/home/x/lib/app/core.py", line 33, in main\n'
        "```\ntests/test_core.py:7: AssertionError\n"
    )
    assert found.places == (
        Place("/home/x/lib/app/core.py", ((33, 33),)),
        Place("tests/test_core.py", ((7, 7),)),
    )
    assert found.names == ("main",)
    assert resolve("/home/x/lib/app/core.py", FILES) == ("src/app/core.py",)


def test_an_address_and_a_version_are_no_files() -> None:
    found = mentions("See https://github.com/pallets/click/blob/main/README.md and 3.11, `1.2`.")
    assert [path for path in found.paths if resolve(path, FILES)] == []


def test_a_path_means_the_file_or_those_that_end_with_it() -> None:
    assert resolve("./src/app/core.py", FILES) == ("src/app/core.py",)
    assert resolve("core.py", FILES) == ("src/app/core.py",)
    assert resolve("app/core.py", FILES) == ("src/app/core.py",)
    assert resolve("other.py", FILES) == ()


PYTHON = '''\
import os


class Context:
    """A context."""

    @property
    def name(self):
        return 1

    def invoke(self, call):
        if call:
            return call()

        return None


def main():
    pass
'''

GO = """package app

// Add adds.
func Add(a int, b int) int {
\treturn a + b
}

func (s *Store) Load(name string) error {
\treturn nil
}
"""


def test_definitions_have_their_lines_in_python_and_in_languages_with_braces() -> None:
    blocks = {block.name: (block.first, block.last) for block in code_blocks(PYTHON.split("\n"))}
    assert blocks == {"Context": (4, 15), "name": (7, 9), "invoke": (11, 15), "main": (18, 19)}
    blocks = {block.name: (block.first, block.last) for block in code_blocks(GO.split("\n"))}
    assert blocks == {"Add": (3, 6), "Load": (8, 10)}


SCRIPT = """export class Parser {
  /**
   * Sorts arguments.
   */
  parseOptions(args) {
    const dest = [];
    const isOption = (arg) => arg.startsWith('-');
    throw new Error(`unknown
- at the left margin`);
  }

  static async *rows(a, b = 1) {
    yield a;
  }
}

module.exports.run = function (argv) {
  return argv;
};

describe('Parser', () => {
  it("knows 'unknown', and numbers", function () {
    const parser = new Parser();
    expect(parser.parseOptions([])).toEqual([]);
  });
});
"""


def test_definitions_of_scripts_are_their_methods_and_tests_and_no_local_value() -> None:
    blocks = {block.name: (block.first, block.last) for block in code_blocks(SCRIPT.split("\n"))}
    assert blocks == {
        "Parser": (21, 26),  # the tests; the class is the first of the two
        "parseOptions": (2, 10),
        "isOption": (7, 7),
        "rows": (12, 14),
        "module.exports.run": (17, 19),
        "knows 'unknown', and numbers": (22, 25),
    }
    first = code_blocks(SCRIPT.split("\n"))[0]
    assert (first.name, first.first, first.last) == ("Parser", 1, 15)


GO_FILE = """package store

const (
\tSmall Size = iota // first
\tLarge
)

// Load reads it.
func (s *Store) Load(name string) error {
\tvisit := func(part string) {
\t\tuse(part)
\t}
\treturn walk(`
Text at the margin
`, visit)
}

func (c Cache) Load(name string) error { return nil }

func TestLoad(t *testing.T) {
\tt.Run("from a cache", func(t *testing.T) {
\t\tload(t)
\t})
}
"""

RUST_FILE = """pub struct Parser<T> {
    args: Vec<T>,
}

impl<T: Into<Vec<u8>>> Iterator for Parser<T> {
    fn next(&mut self) -> Option<T> {
        let mut found = Vec::new();
        match (found, 2) {
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self) {}
}

pub const fn joined<'a, T>(parts: &'a [T]) -> String
where
    T: Display,
{
    String::new()
}

macro_rules! check {
    () => {};
}

#[cfg(test)]
mod tests {
    #[test]
    fn joins() {}
}
"""


def test_definitions_of_go_are_methods_with_their_types_groups_closures_and_subtests() -> None:
    blocks = code_blocks(GO_FILE.split("\n"))
    found = [(block.name, block.first, block.last, block.of) for block in blocks]
    assert found == [
        ("Small", 3, 6, ""),
        ("Large", 5, 5, ""),
        ("Load", 8, 16, "Store"),
        ("visit", 10, 12, ""),
        ("Load", 18, 18, "Cache"),
        ("TestLoad", 20, 24, ""),
        ("from a cache", 21, 23, ""),
    ]
    assert [block.of for block in named(blocks, "Cache.Load")] == ["Cache"]
    assert len(named(blocks, "Load")) == 2
    ranked = LikelyFiles({"store.go": GO_FILE, "type.go": "type Cache struct{}\n"})
    assert ranked.definitions("Cache.Load") == [("store.go", 18)]


def test_definitions_of_rust_end_behind_their_where_and_an_impl_adds_to_its_type() -> None:
    blocks = code_blocks(RUST_FILE.split("\n"))
    found = [(block.name, block.first, block.last) for block in blocks]
    assert found == [
        ("Parser", 1, 3),
        ("Parser", 5, 12),
        ("next", 6, 11),
        ("Error", 14, 16),
        ("fmt", 15, 15),
        ("joined", 18, 23),
        ("check", 25, 27),
        ("tests", 29, 33),
        ("joins", 31, 32),
    ]
    assert [block.first for block in named(blocks, "Parser")] == [1]
    assert [block.first for block in named(blocks, "Parser::next")] == [6]
    ranked = LikelyFiles({"lib.rs": RUST_FILE})
    assert ranked.definitions("Parser") == [("lib.rs", 1)]
    assert ranked.definitions("Error") == [("lib.rs", 14)]


def test_of_many_definitions_of_a_name_the_one_that_stands_alone_is_meant() -> None:
    body = "".join(f"    step({n});\n" for n in range(60))
    impls = "".join(
        f"impl Round for T{n} {{\n    fn round(self) {{\n    first({n});\n{body}    }}\n}}\n\n"
        for n in range(3)
    )
    text = f"{impls}fn round<T>(value: T)\nwhere\n    T: Copy,\n{{\n    alone(value)\n}}\n"
    assert "alone(value)" in excerpt(text, WantedPlaces(names=("round",)), 1_500).text


def test_a_long_function_that_the_named_one_calls_is_shown_of_the_first_file() -> None:
    body = "".join(f"    let b{n} = a{n};\n" for n in range(60))
    shown = _shown(
        f"{_FILLER}fn generic(a: &str) {{\n{body}}}\n\nfn plain(a: &str) {{\n    generic(a)\n}}\n",
        "plain",
    )
    assert "let b59 = a59;" in shown


def test_what_the_long_function_calls_is_shown_and_so_is_its_end() -> None:
    body = "".join(f"    a{n} = b{n}\n" for n in range(120))
    shown = excerpt(
        f"def hands_on(a):\n    return decides(a)\n\n\ndef decides(a):\n{body}    return made(a)\n"
        f"\n\n{_FILLER}def made(a):\n    return 'as it is'\n",
        WantedPlaces(names=("hands_on",), search=True, first=True),
        9_000,
    )
    assert "a119 = b119\n    return made(a)\n" in shown.text
    assert "return 'as it is'" in shown.text


def test_of_the_class_of_a_named_method_its_fields_and_how_it_is_made_are_shown() -> None:
    text = (
        f"{_FILLER}class Field:\n    # What it holds.\n    __slots__ = ('converter',)\n\n"
        "    def __init__(self, converter):\n        self.converter = converter\n\n"
        + "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(60))
        + "    def default(self, method):\n        return method\n"
    )
    shown = _shown(text, "Field.default")
    assert "__slots__ = ('converter',)" in shown
    assert "self.converter = converter" in shown
    assert "def m30(self)" not in shown


def test_omitted_definitions_are_told_with_their_lines() -> None:
    shown = excerpt(f"X = 1\n{_FILLER}", WantedPlaces(lines=((1, 1),)), 1_500).text
    number = f"X = 1\n{_FILLER}".split("\n").index("def filler_3(value):") + 1
    assert f"filler_3 {number}" in shown


def test_a_method_of_the_receiver_is_shown_though_a_builtin_type_has_one_of_its_name() -> None:
    text = (
        "func (f *Set) Parse(a []string) error {\n\treturn f.index(a)\n}\n\n"
        f"{_FILLER}func (f *Set) index(a []string) error {{\n\treturn first(a)\n}}\n"
    )
    assert "return first(a)" in _shown(text, "Set.Parse")


def test_a_test_that_a_document_names_by_its_title_is_shown() -> None:
    others = "".join(f"  it('does {n}', () => {{\n    check({n});\n  }});\n" for n in range(300))
    text = f"describe('all', () => {{\n{others}  it('adds one, and more', () => {{\n    add();\n  }});\n}});\n"
    names = mentions("- `a.test.js`: after “adds one, and more”, one more").names
    assert "adds one, and more" in names
    assert "    add();" in excerpt(text, WantedPlaces(names=names), 2_000).text


def test_of_a_long_named_function_the_part_with_most_words_of_the_task_is_shown() -> None:
    body = "\n".join(f"    value_{number} = {number}" for number in range(200))
    text = f"def sort_all(args):\n{body}\n    negative = number < 0\n    assert negative\n{body}\n"
    wanted = WantedPlaces(names=("sort_all",), about=tuple(words("a negative number")))
    assert "negative = number < 0" in excerpt(text, wanted, 5_000).text


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("- `a/b.py`: `f` (34) and `g` (51-60) do it", ((34, 34), (51, 60))),
        (
            "- a/b.py: `f` (34), line 40, set at 45; `g` (51-60)",
            ((34, 34), (40, 40), (45, 45), (51, 60)),
        ),
        ("- `a/b.py:12`: asked at 15 (once), 20 (twice)", ((12, 12), (15, 15), (20, 20))),
        ("- `a/b.py`: 21 and 45 say the same", ((21, 21), (45, 45))),
        ("- `a/b.py`: `c_attr.converter` (34), read at 40", ((34, 34), (40, 40))),
        ("It is in a/b.py since (2024) and so at 30.", ()),
        ("- `a/b.py` (R-1, R-2): since 2024, 15 tests, 40 %, #123", ()),
    ],
)
def test_numbers_behind_a_path_are_its_lines(said: str, lines: tuple[tuple[int, int], ...]) -> None:
    (place,) = mentions(said).places
    assert place.lines == lines


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("`prog --id -5` fails where `--id` is given", ("--id",)),
        ("with `short-option-groups: false` set", ("short-option-groups",)),
        ("unknown-options-as-args is well-known", ("unknown-options-as-args",)),
        ("says `error: too many arguments. Expected 0.`", ("too many arguments",)),
        ("says \"unknown option '-1.5'\"", ("unknown option",)),
        ("for `for attempt in retrying:` see above", ()),
        ("`(*FlagSet).Parse` and (*Flag).Set() fail", ("Flag.Set", "FlagSet.Parse")),
        ("`s.parse::<Vec<u8>>()` and `bitflags!` fail", ("s.parse", "bitflags")),
    ],
)
def test_options_keys_and_words_of_a_message_are_names_of_a_request(
    text: str, names: tuple[str, ...]
) -> None:
    assert request_names("It fails", text) == names


def test_of_a_dotted_name_the_method_of_that_class_is_meant() -> None:
    text = (
        "class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n"
    )
    blocks = code_blocks(text.split("\n"))
    assert [block.first for block in named(blocks, "B.f")] == [7]
    assert len(named(blocks, "f")) == 2


LARGE = (
    "".join(f"def number_{n}(value):\n    return value + {n}\n\n\n" for n in range(30_000))
    + 'MARK = "the end"\n'
)


def test_of_a_file_of_two_megabytes_the_named_place_is_shown_letter_by_letter() -> None:
    assert len(LARGE) > 1_400_000
    part = excerpt(LARGE, WantedPlaces(names=("number_17000",)), 4_000)
    assert "def number_17000(value):\n    return value + 17000\n" in part.text
    assert len(part.text) <= 4_000
    assert not part.whole
    assert "are not shown here: number_" in part.text
    assert part.total == 120_001


def test_a_named_line_is_shown_with_its_surroundings_and_said_lines_are_the_shown_ones() -> None:
    part = excerpt(LARGE, WantedPlaces(lines=((5_001, 5_001),)), 2_000)
    lines = LARGE.split("\n")
    for first, last in part.spans:
        assert "\n".join(lines[first - 1 : last]) in part.text
    assert any(first <= 5_001 <= last for first, last in part.spans)
    assert part.said.endswith("of 120,001")


def test_a_small_file_is_shown_whole_and_not_a_second_time() -> None:
    part = excerpt(PYTHON, WantedPlaces(), 8_000)
    assert (part.text, part.whole) == (PYTHON, True)
    assert excerpt(PYTHON, WantedPlaces(), 8_000, without=part.spans).spans == ()
    rest = excerpt(PYTHON, WantedPlaces(), 8_000, without=((1, 10),))
    assert "class Context" not in rest.text
    assert "def invoke" in rest.text


def test_a_range_that_is_too_long_for_its_room_is_shown_by_its_ends() -> None:
    text = "".join(f"line number {number} of the page\n" for number in range(1, 400))
    for prose in (True, False):
        part = excerpt(text, WantedPlaces(lines=((200, 300),), prose=prose), 2_400)
        assert {200, 210, 290, 300} <= {n for a, b in part.spans for n in range(a, b + 1)}


def test_a_line_without_end_does_not_fill_a_prompt() -> None:
    part = excerpt("x" * 2_000_000, WantedPlaces(names=("x",)), 8_000)
    assert len(part.text) <= 8_000


def test_the_most_likely_file_is_the_one_with_the_words_and_its_neighbours_follow() -> None:
    ranked = LikelyFiles(
        {
            "app/pager.py": "def page(text):\n    '''Show text in a pager.'''\n",
            "app/colour.py": "def paint(text):\n    pass\n",
            "tests/test_pager.py": "from app import pager\n",
            "app/cli.py": "from app.colour import paint\n",
        },
        {"app/pager.py": {"app/cli.py": 5}},
    )
    best = ranked.best(words("The pager shows text twice"), 3)
    assert best[0] == "app/pager.py"
    assert set(best[1:]) <= {"tests/test_pager.py", "app/cli.py", "app/colour.py"}
    assert ranked.definitions("paint") == [("app/colour.py", 1)]


def test_nothing_named_is_nothing() -> None:
    assert mentions("") == Mentions()
    assert LikelyFiles({"a.py": ""}).best(words("anything"), 5) == ()


def test_a_method_of_many_classes_is_shown_of_the_class_that_is_named_too() -> None:
    body = "\n".join(f"        assert {number} % 2 == 0" for number in range(0, 40, 2))
    classes = "\n\n".join(
        f"class Test{owner}:\n    def test_even(self):\n        {owner.lower()}()\n{body}\n"
        for owner in ("Chunked", "Sliced", "Ranges", "Windows")
    )
    helper = "def helper():\n    return 1\n\n"
    text = f"import x\n{helper}" + "# a line\n" * 60 + classes + "\n" + "# a line\n" * 900
    of_one = excerpt(text, WantedPlaces(names=("TestSliced", "test_even")), 9_000).text
    assert "sliced()" in of_one
    assert "windows()" not in of_one
    of_none = excerpt(text, WantedPlaces(names=("helper", "test_even")), 9_000).text
    assert "def helper" in of_none
    assert "sliced()" not in of_none


def test_a_test_of_a_longer_name_is_not_shown_for_a_name_that_begins_it() -> None:
    def tested(name: str) -> str:
        return f"class Test{name}:\n    def test_it(self):\n        assert {name}.works\n\n\n"

    head = "from app import Logger, LoggerFactory\n\n\n"
    text = head + tested("LoggerFactory") + tested("Logger") + tested("LoggerAlone")
    text = text.replace("assert LoggerAlone.works", "pass") + "# a line\n" * 900
    shown = excerpt(text, WantedPlaces(names=("Logger",), search=True), 2_000).text
    assert "class TestLogger:" in shown
    assert "class TestLoggerAlone:" in shown
    assert "class TestLoggerFactory:" not in shown


def _filler(number: int) -> str:
    body = "".join(f"    value += {number} * {n}\n" for n in range(60))
    return f"def filler_{number}(value):\n{body}    return value\n\n\n"


_FILLER = "".join(_filler(number) for number in range(12))


def _shown(text: str, *names: str) -> str:
    return excerpt(text, WantedPlaces(names=names, search=True, first=True), 6_000).text


def test_what_only_hands_a_name_on_is_not_shown_where_something_uses_it() -> None:
    declared = "def save(\n    self,\n    limit: int = 3,\n    other: int = 4,\n):\n    pass\n\n\n"
    listed = "__all__ = [\n    'limit',\n]\n\n\n"
    used = "def check(size):\n    if size > self.limit:\n        raise TooLarge\n\n\n"
    text = _FILLER.join(("", declared, listed, used, ""))
    shown = _shown(text, "limit")
    assert "if size > self.limit" in shown
    assert "'limit'," not in shown
    assert "limit: int = 3" not in shown
    assert "limit: int = 3" in _shown(_FILLER.join(("", declared, "")), "limit")


def test_overloads_of_what_is_named_are_left_out() -> None:
    overload = "@overload\ndef save(path: str) -> str: ...\n\n\n"
    real = "def save(path):\n    return write(path)\n"
    shown = _shown(f"{overload}{_FILLER}{real}", "save")
    assert "return write(path)" in shown
    assert "@overload" not in shown
    assert "def save(path: str) -> str: ..." in _shown(f"{overload}{_FILLER}", "save")


def test_overloads_right_above_what_is_named_are_shown_with_it() -> None:
    overload = "@overload\ndef save(path: str) -> str: ...\n\n\n"
    real = "def save(path):\n    return str(path)\n\n\n"
    assert f"{overload}{overload}{real}".rstrip() in _shown(
        f"{_FILLER}{overload}{overload}{real}{_FILLER}", "save"
    )
    long = real.replace("    return", "    path = path.strip()\n" * 38 + "    return")
    assert "@overload" not in _shown(f"{_FILLER}{overload * 2}{long}{_FILLER}", "save")


def test_forms_of_one_function_are_one_definition() -> None:
    overload = "@overload\ndef save(path: str) -> str: ...\n\n\n"
    text = f"{overload * 4}def save(path):\n    return str(path)\n"
    files = LikelyFiles({"app/save.py": text, "app/other.py": "def save():\n    pass\n"})
    assert files.definitions("save") == [("app/save.py", 17), ("app/other.py", 1)]


def test_what_calls_a_named_definition_and_what_it_calls_are_shown_with_it() -> None:
    named_one = "def save(path):\n    return _write(path, [].count(1))\n\n\n"
    beside = (
        "def _write(path, n):\n    return path\n\n\ndef count(self):\n    return 'no relative'\n"
    )
    caller = "\n\ndef on_upload(file):\n    return save(file.name)\n"
    shown = _shown(f"{named_one}{_FILLER}{beside}{_FILLER}{caller}", "save")
    assert "def _write(path, n):" in shown
    assert "def on_upload(file):" in shown
    assert "no relative" not in shown


def test_a_class_that_a_method_meant_by_the_request_makes_comes_before_what_uses_a_name() -> None:
    uses = "".join(f"def other_{n}(enabled):\n    return check(enabled)\n\n\n" for n in range(3))
    text = (
        "class Attempt:\n    def __exit__(self):\n        return None\n\n\n"
        "class Retrying:\n    def __iter__(self):\n        yield Attempt()\n"
        + "    A = 1\n" * 99
        + uses
    )
    lines = text.split("\n")
    wanted = WantedPlaces(names=("Retrying", "enabled"), search=True, special=("__iter__",))
    spans = [*places_by_worth(lines, code_blocks(lines), wanted)]
    first = next(at for at, span in enumerate(spans) if span[0] == 1)
    assert first < next(at for at, span in enumerate(spans) if "other_" in lines[span[0] - 1])


def test_a_call_without_an_object_means_no_method() -> None:
    text = (
        "def sliced(seq):\n    return [*count(0)]\n\n\nclass Range:\n    def count(self, value):\n"
        "        return 1\n\n\n" + "X = 1\n" * 900
    )
    shown = excerpt(text, WantedPlaces(names=("sliced",), search=True), 2_000).text
    assert "def sliced" in shown
    assert "def count" not in shown
    called = text.replace("[*count(0)]", "self.count(0)")
    shown = excerpt(called, WantedPlaces(names=("sliced",), search=True), 2_000).text
    assert "def count" in shown


def test_methods_that_python_calls_for_what_is_said_are_shown_of_the_class_that_is_named() -> None:
    def methods(owner: str) -> str:
        return (
            f"class {owner}:\n    def __iter__(self):\n        return iter({owner!r})\n\n"
            f"    def __enter__(self):\n        return {owner!r}\n\n"
            + "".join(f"    {line}\n" for line in _filler(len(owner)).splitlines())
            + "\n\n"
        )

    text = _FILLER.join(("", methods("Retrying"), methods("Other"), ""))
    request = "Retrying is wrong as an iterator"
    special = special_methods(request, words(request))
    assert "__iter__" in special
    assert "__enter__" not in special
    wanted = WantedPlaces(names=("Retrying",), search=True, special=special)
    shown = excerpt(text, wanted, 6_000).text
    assert "return iter('Retrying')" in shown
    assert "return iter('Other')" not in shown


@pytest.mark.parametrize(
    ("said", "method"),
    [
        ("```python\nwith lock:\n    pass\n```", "__exit__"),
        (">>> for attempt in Retrying(stop=3):", "__iter__"),
        ("async for row in rows:", "__anext__"),
        ("list(numbers[::-1]) is empty", "__getitem__"),
        ("it cannot be used after unpickling", "__setstate__"),
        ("two of them are not equal", "__eq__"),
    ],
)
def test_code_and_words_of_a_request_mean_special_methods(said: str, method: str) -> None:
    assert method in special_methods(said, words(said))


@pytest.mark.parametrize("said", ["for example, a list [1] of errors", "done with care", "the log"])
def test_plain_words_mean_no_special_method(said: str) -> None:
    assert special_methods(said, words(said)) == ()


def test_a_test_whose_name_tells_of_the_request_is_shown_of_a_file_of_many() -> None:
    def check(name: str) -> str:
        body = "".join(f"        assert save({n}) == {n}\n" for n in range(20))
        return f"    def test_{name}(self):\n{body}\n"

    names = [*(f"case_{n}" for n in range(20)), "round_trip_of_a_pickle"]
    text = "class TestSave:\n" + "".join(map(check, names)) + _FILLER
    wanted = WantedPlaces(
        names=("save",), about=tuple(words("save() fails after a pickle round trip")), search=True
    )
    assert "def test_round_trip_of_a_pickle" in excerpt(text, wanted, 6_000).text


def test_a_variable_of_a_function_is_no_use_of_what_has_its_name() -> None:
    imported = "from app.recipes import tail\n\n\n"
    local = "def split(items):\n    head, tail = items[:1], items[1:]\n    return tail\n\n\n"
    used = "def last(items):\n    return list(tail(1, items))[0]\n\n\n"
    shown = _shown(_FILLER.join((imported, local, used, "")), "tail")
    assert "def last(items):" in shown
    assert "def split(items):" not in shown


def test_a_short_gap_between_parts_of_the_most_likely_file_is_shown_too() -> None:
    between = "def decides(value):\n    return value\n\n\n"
    text = f"{_FILLER}def save(path):\n    pass\n\n\n{between}def undo(path):\n    pass\n{_FILLER}"
    assert "def decides(value):" in _shown(text, "save", "undo")
    of_another = excerpt(text, WantedPlaces(names=("save", "undo"), search=True), 6_000).text
    assert "def save(path):" in of_another
    assert "def decides(value):" not in of_another


def test_tests_that_hold_a_name_in_the_middle_of_a_word_are_not_shown() -> None:
    tests = "".join(
        f"class {name}:\n    def test_even(self):\n        assert {name.lower()}\n\n\n"
        for name in ("IchunkedTests", "ChunkedTests", "TestChunkedEven")
    )
    shown = _shown(_FILLER.join(("", tests, "")), "chunked")
    assert "class ChunkedTests:" in shown
    assert "class TestChunkedEven:" in shown
    assert "class IchunkedTests:" not in shown


def test_what_is_called_and_has_many_definitions_is_not_shown() -> None:
    named_one = "def save(path):\n    raise Wrong(path)\n\n\n"
    errors = "".join(
        f"    def test_{n}(self):\n        class Wrong(Exception):\n            pass\n\n"
        for n in range(3)
    )
    shown = _shown(f"{named_one}{_FILLER}class Tests:\n{errors}{_FILLER}", "save")
    assert "raise Wrong(path)" in shown
    assert "class Wrong(Exception)" not in shown


def test_of_a_file_without_the_names_of_a_request_one_part_is_shown() -> None:
    parts = "".join(f"def wait_{n}(seconds):\n    return {n} * seconds\n\n\n" for n in range(9))
    about = tuple(words("reraise ignores how many seconds to wait"))
    text = f"{_FILLER}{parts}{_FILLER}"
    of_many = excerpt(text, WantedPlaces(names=("reraise",), about=about, search=True), 6_000)
    assert of_many.text.count("def wait_") == 1
    unnamed = excerpt(text, WantedPlaces(about=about, search=True), 6_000)
    assert unnamed.text.count("def wait_") > 1
