"""What a model may see of files, by reading, listing and searching, and everything it may not."""

import json
import time
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.providers.context import ProviderContext
from tests.agent.repository_scene import Ask, git


def test_a_file_comes_exactly_as_it_stands_with_its_lines_in_the_heading(
    ask: Ask, root: Path
) -> None:
    found = ask("read_file", path="src/app.py")
    assert (found.status, found.content, found.note) == (
        ResultStatus.OK,
        (root / "src/app.py").read_text(),
        "lines 1-5 of 5",
    )


def test_lines_can_be_chosen_and_missing_line_breaks_are_said(ask: Ask) -> None:
    found = ask("read_file", path="src/deep/ümlaut b.py", start=2, end=99)
    assert (found.content, found.note) == (
        'y = "abc"\n',
        "lines 2-2 of 2; no line break at the end",
    )


def test_of_a_part_that_is_not_shown_the_heading_tells_where_definitions_stand(
    ask: Ask, root: Path
) -> None:
    steps = root / "src/steps.py"
    steps.write_text("".join(f"def f{n}():\n    return {n}\n\n" for n in range(80)))
    long, short = (ask("read_file", path="src/steps.py", start=10, end=end) for end in (200, 70))
    steps.unlink()
    assert "go on with start=90 (f30 91, f31 94" in long.note
    assert short.note == "lines 10-70 of 240"


def test_a_file_that_is_too_long_is_cut_at_a_line_and_says_where_to_go_on(ask: Ask) -> None:
    found = ask("read_file", WorkLimits(file_chars=1_000), path="long.txt", start=10)
    assert len(found.content) <= 1_000
    last = found.content.splitlines()[-1]
    assert f"go on with start={int(last.split()[1]) + 1}" in found.note
    assert found.content.startswith("line 10\n")


def test_windows_files_and_other_encodings_are_readable_and_named(ask: Ask) -> None:
    windows, latin = ask("read_file", path="docs/windows.md"), ask("read_file", path="latin.txt")
    assert windows.content == "# Title\n\nText\n"
    assert "CRLF" in windows.note
    assert latin.content == "caf\xe9 total\n"
    assert "its encoding is latin-1" in latin.note


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("nothing.py", ResultStatus.TOOL_ERROR, "There is no file"),
        ("src", ResultStatus.TOOL_ERROR, "is a folder"),
        ("logo.png", ResultStatus.TOOL_ERROR, "binary file of 11 bytes"),
        ("../secret.txt", ResultStatus.DENIED, "leads out"),
        ("src/../../secret.txt", ResultStatus.DENIED, "leads out"),
        ("src/../src/app.py", ResultStatus.DENIED, "leads out"),
        ("..\\secret.txt", ResultStatus.DENIED, "not a path from the root"),
        ("/etc/passwd", ResultStatus.DENIED, "not a path from the root"),
        ("C:\\secret.txt", ResultStatus.DENIED, "not a path from the root"),
        ("~/secret.txt", ResultStatus.DENIED, "not a path from the root"),
        ("leak", ResultStatus.DENIED, "leads out"),
        ("up/secret.txt", ResultStatus.DENIED, "leads out"),
        (".git/config", ResultStatus.DENIED, "git's own"),
        (".GIT/config", ResultStatus.DENIED, "git's own"),
        ("git~1/config", ResultStatus.DENIED, "git's own"),
        (".git./config", ResultStatus.DENIED, "git's own"),
        ("config", ResultStatus.DENIED, "git's own"),
        ("a\0b", ResultStatus.DENIED, "characters that no path should have"),
        ("a\nb", ResultStatus.DENIED, "characters that no path should have"),
        ("pipe", ResultStatus.DENIED, "not an ordinary file"),
        (".env", ResultStatus.DENIED, "may hold secrets"),
    ],
)
def test_what_is_not_a_readable_file_of_the_repository_is_a_result_that_says_why(
    ask: Ask, path: str, status: ResultStatus, said: str
) -> None:
    found = ask("read_file", path=path)
    assert found.status is status
    assert said in found.content
    assert "secret.txt" not in found.content or "top secret" not in found.content


def test_a_secret_that_git_does_not_even_ignore_stays_unseen(root: Path, ask: Ask) -> None:
    private = root / "src" / "server.pem"
    private.write_text("TOKEN of the server\n")
    (root / "src" / "cert.txt").symlink_to("server.pem")
    try:
        assert ask("search_code", pattern="TOKEN of the").content == "No line matches."
        assert [
            ask("read_file", path=path).status for path in ("src/server.pem", "src/cert.txt")
        ] == [ResultStatus.DENIED] * 2
    finally:
        private.unlink()
        (root / "src" / "cert.txt").unlink()


def test_an_example_of_a_secret_file_and_an_ignored_library_can_be_read(ask: Ask) -> None:
    assert ask("read_file", path=".env.example").status is ResultStatus.OK
    assert ask("read_file", path="ignored/total.py").status is ResultStatus.OK


def test_a_file_that_only_commands_get_is_not_shown(root: Path) -> None:
    context = ProviderContext(root, withheld=["ignored/total.py"])
    wanted = CapabilityRequest(
        key="1.1-x", capability="read_file", params='{"path": "./ignored/total.py"}'
    )
    assert context.fetch(wanted, WorkLimits()).status is ResultStatus.DENIED


def test_files_are_listed_sorted_without_ignored_ones_and_git(ask: Ask) -> None:
    assert ask("list_files", path="src").content.splitlines() == [
        "src/app.py",
        "src/deep/ümlaut b.py",
        "src/new.py",
    ]
    assert ask("list_files", path="src/deep").content.splitlines() == ["src/deep/ümlaut b.py"]
    everything = ask("list_files").content.splitlines()
    assert everything == sorted(everything)
    assert not [
        name for name in everything if name.startswith((".git/", "ignored")) or name == ".env"
    ]


def test_brackets_in_the_name_of_a_folder_are_letters(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "[slug]").mkdir()
    (tmp_path / "[slug]" / "page.tsx").write_text("total\n")
    context = ProviderContext(tmp_path)
    for capability, params in (
        ("list_files", {"path": "[slug]"}),
        ("search_code", {"pattern": "total", "path": "[slug]"}),
    ):
        found = context.fetch(
            CapabilityRequest(key="1.1-x", capability=capability, params=json.dumps(params)),
            WorkLimits(),
        )
        assert "[slug]/page.tsx" in found.content


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*.md", ["docs/windows.md"]),
        ("src/*.py", ["src/app.py", "src/new.py"]),
        ("src/**/*.py", ["src/app.py", "src/deep/ümlaut b.py", "src/new.py"]),
        ("**/b.py", []),
        ("nothing*", []),
    ],
)
def test_a_glob_chooses_files(ask: Ask, glob: str, files: list[str]) -> None:
    found = ask("list_files", glob=glob).content
    assert found == ("\n".join(files) + "\n" if files else "No files.")


def test_too_many_files_are_summed_up_by_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for folder in ("one", "two/deep"):
        (tmp_path / folder).mkdir(parents=True)
        for number in range(40):
            (tmp_path / folder / f"file{number}.txt").write_text("")
    (tmp_path / "top.txt").write_text("")
    context = ProviderContext(tmp_path)
    found = context.fetch(
        CapabilityRequest(key="1.1-x", capability="list_files", params="{}"),
        WorkLimits(result_chars=300),
    )
    assert found.content.splitlines() == ["one/ (40 files)", "top.txt", "two/ (40 files)"]
    assert found.note.startswith("81 files, too many to list")


def test_matches_come_with_path_and_line_from_tracked_and_new_files_but_no_ignored_or_binary_ones(
    ask: Ask,
) -> None:
    found = ask("search_code", pattern="total")
    assert found.content.splitlines() == [
        "latin.txt:1: caf\ufffd total",
        "src/app.py:4: def total(a, b):",
        "src/new.py:1: total = 3",
    ]
    assert found.note == "3 matches"


@pytest.mark.parametrize(
    ("pattern", "path", "files"),
    [
        (r"\bx = \d+", None, ["src/deep/ümlaut b.py"]),
        ("(?i)TOTAL = ", None, ["src/new.py"]),
        ("total", "*.py", ["src/app.py", "src/new.py"]),
        ("total", "src", ["src/app.py", "src/new.py"]),
        ("total", "src/new.py", ["src/new.py"]),
        ("x|total", "src/**/*.py", ["src/app.py", "src/deep/ümlaut b.py", "src/new.py"]),
        ("-e", None, []),
        ("--untracked", None, []),
    ],
)
def test_expressions_are_perls_and_paths_may_be_folders_or_globs(
    ask: Ask, pattern: str, path: str | None, files: list[str]
) -> None:
    found = ask("search_code", pattern=pattern, path=path)
    assert found.status is ResultStatus.OK
    assert [line.split(":")[0] for line in found.content.splitlines() if ":" in line] == files


def test_too_many_matches_are_counted_and_the_first_are_shown(ask: Ask) -> None:
    found = ask("search_code", pattern="line", path="long.txt")
    assert found.content.splitlines()[:3] == ["long.txt:", "1: line 1", "2: line 2"]
    assert len(found.content.splitlines()) == 26
    assert "2,000 matches; the first 25 are shown" in found.note


def test_matches_are_cut_at_the_limit_and_so_are_endless_lines(ask: Ask) -> None:
    found = ask("search_code", WorkLimits(result_chars=200), pattern="line", path="long.txt")
    assert "; cut: " in found.note
    assert len(found.content) <= 200
    assert ask("search_code", pattern="www").content == f"wide.txt:1: {'w' * 139}…"


@pytest.mark.parametrize(
    ("params", "status", "said"),
    [
        ({"pattern": "(a"}, ResultStatus.INVALID_PARAMS, "git cannot search for this"),
        ({"pattern": "a\nb"}, ResultStatus.INVALID_PARAMS, "line break"),
        ({"pattern": ""}, ResultStatus.INVALID_PARAMS, "at least 1 character"),
        ({"pattern": "a", "path": "../"}, ResultStatus.DENIED, "leads out"),
        ({"pattern": "a", "path": "/etc"}, ResultStatus.DENIED, "not a path"),
        ({"pattern": "a", "path": ".git"}, ResultStatus.DENIED, "git's own"),
        ({"pattern": "secret", "path": "leak"}, ResultStatus.OK, "No line matches"),
        ({"pattern": "secret", "path": "up"}, ResultStatus.OK, "No line matches"),
        ({"pattern": "a", "path": ":(exclude)src"}, ResultStatus.OK, "No line matches"),
    ],
)
def test_a_search_that_cannot_be_made_is_a_result(
    ask: Ask, params: dict[str, object], status: ResultStatus, said: str
) -> None:
    found = ask("search_code", **params)
    assert (found.status, said in found.content) == (status, True)


@pytest.mark.parametrize("pattern", [r"^(w+)+$", r"(w|ww)+\1x", r"((w*)*)*\1\2c"])
def test_a_pathological_expression_ends_in_time(ask: Ask, pattern: str) -> None:
    began = time.monotonic()
    found = ask("search_code", pattern=pattern)
    assert time.monotonic() - began < 15
    assert found.status in {ResultStatus.OK, ResultStatus.TIMEOUT}
