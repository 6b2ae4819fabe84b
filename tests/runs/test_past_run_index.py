"""Of many past runs there is an index beside git's data: made once, and only as good as its bytes."""

import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.knowledge.history import History, Recall
from forge_bot.knowledge.past_runs import DocumentNames, PastRun
from forge_bot.runs.past_runs.past_run_index import (
    INDEXED,
    RUNS_READ,
    Listener,
    history_at,
    memory,
    past_folders,
    past_runs,
)
from forge_bot.runs.past_runs.past_run_reader import MANY, RunReadBeside, read_beside, read_runs
from tests.fakes.bench import DEVELOP
from tests.fakes.made_up import MadeUp, workspace
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

pytestmark = pytest.mark.slow

DOCUMENTS = DocumentNames.of(DEVELOP)
QUESTION = "\n".join(MadeUp().text(40) for _ in range(3))


def records(size: int) -> dict[str, bytes]:
    source = MadeUp()
    runs = [source.run(number) for number in range(size)]
    return {
        f".specs/{run.name}/{name}": text.encode() for run in runs for name, text in workspace(run)
    }


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """As many past runs as have an index, and as many branches that each add one."""
    source = MadeUp(3)
    added = (source.run(number) for number in range(3))
    branches = [
        (
            f"more-{number}",
            "main",
            {f".specs/{run.name}/{name}": text.encode() for name, text in workspace(run)},
        )
        for number, run in enumerate(added)
    ]
    folder = tmp_path_factory.mktemp("many") / "r"
    return imported(folder, [("main", "", records(INDEXED)), *branches])


@pytest.fixture
def repository(many: Repository) -> Iterator[Repository]:
    """The same without anything that is remembered."""
    history_at.cache_clear()
    place = memory(many).parent
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    yield many
    history_at.cache_clear()


def asked(repository: Repository, branch: str = "main") -> Recall:
    """What a process is told that asks for the first time."""
    history_at.cache_clear()
    return history_at(repository, repository.commit_id(branch), DOCUMENTS).recall(QUESTION)


def expected(repository: Repository) -> Recall:
    return History(past_runs(repository, repository.commit_id("main"), DOCUMENTS)).recall(QUESTION)


def indexes(repository: Repository) -> list[Path]:
    return sorted(memory(repository).parent.glob("history-*"))


def test_the_next_process_reads_the_index_and_no_run(repository: Repository) -> None:
    first = asked(repository)
    assert first.similar
    assert first.patterns
    assert not memory(repository).exists(), "the index remembers the runs"
    again: list[Recall] = []
    calls = started_by(lambda: again.append(asked(repository)))
    assert again == [first] == [expected(repository)]
    assert not any("cat-file" in call for call in calls)


@pytest.mark.parametrize("damage", ["empty", "half", "one byte", "no database", "gone"])
def test_an_index_that_is_not_as_it_was_written_is_made_again(
    repository: Repository, damage: str
) -> None:
    first = asked(repository)
    (path,) = indexes(repository)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "empty": b"",
            "half": whole[:middle],
            "one byte": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "no database": b"# not a database\n" * 99,
            "gone": b"",
        }[damage]
    )
    if damage == "gone":
        path.unlink()
    assert asked(repository) == first
    assert [each.read_bytes() for each in indexes(repository)] == [whole]


def test_an_index_of_other_runs_or_names_of_documents_is_not_asked(repository: Repository) -> None:
    asked(repository)
    commit = repository.commit_id("main")
    history_at(repository, commit, DocumentNames())
    assert len(indexes(repository)) == 2
    asked(repository, "more-0")
    assert expected(repository) == asked(repository)


def test_there_are_never_more_than_two(repository: Repository) -> None:
    for branch in ("main", "more-0", "more-1", "more-2"):
        asked(repository, branch)
    last = indexes(repository)
    assert len(last) == 2
    asked(repository, "more-2")
    assert indexes(repository) == last


def test_where_nothing_can_be_written_the_answer_is_the_same(repository: Repository) -> None:
    place = memory(repository).parent
    place.write_text("a file where the folder should be")
    assert asked(repository) == expected(repository)
    assert place.is_file()


def test_two_that_make_it_at_once_do_each_other_no_harm(repository: Repository) -> None:
    commit = repository.commit_id("main")

    def build(_number: int) -> Recall:
        # Without the memory of this process each of them makes its own.
        return history_at.__wrapped__(repository, commit, DOCUMENTS).recall(QUESTION)

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(build, range(3)))
    assert answers == [expected(repository)] * 3
    assert asked(repository) == answers[0]
    assert len(indexes(repository)) == 1


def blobless(repository: Repository, folder: Path) -> Repository:
    """A clone without the files of the runs, whose index came from elsewhere."""
    subprocess.run(
        ["git", "-C", str(repository.root), "config", "uploadpack.allowFilter", "true"], check=True
    )
    words = ["clone", "-q", "--no-checkout", "--filter=blob:none", repository.root.as_uri()]
    subprocess.run(["git", *words, str(folder)], check=True)
    clone = Repository.find(folder)
    shutil.copytree(memory(repository).parent, memory(clone).parent)
    return clone


def test_for_one_more_run_no_file_of_those_before_it_is_read(
    repository: Repository, tmp_path: Path
) -> None:
    asked(repository)
    clone = blobless(repository, tmp_path / "clone")
    added = MadeUp(4).run(0).model_copy(update={"name": "29991231-new", "date": "2999-12-31"})
    history = history_at(clone, with_one_more(clone, added), DOCUMENTS)
    assert len(history.runs) == INDEXED + 1
    assert history.runs[0].title == added.title
    assert history.similar(added.title)[0].name == added.name
    whole = [*past_runs(repository, repository.commit_id("main"), DOCUMENTS), added]
    assert history.recall(QUESTION) == History(whole).recall(QUESTION)


def test_where_files_of_later_runs_are_not_there_only_what_is_there_counts(
    repository: Repository, tmp_path: Path
) -> None:
    asked(repository)
    clone = blobless(repository, tmp_path / "clone")
    added = MadeUp(4).run(0).model_copy(update={"name": "20190203-old", "date": "2019-02-03"})
    before = indexes(clone)
    history = history_at(clone, with_one_more(clone, added), DOCUMENTS)
    assert [run.name for run in history.runs] == [added.name]
    assert indexes(clone) == before


def with_one_more(repository: Repository, run: PastRun) -> str:
    """A commit on top of main, made without reading a file of it."""

    def git(*words: str, stdin: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(repository.root), *words],
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    git("read-tree", "origin/main")
    for path, text in workspace(run):
        blob = git("hash-object", "-w", "--stdin", stdin=text.encode())
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},.specs/{run.name}/{path}")
    tree = git("write-tree", "--missing-ok")
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    return git(*who, "commit-tree", tree, "-p", "origin/main", "-m", "one more")


def test_runs_that_came_late_or_went_are_told_of_as_if_they_had_always_been(
    repository: Repository, tmp_path: Path
) -> None:
    runs = past_runs(repository, repository.commit_id("main"), DOCUMENTS)
    gone, late = runs[100].name, "20200101-late"
    files = {path: data for path, data in records(INDEXED).items() if f"/{gone}/" not in path}
    files[f".specs/{late}/request.md"] = b"# The late one\n\nIt came by a merge.\n"
    files[".specs/notes/readme.md"] = b"no run"
    others = imported(tmp_path / "others", [("main", "", files)])
    place = memory(others).parent
    asked(repository)
    shutil.copytree(memory(repository).parent, place)
    found = asked(others)
    assert found == expected(others)
    kept_names = {run.name for run in history_at(others, others.commit_id("main"), DOCUMENTS).runs}
    assert late in kept_names
    assert gone not in kept_names
    shutil.rmtree(place)
    assert asked(others) == found


def test_of_more_than_ten_thousand_the_oldest_are_given_up_a_thousand_at_a_time(
    tmp_path: Path,
) -> None:
    notes = {f".specs/2026-{number:05}/notes.md": b"no run" for number in range(RUNS_READ + 998)}
    oldest = {".specs/2025-first/request.md": b"# The first one\n"}
    one_more = ("more", "main", {".specs/2027/notes.md": b"no run"})
    repository = imported(tmp_path / "r", [("main", "", oldest | notes), one_more])
    titles = [
        [run.title for run in history_at(repository, repository.commit_id(branch), DOCUMENTS).runs]
        for branch in ("main", "more")
    ]
    assert titles == [["The first one"], []]


def test_few_past_runs_have_none(tmp_path: Path) -> None:
    repository = imported(tmp_path / "few", [("main", "", records(5))])
    assert asked(repository).similar
    assert indexes(repository) == []


def test_a_clone_without_the_files_of_the_runs_fetches_none_and_keeps_no_index(
    repository: Repository, tmp_path: Path
) -> None:
    git = ["git", "-C", str(repository.root)]
    subprocess.run([*git, "config", "uploadpack.allowFilter", "true"], check=True)
    words = ["clone", "-q", "--no-checkout", "--filter=blob:none", repository.root.as_uri()]
    subprocess.run(["git", *words, str(tmp_path / "partial")], check=True)
    partial = Repository.find(tmp_path / "partial")
    before = sorted((partial.common_dir / "objects").rglob("*"))
    assert asked(partial) == Recall()
    assert sorted((partial.common_dir / "objects").rglob("*")) == before
    assert indexes(partial) == []


def test_of_many_runs_it_is_told_how_many_are_read_and_of_few_nothing(tmp_path: Path) -> None:
    few = {f".specs/2026-{number:04}/request.md": b"# One more\n" for number in range(MANY - 1)}
    last = {".specs/2027/request.md": b"# The last one\n"}
    repository = imported(tmp_path / "r", [("main", "", few), ("many", "main", last)])
    told: list[tuple[int, int]] = []
    listener = Listener(lambda read, of: told.append((read, of)))
    for branch in ("main", "many"):
        shutil.rmtree(memory(repository).parent, ignore_errors=True)
        commit = repository.commit_id(branch)
        history = history_at(repository, commit, DOCUMENTS, "", listener)
        assert len(history.runs) == (MANY if told else MANY - 1)
    assert told == [(read, MANY) for read in range(0, MANY, MANY // 10)]


def test_runs_that_the_other_process_does_not_read_are_read_here(
    many: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = past_folders(many, many.commit_id("main"), "")
    keys = [*folders.items()] * (MANY // INDEXED)
    assert len(keys) == MANY
    beside: list[RunReadBeside] = []
    calls = started_by(lambda: beside.extend(read_beside(many.common_dir, keys, DOCUMENTS)))
    assert any("past_run_reader" in call for call in calls)
    # A Python that cannot start.
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert [*read_beside(many.common_dir, keys, DOCUMENTS)] == beside
    read = read_runs(many.objects_by_id(), keys, DOCUMENTS)
    assert beside == [*map(RunReadBeside.of, read)]
