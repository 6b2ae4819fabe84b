"""Files are read out of commits, whatever they are called and wherever the work tree is; trees are
made without its index.
"""

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import blob_id
from forge_bot.git.commit_history import first_parents
from forge_bot.git.commit_objects import commit_on, tree_with
from forge_bot.git.files_at import GONE, FileVersion, entries_of
from tests.git.git_scene import ODD_NAMES, Scene


@pytest.fixture
def odd(scene: Scene) -> Scene:
    for name in ODD_NAMES:
        scene.write(name, name)
    scene.commit()
    return scene


def test_odd_names_are_listed_exactly(odd: Scene) -> None:
    assert set(odd.repository.list_files("HEAD")) == {*ODD_NAMES, "README.md", "src/app.py"}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_file_with_an_odd_name_is_read_by_it(odd: Scene, name: str) -> None:
    assert odd.repository.read("main", name) == name.encode()


def test_a_name_that_is_not_utf8_is_listed_and_read(scene: Scene) -> None:
    blob = scene.git("hash-object", "-w", "--stdin", stdin=b"x")
    scene.git(
        "update-index", "-z", "--index-info", stdin=b"100644 " + blob.encode() + b"\tcaf\xe9\0"
    )
    scene.git("commit", "--quiet", "--message", "odd")

    (name,) = (name for name in scene.repository.list_files("HEAD") if name.startswith("caf"))
    assert scene.repository.read("HEAD", name) == b"x"


def test_bytes_come_as_they_were_committed(scene: Scene) -> None:
    data = bytes(range(256)) + b"\r\n\r\n\n"
    scene.write("data.bin", data)
    scene.commit()
    scene.write("data.bin", "changed since")

    assert scene.repository.read("HEAD", "data.bin") == data


@pytest.mark.parametrize(
    "path",
    [
        "no.txt",
        "src",
        "",
        ".",
        "/README.md",
        "../repo/README.md",
        "src/../README.md",
        "a\0b",
        "README.md/x",
    ],
)
def test_what_is_no_file_of_the_commit_reads_as_none(scene: Scene, path: str) -> None:
    assert scene.repository.read("HEAD", path) is None


def test_a_link_reads_as_the_name_it_points_to_and_a_submodule_as_nothing(scene: Scene) -> None:
    (scene.root / "link").symlink_to("/etc/passwd")
    scene.git("init", "--quiet", "sub")
    scene.commit({"x": "x"}, at=scene.root / "sub")
    scene.git("-c", "advice.addEmbeddedRepo=false", "add", "--all")
    scene.git("commit", "--quiet", "--message", "both")

    assert scene.repository.read("HEAD", "link") == b"/etc/passwd"
    assert scene.repository.read("HEAD", "sub") is None
    assert "sub" not in scene.repository.list_files("HEAD")


@pytest.mark.parametrize("ref", ["nope", "--output=pwned", "-p", "HEAD:src/app.py", ""])
def test_a_ref_that_names_no_tree_is_an_error_and_never_an_option(scene: Scene, ref: str) -> None:
    with pytest.raises(GitFailed, match="names no tree"):
        scene.repository.read(ref, "README.md")
    assert not (scene.root / "pwned").exists()


@pytest.mark.parametrize("data", [b"", b"a", b"a\r\nb\n", bytes(range(256)) * 300])
def test_the_blob_id_is_gits(scene: Scene, data: bytes) -> None:
    assert blob_id(data) == scene.git("hash-object", "--no-filters", "--stdin", stdin=data)


def test_an_object_that_is_gone_is_an_error_that_says_so(scene: Scene) -> None:
    blob = scene.git("rev-parse", "HEAD:README.md")
    (scene.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitFailed, match=f"{blob} is missing"):
        scene.repository.read_many("HEAD", ["README.md", "src/app.py"])


def test_a_branch_that_moves_is_read_anew_every_time(scene: Scene) -> None:
    first = scene.commit({"a.txt": "1"})
    assert scene.repository.list_files("main") == scene.repository.list_files(first)
    second = scene.commit({"b.txt": "2"})
    assert "b.txt" in scene.repository.list_files("main")
    assert "b.txt" not in scene.repository.list_files(first)
    assert scene.repository.commit_id("main") == second


def test_commits_come_with_the_files_that_they_change(scene: Scene) -> None:
    base = scene.git("rev-parse", "HEAD")
    one, two = scene.commit({"a.txt": "1", ":b.txt": "2"}), scene.commit({"a.txt": "2"})
    commits = first_parents(scene.root, base, "main")
    assert [commit.id for commit in commits] == [one, two]
    files = [{file.path: file.oid for file in commit.files} for commit in commits]
    assert files == [{"a.txt": blob_id(b"1"), ":b.txt": blob_id(b"2")}, {"a.txt": blob_id(b"2")}]


_SUBMODULE = "160000"


def test_a_submodule_is_listed_and_none_of_its_files(scene: Scene) -> None:
    commit = scene.git("rev-parse", "HEAD")
    scene.git("update-index", "--add", "--cacheinfo", f"{_SUBMODULE},{commit},module")
    tree = scene.git("write-tree")
    found = entries_of(scene.root, tree)
    assert (found["module"].mode, found["module"].oid) == (_SUBMODULE, commit)
    without = tree_with(scene.root, tree, [FileVersion("module", GONE, "")])
    assert without == scene.repository.tree_id("HEAD")


@pytest.mark.parametrize(
    "path", [".git/config", "a/../b", "x/.GIT/hooks/y", "git~1/config", "a//b"]
)
def test_what_git_takes_for_no_path_gets_into_no_tree(scene: Scene, path: str) -> None:
    oid = scene.git("hash-object", "-w", "--stdin", stdin=b"x")
    tree = scene.repository.tree_id("HEAD")
    assert tree_with(scene.root, tree, [FileVersion(path, "100644", oid)]) == tree


def test_edits_are_kept_with_the_attributes_of_the_commit_they_are_made_on(scene: Scene) -> None:
    base = scene.commit(
        {".gitattributes": "*.txt text eol=lf\n", "sub/.gitattributes": "raw -text\n"}
    )
    lines = b"one\r\ntwo\r\n"
    made = commit_on(
        scene.root, base, [("new.txt", lines), ("sub/raw", lines), ('odd "name".txt', lines)]
    )
    read = {name: scene.repository.read(made, name) for name in ("new.txt", "sub/raw")}
    assert read == {"new.txt": b"one\ntwo\n", "sub/raw": lines}
    assert scene.repository.read(made, 'odd "name".txt') == b"one\ntwo\n"
