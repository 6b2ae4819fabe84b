"""Edits are worked out whole, in memory, or sent back with what the model needs to correct them."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.agent.edits import EditPlan, Folder, plan_edits
from forge_bot.agent.model_answers import Edit
from tests.fakes.rows import rows

ROWS = rows(__file__)

Operation = Literal["replace", "insert_before", "insert_after", "write", "delete"]
CALC = b"def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b - 0\n"


def edit(path: str, operation: Operation, old: str = "", new: str = "") -> Edit:
    return Edit(path=path, operation=operation, old=old, new=new)


def replace(old: str, new: str, path: str = "a.py") -> Edit:
    return edit(path, "replace", old, new)


def plan(files: dict[str, bytes], *edits: Edit) -> EditPlan:
    return plan_edits(files.get, edits)


def after(data: bytes, *edits: Edit) -> bytes:
    """What a.py holds after these edits."""
    planned = plan({"a.py": data}, *edits)
    assert planned.problems == ()
    (item,) = planned.files
    assert item[0] == "a.py"
    assert item[1] is not None
    return item[1]


def problem(data: bytes, *edits: Edit) -> str:
    """The one thing that is wrong with these edits of a.py."""
    planned = plan({"a.py": data}, *edits)
    assert planned.files == ()
    (said,) = planned.problems
    return said


# -- replacing


def test_a_passage_is_replaced_and_everything_else_stays() -> None:
    assert after(CALC, replace("    return a - b\n\n", "    return a + b\n\n")) == CALC.replace(
        b"a - b\n\n", b"a + b\n\n"
    )


def test_an_edit_whose_old_text_stands_twice_goes_back_with_the_lines() -> None:
    said = problem(CALC, replace("return a - b", "return a + b"))
    assert "occurs 2 times, at lines 2, 6." in said
    assert said.startswith("Edit 1, replace a.py: ")


def test_an_edit_that_misquotes_the_file_goes_back_with_the_passage_that_comes_nearest() -> None:
    said = problem(
        CALC, replace("def add(x, y):\n    return x - y\n", "def add(x, y):\n    return x + y\n")
    )
    assert "Lines 1-2 come nearest" in said
    assert "def add(a, b):\n    return a - b\n" in said


def test_a_passage_that_resembles_nothing_is_said_so() -> None:
    assert "nothing in it resembles it" in problem(
        CALC, replace("SELECT * FROM users WHERE id = ?;", "SELECT 1;")
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (replace("", "x"), "`old` is empty"),
        (replace("def add", "def add"), "are the same"),
        (replace("def add\r\n", "def add\n"), "are the same"),
        (replace("x", "y", path="missing.py"), "there is no such file; `write` makes a new one"),
        (edit("missing.py", "delete"), "there is no such file"),
    ],
)
def test_edits_that_mean_nothing_are_refused(bad: Edit, said: str) -> None:
    assert said in problem(CALC, bad)


def test_one_problem_keeps_every_other_edit_back_and_all_problems_come_at_once() -> None:
    planned = plan(
        {"a.py": CALC},
        edit("new.py", "write", new="x\n"),
        replace("nope", "x"),
        replace("def ", "async def "),
    )
    assert planned.files == ()
    assert [said.split(":")[0] for said in planned.problems] == [
        "Edit 2, replace a.py",
        "Edit 3, replace a.py",
    ]


# -- inserting


def beside(operation: Operation, old: str, new: str) -> Edit:
    return edit("a.py", operation, old, new)


def test_lines_are_inserted_beside_lines_that_need_not_be_repeated() -> None:
    assert after(
        CALC, beside("insert_after", "    return a - b\n\n", "# later\n\n")
    ) == CALC.replace(b"a - b\n\n", b"a - b\n\n# later\n\n")
    assert after(CALC, beside("insert_before", "def sub(a, b):\n", "@cache\n")) == CALC.replace(
        b"def sub", b"@cache\ndef sub"
    )


@pytest.mark.parametrize("new", ["@cache", "@cache\n", "@cache\r\n"])
@pytest.mark.parametrize(
    "old", ["sub(", "def sub(a, b):", "def sub(a, b):\n", "def sub(a, b):\r\n"]
)
def test_whole_lines_are_inserted_whatever_part_of_a_line_is_quoted(old: str, new: str) -> None:
    assert after(CALC, beside("insert_before", old, new)) == CALC.replace(
        b"def sub", b"@cache\ndef sub"
    )


@pytest.mark.parametrize("data", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\r\ntwo"])
def test_inserted_lines_end_as_their_file_does_and_its_end_stays_as_it_was(data: bytes) -> None:
    more = data.replace(b"two", b"two\r\nthree")
    assert after(data, beside("insert_after", "two", "three\n")) == more
    assert after(data, beside("insert_before", "one\n", "zero")) == data.replace(
        b"one", b"zero\r\none"
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (beside("insert_after", "", "x"), "`old` names no line"),
        (beside("insert_after", "\n\n", "x"), "`old` names no line"),
        (beside("insert_after", "def add(a, b):\n", ""), "`new` is empty"),
        (
            beside("insert_after", "def sub(a, b):", "def sub(a, b):\n    x\n"),
            "`new` repeats `old`",
        ),
        (
            beside("insert_before", "def sub(a, b):\n", "@cache\ndef sub(a, b):"),
            "`new` repeats `old`",
        ),
        (edit("no.py", "insert_after", "x", "y"), "`write` makes a new one"),
    ],
)
def test_insertions_that_mean_nothing_are_refused(bad: Edit, said: str) -> None:
    assert said in problem(CALC, bad)


# -- bytes that are not the model's business


def test_windows_files_keep_their_line_ends_and_their_byte_order_mark() -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n"
    assert (
        after(data, replace("two\n", "2\nmore\n")) == b"\xef\xbb\xbfone\r\n2\r\nmore\r\nthree\r\n"
    )
    assert after(data, replace("two\r\nthree", "2\r\n3")) == b"\xef\xbb\xbfone\r\n2\r\n3\r\n"
    assert after(data, edit("a.py", "write", new="a\nb\n")) == b"\xef\xbb\xbfa\r\nb\r\n"


def test_in_a_file_of_mixed_line_ends_a_passage_of_either_kind_is_edited() -> None:
    data = b"one\r\ntwo\nthree\r\nfour\r\nfive\n"
    assert after(data, replace("two\nthree", "2\n3")) == data.replace(b"two\nthree", b"2\n3")
    assert after(data, replace("three\nfour", "3\n4")) == data.replace(b"three\r\nfour", b"3\r\n4")


def test_a_newline_that_the_last_line_does_not_have_may_be_quoted() -> None:
    assert after(b"one\ntwo", replace("two\n", "2\n")) == b"one\n2"
    assert after(b"one\ntwo", beside("insert_after", "two\n", "three\n")) == b"one\ntwo\nthree"
    assert problem(b"one\ntwo", replace("one\n\n", "1\n"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a\0b", "binary file"),
        (b"caf\x8e", "not UTF-8 text and declares no encoding"),
        (b"# coding: utf-8\n# caf\xe9\n", "cannot be read as utf-8"),
        (b"# coding: nothing-known\n# caf\xe9\n", "cannot be read as nothing-known"),
    ],
)
@pytest.mark.parametrize("operation", ["replace", "write"])
def test_files_that_are_not_text_are_left_alone(
    data: bytes, said: str, operation: Operation
) -> None:
    assert said in problem(data, edit("a.py", operation, "a", "b"))


@given(
    st.lists(
        st.tuples(st.text("ab é", max_size=5), st.sampled_from(["\n", "\r\n", "\r"])),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
    st.data(),
)
def test_whatever_the_line_ends_are_untouched_text_keeps_every_byte(
    lines: list[tuple[str, str]], bom: bool, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(lines)))
    before = "".join(line + end for line, end in lines[:place])
    rest = "".join(line + end for line, end in lines[place:])
    mark = b"\xef\xbb\xbf" if bom else b""
    changed = after(mark + (before + "<here>" + rest).encode(), replace("<here>", "<there>"))
    assert changed == mark + (before + "<there>" + rest).encode()


# -- whole files


def test_a_file_can_be_moved_and_then_edited() -> None:
    moved = [
        edit("old.py", "delete"),
        edit("new.py", "write", new="x = 1\n"),
        replace("1", "2", path="new.py"),
    ]
    assert plan({"old.py": b"x = 1\n"}, *moved).files == (("new.py", b"x = 2\n"), ("old.py", None))


def test_a_file_that_would_be_huge_is_refused() -> None:
    assert "larger than 2,500,000 bytes" in problem(b"", edit("a.py", "write", new="x" * 2_500_001))


# -- paths


@pytest.mark.parametrize("path", ROWS["a_path_that_leads_out"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    for bad in (edit(path, "write", new="x"), edit(path, "delete"), replace("a", "b", path=path)):
        assert len(plan({path: b"a"}, bad).problems) == 1


@pytest.mark.parametrize(
    "path", ["", ".", "src/", "a\\b.py", "a\nb", "a\0", " a.py", "a.py ", "a\u202eb.py"]
)
def test_a_path_no_file_should_have_is_refused(path: str) -> None:
    assert len(plan({}, edit(path, "write", new="x")).problems) == 1


def test_a_file_cannot_be_a_folder_too() -> None:
    planned = plan({}, edit("src/app", "write", new="x"), edit("src/app/main.py", "write", new="y"))
    assert "a file and a folder at once" in planned.problems[0]


def folder(tmp_path: Path) -> Callable[[str], bytes | None]:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_bytes(b"x\n")
    (tmp_path / "secret").write_text("s")
    (root / "leak").symlink_to(tmp_path / "secret")
    (root / "alias.py").symlink_to("src/app.py")
    (root / "up").symlink_to("..")
    (root / "dangling").symlink_to("nowhere")
    return Folder(root).read


def test_a_folder_gives_its_files_and_none_for_what_is_not_there(tmp_path: Path) -> None:
    read = folder(tmp_path)
    assert read("src/app.py") == b"x\n"
    assert read("src/new.py") is None
    assert read("new/deep/file.py") is None


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("leak", "symbolic link"),
        ("alias.py", "symbolic link"),
        ("up/secret", "leads out"),
        ("dangling", "symbolic link"),
        ("src", "is a folder"),
        ("src/app.py/more.py", "is a file, so nothing can lie below it"),
    ],
)
def test_a_folder_refuses_links_and_folders(tmp_path: Path, path: str, said: str) -> None:
    planned = plan_edits(folder(tmp_path), [edit(path, "write", new="y\n")])
    assert len(planned.problems) == 1
    assert said in planned.problems[0]


# -- line ends of new files


@pytest.mark.parametrize(
    ("path", "new", "written"),
    [
        ("src/new.cs", "a\nb\n", b"a\r\nb\r\n"),
        ("new.cs", "a\nb\r\n", b"a\r\nb\r\n"),
        ("src/new.sh", "a\r\nb\n", b"a\nb\n"),
        ("new.bat", "a\r\nb\n", b"a\r\nb\n"),
    ],
)
def test_a_new_file_has_the_line_ends_of_most_files_of_its_kind(
    tmp_path: Path, path: str, new: str, written: bytes
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    files = {"one.cs": b"1\r\n", "w/two.cs": b"1\r\n2\r\n", "w/lf x.cs": b"1\n", "run.sh": b"1\n"}
    (tmp_path / "w").mkdir()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    subprocess.run(["git", "-c", "core.autocrlf=false", "add", "."], cwd=tmp_path, check=True)
    tree = Folder(tmp_path)
    planned = plan_edits(tree.read, [edit(path, "write", new=new)], tree.line_end_of_kind)
    assert planned == EditPlan(files=((path, written),))


# -- other encodings, and differences that nobody sees


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("# -*- coding: latin-1 -*-\n# Größe\n", "latin-1"),
        ("#!/usr/bin/env ruby\n# encoding: iso-8859-1\n", "latin-1"),
        ("// Größe ohne Angabe\n", "latin-1"),
        ("# vim: set fileencoding=koi8-r :\n# размер\n", "koi8-r"),
        ('<?xml version="1.0" encoding="windows-1252"?>\n<a>€</a>\n', "windows-1252"),
        ("// Größe\n", "utf-8"),
    ],
)
def test_a_file_is_edited_in_its_own_encoding(head: str, encoding: str) -> None:
    data = f"{head}one\n".encode(encoding)
    assert after(data, replace("one", "two")) == data.replace(b"one", b"two")
    more = f"{head}© one\n"
    if encoding != "koi8-r":
        assert after(data, edit("a.py", "write", new=more)) == more.encode(encoding)


def test_a_character_that_the_encoding_of_a_file_lacks_is_named() -> None:
    said = problem(b"# coding: latin-1\none\n", replace("one", "€ one"))
    assert "latin-1, which has no U+20AC euro sign" in said


@pytest.mark.parametrize(
    ("there", "quoted", "said"),
    [
        ("x = 1\u00a0+ 2", "x = 1 + 2", "U+00A0 no-break space where `old` has U+0020 space"),
        ("x = 'a\u200bb'", "x = 'ab'", "U+200B zero width space where `old` has nothing"),
        ("n = '\u0441at'", "n = 'cat'", "U+0441 cyrillic small letter es where `old` has U+0063"),
        ("n = 'e\u0301'", "n = '\u00e9'", "combining acute accent where `old` has U+00E9"),
        ("\tif x:", "    if x:", "U+0009"),
    ],
)
def test_a_difference_that_nobody_sees_is_named_by_its_code_points(
    there: str, quoted: str, said: str
) -> None:
    assert said in problem(f"one\n{there}\ntwo\n".encode(), replace(f"{quoted}\n", "y\n"))
    assert "U+" not in problem(CALC, replace("def add(a, c):", "def add():"))


# -- text that is lost without a word


LONG = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(8))
BEGUN = LONG[: LONG.index("def f3")]


@pytest.mark.parametrize("stand_in", ROWS["a_line_that_stands_in"])
def test_a_line_that_stands_in_for_text_goes_back_with_what_is_missing(stand_in: str) -> None:
    whole = edit("a.py", "write", new=f"{BEGUN}{stand_in}\n")
    passage = replace(LONG[LONG.index("def f3") :], f"{stand_in}\n")
    for one in (whole, passage):
        said = problem(LONG.encode(), one)
        assert f"`{stand_in.strip()}` stands in for text that would be lost: 10 of 10" in said
        assert "the first one `def f3():`" in said


def test_a_new_line_with_such_words_that_loses_nothing_is_taken() -> None:
    more = LONG + "# the rest is as before: see the other file ...\n"
    assert after(LONG.encode(), edit("a.py", "write", new=more)) == more.encode()
    less = LONG.replace("    return 1\n", "    ...\n")
    assert after(LONG.encode(), edit("a.py", "write", new=less)) == less.encode()


def test_a_whole_file_without_most_of_its_lines_goes_back_unless_the_file_is_deleted_first() -> (
    None
):
    short = edit("a.py", "write", new="def f0():\n    return 0\n")
    said = problem(LONG.encode(), short)
    assert "14 of 16 lines are missing, the first one `def f1():`" in said
    assert after(LONG.encode(), edit("a.py", "delete"), short) == short.new.encode()
    other = LONG.replace("return", "yield").replace("def", "async def")
    assert after(LONG.encode(), edit("a.py", "write", new=other)) == other.encode()


@pytest.mark.parametrize("path", ["a.py", "new.py", "new.md"])
@pytest.mark.parametrize("fence", ["```", "```python", "~~~~"])
def test_fences_around_the_text_of_a_file_go_back(path: str, fence: str) -> None:
    new = f"{fence}\nx = 1\n{fence.rstrip('python')}\n"
    planned = plan({"a.py": CALC}, edit(path, "write", new=new))
    assert "has the fences of Markdown" in planned.problems[0]
    assert plan({}, edit(path, "write", new=f"# Title\n\n{new}")).problems == ()


# -- protected paths
