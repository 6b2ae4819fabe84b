"""Differences are the same under all settings, and a patch carries everything to another tree."""

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Tree
from forge_bot.git.uncommitted_work import StatusEntry
from tests.fakes.rows import rows
from tests.git.git_scene import ODD_NAMES, Scene

ROWS = rows(__file__)

WEIRD = ROWS["weird"]
CHANGE = (
    "diff --git a/größe b.txt b/größe b.txt\n"
    "index d0a1c7c..659a652 100644\n"
    "--- a/größe b.txt\t\n"
    "+++ b/größe b.txt\t\n"
    "@@ -1,4 +1,4 @@\n 1\n 2\n \n-4\n+vier\n"
)


@pytest.fixture
def weird(scene: Scene) -> Scene:
    scene.commit({"größe b.txt": "1\n2\n\n4\n", ".gitattributes": "*.txt diff=upper\n"})
    scene.config(*WEIRD)
    return scene


def test_a_diff_looks_the_same_whatever_the_settings(weird: Scene) -> None:
    weird.commit({"größe b.txt": "1\n2\n\nvier\n"})

    assert weird.tree.diff("HEAD~1") == CHANGE
    assert weird.tree.diff("HEAD~1", "HEAD", stat=True).startswith(
        " größe b.txt | 2 +-\n 1 file changed, 1 insertion(+)"
    )


@pytest.mark.parametrize("revision", ["--output=pwned", "-O", "nope"])
def test_a_revision_is_never_an_option(scene: Scene, revision: str) -> None:
    with pytest.raises(GitFailed, match="names no"):
        scene.tree.diff(revision)
    with pytest.raises(GitFailed, match="bad revision"):
        scene.tree.changed("HEAD", revision)
    assert not (scene.root / "pwned").exists()


def test_a_long_diff_is_cut_at_a_line_and_says_so(scene: Scene) -> None:
    scene.commit({"long.txt": "täglich\n" * 1000})
    whole = scene.tree.diff("HEAD~1")

    cut = scene.tree.diff("HEAD~1", max_bytes=500)

    body, marker = cut.rsplit("\n", 2)[0] + "\n", cut.rsplit("\n", 2)[1]
    assert whole.startswith(body)
    assert 480 < len(body.encode()) <= 500
    assert marker == f"[cut here: {len(body.encode())} of {len(whole.encode())} bytes are shown]"
    assert scene.tree.diff("HEAD~1", max_bytes=len(whole.encode())) == whole


def test_a_patch_carries_everything_to_another_tree(weird: Scene) -> None:
    tree, other = weird.worktree("one"), weird.worktree("two")
    for name in ODD_NAMES:
        weird.write(name, f"text {name}\n", at=tree.path)
    weird.write("binary", bytes(range(256)) * 20, at=tree.path)
    weird.write("no newline", "end", at=tree.path)
    weird.write("blank at end", "a  \n\t \n", at=tree.path)
    weird.write("run.sh", "#!/bin/sh\n", at=tree.path).chmod(0o755)
    weird.write("empty", "", at=tree.path)
    (tree.path / "link").symlink_to("README.md")
    (tree.path / "src" / "app.py").rename(tree.path / "src" / "moved.py")

    other.apply(_patch(tree))

    assert _contents(other) == _contents(tree)
    assert set(other.status()) == set(tree.status())
    assert (other.path / "run.sh").stat().st_mode & 0o111
    assert _patch(other) == _patch(tree)


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9\nx\n", b"a\r\nb\r\n", b"a\rb\n", b"\xef\xbb\xbfx\n", "\u2028\x85\x0c\n".encode()],
)
def test_a_patch_survives_a_text_file_whatever_bytes_it_is_about(scene: Scene, data: bytes) -> None:
    tree, other = scene.worktree("one"), scene.worktree("two")
    scene.write("README.md", data, at=tree.path)
    stored = scene.beside / "the.patch"

    stored.write_text(_patch(tree), encoding="utf-8")
    other.apply(stored.read_text(encoding="utf-8"))

    assert (other.path / "README.md").read_bytes() == data


@pytest.mark.parametrize("autocrlf", ["true", "input"])
def test_a_patch_fits_under_autocrlf(scene: Scene, autocrlf: str) -> None:
    scene.config(f"core.autocrlf={autocrlf}")
    tree, other = scene.worktree("one"), scene.worktree("two")
    line_end = b"\r\n" if autocrlf == "true" else b"\n"
    scene.write("README.md", b"# Thing" + line_end + b"more" + line_end, at=tree.path)

    other.apply(_patch(tree))

    assert other.commit("step", (), (".",))
    assert scene.repository.read("two", "README.md") == b"# Thing\nmore\n"


def test_a_patch_applies_wholly_or_not_at_all(scene: Scene) -> None:
    tree, other = scene.worktree("one"), scene.worktree("two")
    scene.write("README.md", "changed\n", at=tree.path)
    scene.write("a-new.txt", "new\n", at=tree.path)
    scene.write("README.md", "something else\n", at=other.path)

    with pytest.raises(GitFailed, match="patch does not apply"):
        other.apply(_patch(tree))
    assert other.status() == (StatusEntry("README.md"),)


@pytest.mark.parametrize(
    "target",
    [
        "../outside.txt",
        "/tmp/outside.txt",
        ".git/hooks/post-checkout",
        "link/outside.txt",
        "sub/../../outside.txt",
    ],
)
def test_a_patch_cannot_leave_the_tree(scene: Scene, target: str) -> None:
    (scene.root / "link").symlink_to(scene.beside)
    scene.commit()
    text = (
        f"diff --git a/{target} b/{target}\nnew file mode 100644\n--- /dev/null\n+++ b/{target}\n@@"
        " -0,0 +1 @@\n+x\n"
    )

    with pytest.raises(GitFailed):
        scene.tree.apply(text)
    assert not list(scene.beside.iterdir())
    assert not (scene.root / ".git" / "hooks" / "post-checkout").exists()


def test_files_outside_a_sparse_checkout_are_not_taken_for_deleted(scene: Scene) -> None:
    scene.commit({"docs/a.md": "a"})
    scene.git("sparse-checkout", "set", "src")
    scene.write("src/app.py", "print(2)\n")

    assert not (scene.root / "docs").exists()
    assert _patch(scene.tree).count("diff --git") == 1
    assert scene.tree.rescue("sparse")
    assert not scene.tree.status()


def _patch(tree: Tree) -> str:
    return tree.patch([entry.path for entry in tree.status()])


def _contents(tree: Tree) -> dict[str, bytes | str]:
    files = (
        path
        for path in tree.path.rglob("*")
        if path.name != ".git" and (path.is_file() or path.is_symlink())
    )
    return {
        str(path.relative_to(tree.path)): (
            str(path.readlink()) if path.is_symlink() else path.read_bytes()
        )
        for path in files
    }
