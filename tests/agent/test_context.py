"""What a model may see of a real repository, and everything it may not."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.agent.answers import AnswerKind
from forge_bot.agent.context import git_reading
from forge_bot.agent.context.catalogue import how_to_answer
from forge_bot.agent.context.found import Declined
from forge_bot.agent.context.repository import Context
from forge_bot.agent.limits import Limits
from forge_bot.agent.observations import Observation, Status, Wanted

Ask = Callable[..., Observation]


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a bit of everything, beside a file that must never be seen."""
    house = tmp_path_factory.mktemp("house")
    (house / "secret.txt").write_text("top secret")
    root = house / "repository"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "docs").mkdir()
    git(root, "init", "-q")
    (root / "src" / "app.py").write_text("import os\n\n\ndef total(a, b):\n    return a - b\n")
    (root / "src" / "deep" / "ümlaut b.py").write_text('x = 12\ny = "abc"')
    (root / "docs" / "windows.md").write_bytes("\ufeff# Title\r\n\r\nText\r\n".encode())
    (root / "latin.txt").write_bytes(b"caf\xe9 total\n")
    (root / "logo.png").write_bytes(b"\x89PNG\0\0total")
    (root / "empty.txt").write_text("")
    (root / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 2_001)))
    (root / "wide.txt").write_text("w" * 30_000 + "\nend\n")
    (root / ".gitignore").write_text("ignored/\n.env\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "total.py").write_text("total = 1\n")
    (root / ".env").write_text("TOKEN=abc\n")
    (root / ".env.example").write_text("TOKEN=\n")
    (root / "leak").symlink_to("../secret.txt")
    (root / "up").symlink_to("..")
    (root / "itself").symlink_to("itself")
    (root / "config").symlink_to(".git/config")
    (root / "alias.py").symlink_to("src/app.py")
    os.mkfifo(root / "pipe")
    git(root, "add", "-A", ":!pipe")
    git(root, "commit", "-q", "-m", "one: the start")
    (root / "src" / "app.py").write_text("import os\n\n\ndef total(a, b):\n    return a + b\n")
    git(root, "commit", "-q", "-a", "-m", "two: the fix")
    (root / "src" / "new.py").write_text("total = 3\n")
    return root


@pytest.fixture
def ask(root: Path) -> Ask:
    context = Context(root, base="HEAD~1")

    def ask(capability: str, limits: Limits | None = None, **params: object) -> Observation:
        wanted = Wanted(key="1.1-x", capability=capability, params=json.dumps(params))
        return context.fetch(wanted, limits or Limits())

    return ask


# -- reading a file


def test_a_file_comes_exactly_as_it_stands_with_its_lines_in_the_heading(ask: Ask, root: Path) -> None:
    found = ask("read_file", path="src/app.py")
    assert (found.status, found.content, found.note) == (Status.OK, (root / "src/app.py").read_text(), "lines 1-5 of 5")


def test_lines_can_be_chosen_and_missing_line_breaks_are_said(ask: Ask) -> None:
    found = ask("read_file", path="src/deep/ümlaut b.py", start=2, end=99)
    assert (found.content, found.note) == ('y = "abc"\n', "lines 2-2 of 2; no line break at the end")


def test_a_file_that_is_too_long_is_cut_at_a_line_and_says_where_to_go_on(ask: Ask) -> None:
    found = ask("read_file", Limits(file_chars=1_000), path="long.txt", start=10)
    assert found.truncated
    assert len(found.content) <= 1_000
    last = found.content.splitlines()[-1]
    assert f"go on with start={int(last.split()[1]) + 1}" in found.note
    assert found.content.startswith("line 10\n")


def test_a_line_that_is_too_long_is_cut_and_that_is_said(ask: Ask) -> None:
    found = ask("read_file", Limits(file_chars=1_000), path="wide.txt")
    assert found.truncated
    assert found.content == "w" * 1_000 + "\n"
    assert "this one line is longer" in found.note


def test_windows_files_and_other_encodings_are_readable_and_named(ask: Ask) -> None:
    windows, latin = ask("read_file", path="docs/windows.md"), ask("read_file", path="latin.txt")
    assert windows.content == "# Title\n\nText\n"
    assert "byte order mark" in windows.note
    assert "CRLF" in windows.note
    assert latin.content == "caf\ufffd total\n"
    assert "not UTF-8" in latin.note


def test_an_empty_file_is_empty_and_not_missing(ask: Ask) -> None:
    found = ask("read_file", path="empty.txt")
    assert (found.status, found.content, found.note) == (Status.OK, "", "the file is empty")


def test_a_link_inside_the_repository_may_be_followed(ask: Ask) -> None:
    assert "def total" in ask("read_file", path="alias.py").content


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("nothing.py", Status.TOOL_ERROR, "There is no file"),
        ("src", Status.TOOL_ERROR, "is a folder"),
        ("logo.png", Status.TOOL_ERROR, "binary file of 11 bytes"),
        ("../secret.txt", Status.DENIED, "leads out"),
        ("src/../../secret.txt", Status.DENIED, "leads out"),
        ("src/../src/app.py", Status.DENIED, "leads out"),
        ("..\\secret.txt", Status.DENIED, "leads out"),
        ("/etc/passwd", Status.DENIED, "not a path from the root"),
        ("C:\\secret.txt", Status.DENIED, "not a path from the root"),
        ("~/secret.txt", Status.DENIED, "not a path from the root"),
        ("leak", Status.DENIED, "leads out"),
        ("up/secret.txt", Status.DENIED, "leads out"),
        (".git/config", Status.DENIED, "git's own"),
        (".GIT/config", Status.DENIED, "git's own"),
        ("git~1/config", Status.DENIED, "git's own"),
        (".git./config", Status.DENIED, "git's own"),
        ("config", Status.DENIED, "git's own"),
        ("a\0b", Status.DENIED, "characters that no path should have"),
        ("a\nb", Status.DENIED, "characters that no path should have"),
        ("pipe", Status.DENIED, "not an ordinary file"),
        (".env", Status.DENIED, "may hold secrets"),
    ],
)
def test_what_is_not_a_readable_file_of_the_repository_is_a_result_that_says_why(
    ask: Ask, path: str, status: Status, said: str
) -> None:
    found = ask("read_file", path=path)
    assert found.status is status
    assert said in found.content
    assert "secret.txt" not in found.content or "top secret" not in found.content


def test_links_that_lead_to_themselves_are_a_result(ask: Ask) -> None:
    assert ask("read_file", path="itself").status is not Status.OK


def test_a_secret_that_git_does_not_even_ignore_stays_unseen(root: Path, ask: Ask) -> None:
    private = root / "src" / "server.pem"
    private.write_text("TOKEN of the server\n")
    (root / "src" / "cert.txt").symlink_to("server.pem")
    try:
        assert ask("search_code", pattern="TOKEN of the").content == "No line matches."
        assert [ask("read_file", path=path).status for path in ("src/server.pem", "src/cert.txt")] == [Status.DENIED] * 2
    finally:
        private.unlink()
        (root / "src" / "cert.txt").unlink()


def test_an_example_of_a_secret_file_and_an_ignored_library_can_be_read(ask: Ask) -> None:
    assert ask("read_file", path=".env.example").status is Status.OK
    assert ask("read_file", path="ignored/total.py").status is Status.OK


def test_lines_beyond_the_end_are_named(ask: Ask) -> None:
    found = ask("read_file", path="src/app.py", start=9)
    assert (found.status, "has 5 lines" in found.content) == (Status.INVALID_PARAMS, True)


# -- searching


def test_matches_come_with_path_and_line_from_tracked_and_new_files_but_no_ignored_or_binary_ones(ask: Ask) -> None:
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
    assert found.status is Status.OK
    assert [line.split(":")[0] for line in found.content.splitlines() if ":" in line] == files


def test_too_many_matches_are_counted_and_the_first_are_shown(ask: Ask) -> None:
    found = ask("search_code", pattern="line", path="long.txt", max=3)
    assert found.truncated
    assert found.content.splitlines() == ["long.txt:1: line 1", "long.txt:2: line 2", "long.txt:3: line 3"]
    assert "2,000 matches; the first 3 are shown" in found.note


def test_matches_are_cut_at_the_limit_and_so_are_endless_lines(ask: Ask) -> None:
    found = ask("search_code", Limits(result_chars=200), pattern="line", path="long.txt")
    assert found.truncated
    assert len(found.content) <= 200
    assert ask("search_code", pattern="www").content == f"wide.txt:1: {'w' * 300}…"


@pytest.mark.parametrize(
    ("params", "status", "said"),
    [
        ({"pattern": "(a"}, Status.INVALID_PARAMS, "git cannot search for this"),
        ({"pattern": "a\nb"}, Status.INVALID_PARAMS, "line break"),
        ({"pattern": ""}, Status.INVALID_PARAMS, "at least 1 character"),
        ({"pattern": "a", "path": "../"}, Status.DENIED, "leads out"),
        ({"pattern": "a", "path": "/etc"}, Status.DENIED, "not a path"),
        ({"pattern": "a", "path": ".git"}, Status.DENIED, "git's own"),
        ({"pattern": "secret", "path": "leak"}, Status.OK, "No line matches"),
        ({"pattern": "secret", "path": "up"}, Status.OK, "No line matches"),
        ({"pattern": "a", "path": ":(exclude)src"}, Status.OK, "No line matches"),
    ],
)
def test_a_search_that_cannot_be_made_is_a_result(ask: Ask, params: dict[str, object], status: Status, said: str) -> None:
    found = ask("search_code", **params)
    assert (found.status, said in found.content) == (status, True)


@pytest.mark.parametrize("pattern", [r"^(w+)+$", r"(w|ww)+\1x", r"((w*)*)*\1\2c"])
def test_a_pathological_expression_ends_in_time(ask: Ask, pattern: str) -> None:
    began = time.monotonic()
    found = ask("search_code", pattern=pattern)
    assert time.monotonic() - began < 15
    assert found.status in {Status.OK, Status.TIMEOUT}


# -- listing


def test_files_are_listed_sorted_without_ignored_ones_and_git(ask: Ask) -> None:
    assert ask("list_files", path="src").content.splitlines() == ["src/app.py", "src/deep/ümlaut b.py", "src/new.py"]
    everything = ask("list_files").content.splitlines()
    assert everything == sorted(everything)
    assert not [name for name in everything if name.startswith((".git/", "ignored")) or name == ".env"]


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
    context = Context(tmp_path)
    found = context.fetch(Wanted(key="1.1-x", capability="list_files", params="{}"), Limits(result_chars=300))
    assert found.truncated
    assert found.content.splitlines() == ["one/ (40 files)", "top.txt", "two/ (40 files)"]
    assert "81 files" in found.note


def test_a_folder_outside_cannot_be_listed(ask: Ask) -> None:
    assert ask("list_files", path="..").status is Status.DENIED
    assert ask("list_files", path="up").content == "No files."


# -- the past


def test_the_log_is_newest_first_and_can_be_narrowed(ask: Ask) -> None:
    lines = ask("git_log").content.splitlines()
    assert [line.partition("Ann: ")[2] for line in lines] == ["two: the fix", "one: the start"]
    assert len(ask("git_log", count=1).content.splitlines()) == 1
    assert len(ask("git_log", path="docs").content.splitlines()) == 1
    assert ask("git_log", path="src/new.py").content == "No commits."


def test_the_difference_is_from_where_the_work_began_to_the_files_as_they_are(ask: Ask) -> None:
    found = ask("git_diff")
    assert "-    return a - b\n+    return a + b" in found.content
    assert "Not tracked yet: src/new.py\n" in found.content
    assert ask("git_diff", base="HEAD", path="docs").content == "No difference."


@pytest.mark.parametrize("base", ["--output=stolen", "-O/dev/null", "no-such-branch", "HEAD:src/app.py", "a\0b"])
def test_a_base_is_a_commit_and_never_an_option(ask: Ask, root: Path, base: str) -> None:
    found = ask("git_diff", base=base)
    assert found.status is Status.INVALID_PARAMS
    assert not (root / "stolen").exists()


@pytest.mark.parametrize("capability", ["git_log", "git_diff"])
@pytest.mark.parametrize("path", ["../secret.txt", "/etc", ".git/config"])
def test_paths_of_git_stay_inside_too(ask: Ask, capability: str, path: str) -> None:
    assert ask(capability, path=path).status is Status.DENIED


def test_a_path_that_looks_like_an_option_is_a_path(ask: Ask, root: Path) -> None:
    for capability in ("git_log", "git_diff"):
        assert ask(capability, path="--output=stolen").status is Status.OK
    assert not (root / "stolen").exists()


def test_programs_that_a_repository_configures_are_not_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / ".gitattributes").write_text("*.txt diff=evil\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "a.txt").write_text("two\n")
    for setting in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        git(tmp_path, "config", setting, f"touch '{tmp_path}/ran-{setting}'; cat")
    context = Context(tmp_path)
    for capability in ("git_diff", "git_log", "list_files", "search_code"):
        params = '{"pattern": "two"}' if capability == "search_code" else "{}"
        assert context.fetch(Wanted(key="1.1-x", capability=capability, params=params), Limits()).status is Status.OK
    assert not list(tmp_path.glob("ran-*"))


def test_git_sees_no_key_of_this_process(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "git"
    tool.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nexit 0\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("GIT_DIR", "/somewhere")
    Context(root).fetch(Wanted(key="1.1-x", capability="git_log", params="{}"), Limits())
    seen = (tmp_path / "seen").read_text()
    assert "sk-very-secret" not in seen
    assert "GIT_DIR" not in seen


def test_git_that_does_not_end_is_ended_with_everything_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "git"
    tool.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/child\nwait\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Declined, match="took longer than 0.3 seconds") as caught:
        git_reading.git(tmp_path, "log", seconds=0.3)
    assert caught.value.status is Status.TIMEOUT
    child = Path("/proc") / (tmp_path / "child").read_text().strip() / "stat"
    until = time.monotonic() + 5
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z" and time.monotonic() < until:
        os.sched_yield()
    assert time.monotonic() < until


def test_git_that_prints_without_end_is_stopped_and_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "git"
    tool.write_text("#!/bin/sh\nexec yes\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = git_reading.git(tmp_path, "log", most=1_000)
    assert (said.cut, len(said.text)) == (True, 1_000)


# -- what the host performs


def hosted(root: Path, said: str | Exception, asked: list[tuple[str, ...]]) -> Context:
    def run(paths: tuple[str, ...]) -> str:
        asked.append(paths)
        if isinstance(said, Exception):
            raise said
        return said

    return Context(root, run_tests=run, lint_check=run, past_runs=lambda query: f"about {query}")


def test_tests_and_linters_are_the_hosts_and_get_only_names(root: Path) -> None:
    asked: list[tuple[str, ...]] = []
    context = hosted(root, "1 passed", asked)
    given = ["tests/test_a.py::TestB::test_c[one two]", "src/app.py"]
    for capability in ("run_tests", "lint_check"):
        found = context.fetch(Wanted(key="1.1-x", capability=capability, params=json.dumps({"paths": given})), Limits())
        assert (found.status, found.content) == (Status.OK, "1 passed")
    context.fetch(Wanted(key="1.1-x", capability="run_tests", params="{}"), Limits())
    assert asked == [tuple(given), tuple(given), ()]
    past = context.fetch(Wanted(key="1.1-x", capability="past_runs", params='{"query": "login"}'), Limits())
    assert past.content == "about login"


@pytest.mark.parametrize("path", ["--rootdir=/", "-x", "../other", "/etc/passwd", "a;b", "$(b)", ".git/hooks", "a::--x\n", ""])
def test_anything_but_a_name_never_reaches_the_host(root: Path, path: str) -> None:
    asked: list[tuple[str, ...]] = []
    params = json.dumps({"paths": [path]})
    found = hosted(root, "", asked).fetch(Wanted(key="1.1-x", capability="run_tests", params=params), Limits())
    assert found.status in {Status.INVALID_PARAMS, Status.DENIED}
    assert asked == []


def test_long_output_of_a_command_keeps_its_end(root: Path) -> None:
    output = "begin\n" + "." * 20_000 + "\n3 failed"
    found = hosted(root, output, []).fetch(Wanted(key="1.1-x", capability="run_tests", params="{}"), Limits(result_chars=1_000))
    assert found.truncated
    assert found.content.startswith("begin")
    assert found.content.endswith("3 failed")
    assert len(found.content) < 1_100
    assert "left out" in found.content


def test_a_command_that_takes_too_long_is_a_timeout(root: Path) -> None:
    found = hosted(root, TimeoutError(), []).fetch(Wanted(key="1.1-x", capability="run_tests", params="{}"), Limits())
    assert found.status is Status.TIMEOUT


# -- the catalogue


def test_the_catalogue_is_sorted_and_has_only_what_there_is(root: Path) -> None:
    plain = [spec.name for spec in Context(root).catalogue()]
    assert plain == ["git_diff", "git_log", "list_files", "read_file", "search_code"]
    whole = [spec.name for spec in hosted(root, "", []).catalogue()]
    assert whole == sorted([*plain, "past_runs", "run_tests", "lint_check"])
    assert [spec.name for spec in Context(root).catalogue(["search_code", "run_tests", "read_file"])] == [
        "read_file",
        "search_code",
    ]


def test_an_entry_shows_every_parameter_with_its_type_and_whether_it_may_be_left_out(root: Path) -> None:
    (entry,) = Context(root).catalogue(["read_file"])
    assert entry.line == (
        "- read_file(path, start?, end?): Show a text file. Its lines come exactly as they stand.\n"
        "  - path (string): path from the root of the repository\n"
        "  - start (integer): first line to show, counted from 1\n"
        "  - end (integer): last line to show"
    )
    (tests,) = hosted(root, "", []).catalogue(["run_tests"])
    assert "paths (list of string)" in tests.line


def test_the_rules_of_answering_name_the_finished_work_and_the_menu(root: Path) -> None:
    rules = how_to_answer(AnswerKind.CHANGE, Context(root).catalogue(["read_file"]))
    assert "Change, the finished work" in rules
    assert "- read_file(path, start?, end?)" in rules
    assert "Explore" not in how_to_answer(AnswerKind.DOCUMENT, ())


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("{}", "path: Field required"),
        ('{"path": 7}', "path: Input should be a valid string"),
        ('{"path": "a", "start": 0}', "start: Input should be greater than or equal to 1"),
        ('{"path": "a", "color": "red"}', "color: Extra inputs are not permitted"),
        ("[]", "parameters"),
        ("no json", "Invalid JSON"),
    ],
)
def test_parameters_that_do_not_fit_are_answered_with_the_entry(root: Path, params: str, said: str) -> None:
    found = Context(root).fetch(Wanted(key="1.1-x", capability="read_file", params=params), Limits())
    assert found.status is Status.INVALID_PARAMS
    assert said in found.content
    assert "- read_file(path, start?, end?)" in found.content


def test_an_unknown_capability_is_answered_with_those_there_are(ask: Ask) -> None:
    found = ask("rm_rf", path="/")
    assert (found.status, "git_diff, git_log, list_files" in found.content) == (Status.UNKNOWN_CAPABILITY, True)


def test_a_folder_that_is_no_repository_is_a_result(tmp_path: Path) -> None:
    for capability in ("git_log", "git_diff", "list_files"):
        found = Context(tmp_path).fetch(Wanted(key="1.1-x", capability=capability, params="{}"), Limits())
        assert found.status in {Status.TOOL_ERROR, Status.INVALID_PARAMS}
