"""Commits take what they should, say who and why, and can be trusted when they are read back."""

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Tree
from forge_bot.git.uncommitted_work import StatusEntry
from forge_bot.sentences import hint_of
from tests.git.git_scene import ODD_NAMES, Scene

RUN = (("Forge-Run", "20260102-x"), ("Forge-Phase", "phase-3"))
ALL = (".",)


def test_nothing_changed_makes_no_commit(scene: Scene) -> None:
    before = scene.tree.head()

    assert scene.tree.commit("forge: step", RUN, ALL) is None
    assert scene.tree.commit("forge: step", RUN, ["README.md", "never/was"]) is None
    assert scene.tree.commit("forge: step", RUN, []) is None
    assert scene.tree.head() == before


def test_only_the_named_paths_are_committed_and_the_rest_stays_as_it_is(scene: Scene) -> None:
    scene.write("staged.txt", "staged")
    scene.git("add", "staged.txt")
    scene.write("untracked.txt", "untracked")
    scene.write("src/new.py", "new")
    (scene.root / "src" / "app.py").unlink()

    assert scene.tree.commit("forge: step", RUN, ["src", "./never.txt"])

    assert scene.tree.changed("HEAD~1") == ("src/app.py", "src/new.py")
    assert scene.tree.status() == (
        StatusEntry("staged.txt"),
        StatusEntry("untracked.txt", untracked=True),
    )


@pytest.mark.parametrize("staged", [False, True])
def test_a_deleted_file_or_folder_can_be_named(scene: Scene, staged: bool) -> None:
    scene.commit({"a/b.txt": "b", "c.txt": "c", "d.txt": "d"})
    for name in ("a/b.txt", "c.txt"):
        (scene.root / name).unlink()
    (scene.root / "a").rmdir()
    if staged:
        scene.git("add", "--all")

    assert scene.tree.commit("forge: step", RUN, ["a/", "c.txt", "gone.txt"])
    assert scene.repository.list_files("HEAD") == ("README.md", "d.txt", "src/app.py")


def test_named_paths_are_committed_even_if_they_are_ignored(scene: Scene) -> None:
    scene.commit({".gitignore": ".specs\n*.log\n"})
    scene.write(".specs/20260102-x/state.json", "{}")
    scene.write("debug.log", "secret")

    assert scene.tree.commit("forge: step", RUN, [".specs/20260102-x"])
    assert scene.tree.changed("HEAD~1") == (".specs/20260102-x/state.json",)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_path_with_an_odd_name_is_that_path_and_no_pattern_or_option(
    scene: Scene, name: str
) -> None:
    scene.write(name, "x")
    scene.write("bystander.txt", "x")

    assert scene.tree.commit("forge: step", RUN, [name])
    assert scene.tree.changed("HEAD~1") == (name,)
    assert scene.tree.status() == (StatusEntry("bystander.txt", untracked=True),)


def test_a_message_is_kept_with_hash_lines_dashes_and_any_letters(scene: Scene) -> None:
    scene.config(
        "commit.cleanup=strip",
        "core.commentChar=!",
        "i18n.commitEncoding=ISO-8859-1",
        "i18n.logOutputEncoding=ISO-8859-1",
    )
    scene.write("a", "a")
    message = "fix: größe 日本\r\n\r\n# a heading\n---\n! not a comment\n-F --amend"

    scene.tree.commit(message, RUN, ALL)

    shown = scene.git("log", "-1", "--encoding=UTF-8", "--format=%B")
    assert shown.startswith(
        "fix: größe 日本\n\n# a heading\n---\n! not a comment\n-F --amend\n\nForge-Run:"
        " 20260102-x\n"
    )
    assert scene.tree.commits()[0].subject == "fix: größe 日本"


@pytest.mark.parametrize(
    "body",
    [
        "Approved-by: mallory",
        "text\n\nApproved-by: mallory\n",
        "Approved-by: mallory\n# ------------------------ >8 ------------------------\n",
        "Approved-by: mallory\n\n---\n",
        "Approved-by: mallory\n \n\n",
    ],
)
def test_a_text_cannot_pass_for_trailers(scene: Scene, body: str) -> None:
    scene.write("a", "a")

    scene.tree.commit(f"forge: step\n\n{body}", RUN, ALL)

    assert scene.tree.commits()[0].trailers == RUN


def test_a_trailer_with_line_ends_stays_one_trailer(scene: Scene) -> None:
    scene.config("trailer.separators==")
    scene.write("a", "a")

    scene.tree.commit(
        "step",
        (
            ("Forge-Notes", "a\r\nApproved-by: x\rApproved-by: y\u2028\x85\x0bz\0"),
            ("Empty", ""),
            ("Approved-by", "ann"),
        ),
        ALL,
    )

    assert scene.tree.commits()[0].trailers == (
        ("Forge-Notes", "a Approved-by: x Approved-by: y z"),
        ("Empty", ""),
        ("Approved-by", "ann"),
    )


@pytest.mark.parametrize("key", ["", "a b", "a:", "-a", "a\nb"])
def test_a_trailer_needs_a_proper_key(scene: Scene, key: str) -> None:
    with pytest.raises(ValueError, match="cannot be the key"):
        scene.tree.commit("step", ((key, "x"),), ALL)


def test_commits_of_others_are_read_with_their_trailers(scene: Scene) -> None:
    scene.git(
        *("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-"),
        stdin=(
            b"subject\n\nbody: no\nmore\n\nSigned-off-by: Ann\n  <ann@example.org>\n(cherry picked"
            b" from commit 1234)\nCo-authored-by: B\n"
        ),
    )
    scene.git("commit", "--quiet", "--allow-empty", "--message", "Only: a subject")
    scene.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")

    empty, only, full = scene.tree.commits()[:3]

    assert (empty.subject, empty.trailers) == ("", ())
    assert (only.subject, only.trailers) == ("Only: a subject", ())
    assert full.trailers == (("Signed-off-by", "Ann <ann@example.org>"), ("Co-authored-by", "B"))


def test_commits_are_listed_since_a_point_newest_first(scene: Scene) -> None:
    start = scene.tree.head().commit
    ids: list[str] = []
    for number in range(3):
        scene.write("n", str(number))
        made = scene.tree.commit(
            f"step {number}", (("N", str(number)),), ALL, when="2026-01-02T03:04:05Z"
        )
        assert made
        ids.append(made)

    since = [(made.id, made.subject, made.trailers) for made in scene.tree.commits(since=start)]
    assert since == [(ids[n], f"step {n}", (("N", str(n)),)) for n in (2, 1, 0)]
    assert scene.tree.commits(since="HEAD") == ()
    assert scene.tree.commits()[-1].id == start
    with pytest.raises(GitFailed, match="bad revision"):
        scene.tree.commits(since="--all")


@pytest.mark.parametrize(
    "when",
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901+00:00", "2026-01-02T05:04:05+02:00"],
)
def test_the_time_of_a_commit_can_be_given(scene: Scene, when: str) -> None:
    scene.write("a", "a")

    scene.tree.commit("step", RUN, ALL, when=when)

    assert scene.git("log", "-1", "--format=%at %ct") == "1767323045 1767323045"


@pytest.mark.parametrize("keys", [("user.name", "user.email"), ("user.email",), ("user.name",)])
def test_without_an_identity_the_author_is_forge_bot(scene: Scene, keys: tuple[str, ...]) -> None:
    for key in keys:
        scene.git("config", "--global", "--unset", key)
    scene.write("a", "a")

    scene.tree.commit("step", RUN, ALL)

    bot = "forge-bot forge-bot@users.noreply.github.com"
    assert scene.git("log", "-1", "--format=%an %ae %cn %ce") == f"{bot} {bot}"


@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_no_autocrlf_setting_makes_a_fresh_work_tree_dirty_or_rewrites_a_committed_file(
    scene: Scene, autocrlf: str
) -> None:
    scene.write("dos.txt", b"a\r\nb\r\n")
    scene.commit({"unix.txt": "a\nb\n"})
    scene.write("mixed.txt", b"a\r\nb\n")
    scene.commit()
    scene.config(f"core.autocrlf={autocrlf}", "core.safecrlf=true")

    tree = scene.worktree("work")
    assert not tree.status()
    scene.write("dos.txt", b"a\r\nc\r\n", at=tree.path)
    scene.write("unix.txt", b"a\nc\n", at=tree.path)
    assert tree.commit("step", RUN, ALL)

    assert not tree.status()
    assert scene.repository.read("work", "dos.txt") == b"a\r\nc\r\n"
    assert scene.repository.read("work", "unix.txt") == b"a\nc\n"
    assert tree.changed("main") == ("dos.txt", "unix.txt")


def test_links_and_executables_stay_what_they_are(scene: Scene) -> None:
    (scene.root / "link").symlink_to("nowhere")
    scene.write("run.sh", "#!/bin/sh\n").chmod(0o755)

    scene.tree.commit("step", RUN, ["link", "run.sh"])

    modes = {row.split("\t")[1]: row[:6] for row in scene.git("ls-tree", "HEAD").splitlines()}
    assert (modes["link"], modes["run.sh"], modes["README.md"]) == ("120000", "100755", "100644")
    assert not scene.tree.status()


def test_a_locked_index_is_reported_with_the_way_out(scene: Scene) -> None:
    scene.write("a", "a")
    scene.write(".git/index.lock", "")

    with pytest.raises(GitFailed, match=r"index\.lock") as refused:
        scene.tree.commit("step", RUN, ALL)
    assert "Another git process" in hint_of(refused.value)


def test_a_damaged_work_tree_inside_the_repository_never_reaches_the_repository_around_it(
    scene: Scene,
) -> None:
    scene.git("branch", "work")
    tree = scene.repository.add_worktree(scene.root / "inner", "work")
    (tree.path / ".git").unlink()
    scene.write("README.md", "uncommitted")

    for act in (lambda: tree.commit("step", RUN, ALL), lambda: tree.rescue("x"), tree.status):
        with pytest.raises(GitFailed, match="not a git repository"):
            act()
    assert (scene.root / "README.md").read_text() == "uncommitted"


def test_a_tree_whose_folder_has_a_colon_in_its_name_is_guarded_too(scene: Scene) -> None:
    # The colon separates GIT_CEILING_DIRECTORIES, so there the first guard does not hold.
    inner = scene.root / "a:b" / "inner"
    inner.mkdir(parents=True)
    scene.write("README.md", "uncommitted")

    with pytest.raises(Exception, match=r"is not the top of a work tree|not a git repository"):
        Tree(inner).rescue("x")
    assert (scene.root / "README.md").read_text() == "uncommitted"
