"""What stays read-only inside a writable work tree, whatever it is: folder, file, link, or nothing
yet.
"""

from pathlib import Path

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box
from tests.sandbox.scene import git


def shell(backend: BackendName, worktree: Path, script: str, *entries: str) -> str:
    box = Box(worktree=worktree, read_only_inside=entries) if entries else Box(worktree=worktree)
    return run(backend, box, ["sh", "-c", script]).output


def tree_of(root: Path) -> list[str]:
    return sorted(
        str(entry.relative_to(root)) for entry in root.rglob("*") if ".git" not in entry.parts
    )


def test_a_protected_place_that_does_not_exist_is_not_made_and_leaves_no_trace(
    walled: BackendName, worktree: Path
) -> None:
    before = tree_of(worktree)
    said = shell(
        walled,
        worktree,
        "mkdir -p .forge/x docs/specs; echo x > .forge/y; echo x > docs/specs/z",
        ".forge",
        "docs/specs",
    )
    assert "cannot create" in said
    assert [name for name in tree_of(worktree) if name != "docs"] == before


def test_a_protected_place_deep_inside_leaves_its_neighbours_writable(
    walled: BackendName, worktree: Path
) -> None:
    (worktree / "docs" / "specs").mkdir(parents=True)
    (worktree / "docs" / "notes").mkdir()
    said = shell(
        walled,
        worktree,
        "echo x > docs/notes/new && echo YES; echo x > docs/specs/new",
        "docs/specs",
    )
    assert said.startswith("YES\n")
    assert tree_of(worktree / "docs") == ["notes", "notes/new", "specs"]


def test_the_folder_above_a_protected_place_cannot_be_moved_away(
    walled: BackendName, worktree: Path
) -> None:
    (worktree / "docs" / "specs").mkdir(parents=True)
    (worktree / "docs" / "specs" / "a.md").write_text("kept", encoding="utf-8")
    shell(
        walled,
        worktree,
        "mv docs src/away; mkdir -p docs/specs; echo evil > docs/specs/a.md",
        "docs/specs",
    )
    assert (worktree / "docs" / "specs" / "a.md").read_text(encoding="utf-8") == "kept"


def test_a_git_folder_that_is_a_file_cannot_be_turned_to_another_repository(
    walled: BackendName, worktree: Path
) -> None:
    git(worktree, "worktree", "add", "-q", str(worktree.parent / "linked"))
    pointer = worktree.parent / "linked" / ".git"
    before = pointer.read_text(encoding="utf-8")
    shell(
        walled,
        pointer.parent,
        "echo gitdir: /elsewhere > .git; rm -f .git; mv .git src/; mkdir -p .git/hooks",
    )
    assert pointer.read_text(encoding="utf-8") == before


def test_a_protected_link_points_where_it_did_afterwards(
    walled: BackendName, worktree: Path
) -> None:
    (worktree / ".forge").symlink_to("src")
    script = "rm .forge; mkdir .forge; echo evil > .forge/config.yml; echo x >> src/app.py"
    shell(walled, worktree, script)
    assert (worktree / ".forge").readlink() == Path("src")
    assert tree_of(worktree / "src") == ["app.py"]
    assert (worktree / "src" / "app.py").read_text(encoding="utf-8") == "x = 1\n", (
        "what a protected link names is protected too"
    )


def test_a_protected_link_that_nothing_touched_is_not_made_anew(
    walled: BackendName, worktree: Path
) -> None:
    (worktree / "AGENTS.md").write_text("Be kind.\n", encoding="utf-8")
    link = worktree / "CLAUDE.md"
    link.symlink_to("AGENTS.md")
    before = link.lstat()
    assert shell(walled, worktree, "cat CLAUDE.md") == "Be kind.\n"
    after = link.lstat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_protected_link_that_leads_out_shows_nothing_of_the_outside(
    walled: BackendName, worktree: Path
) -> None:
    outside = worktree.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hunter2", encoding="utf-8")
    (worktree / ".forge").symlink_to(outside)
    assert "hunter2" not in shell(walled, worktree, "cat .forge/secret; echo x > .forge/new")
    assert (worktree / ".forge").readlink() == outside
    assert tree_of(outside) == ["secret"]


def test_a_readable_folder_inside_a_writable_one_stays_readable_only(
    bubblewrap: BackendName, worktree: Path
) -> None:
    (worktree / ".venv").mkdir()
    box = Box(worktree=worktree, readable=(worktree / ".venv",))
    assert "Read-only" in run(bubblewrap, box, ["touch", ".venv/new"]).output


def test_declared_folders_can_be_read_and_written_as_declared(
    backend: BackendName, worktree: Path, tmp_path: Path
) -> None:
    tools, data = tmp_path / "tools", tmp_path / "data"
    data.mkdir()
    (data / "table").write_text("rows\n", encoding="utf-8")
    box = Box(worktree=worktree, writable=(tools,), readable=(data, tmp_path / "missing"))
    outcome = run(
        backend,
        box,
        [
            "sh",
            "-c",
            f"cat {data}/table; mkdir {tools}/bin; echo x > {tools}/bin/new; echo x > {data}/new",
        ],
    )
    assert outcome.output.startswith("rows\n")
    assert tree_of(tools) == ["bin", "bin/new"]
    assert (data / "new").exists() == (backend is BackendName.OFF)


def test_the_temporary_folder_is_gone_afterwards_even_when_it_was_locked(
    backend: BackendName, worktree: Path
) -> None:
    script = (
        "mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; chmod 500 $TMPDIR/a/b $TMPDIR/a; echo"
        " $TMPDIR $HOME; touch $HOME/x"
    )
    temporary, home = run(backend, Box(worktree=worktree), ["sh", "-c", script]).output.split()
    assert home.startswith(temporary)
    assert backend is BackendName.BUBBLEWRAP or not Path(temporary).exists()
    assert not Path("/tmp/a").exists()


def test_files_that_run_or_instruct_by_themselves_are_neither_changed_nor_left_behind(
    walled: BackendName, worktree: Path
) -> None:
    (worktree / ".vscode").mkdir()
    (worktree / ".vscode" / "tasks.json").write_text("{}", encoding="utf-8")
    (worktree / "AGENTS.md").write_text("Be kind.\n", encoding="utf-8")
    before = tree_of(worktree)
    script = (
        "echo evil > .vscode/tasks.json; echo evil >> AGENTS.md; mkdir -p .claude .idea; echo evil"
        " > .claude/settings.json; echo evil > .cursorrules; ln -s /etc .gitlab; echo x >>"
        " src/app.py && echo WRITTEN"
    )
    assert "WRITTEN" in shell(walled, worktree, script)
    assert tree_of(worktree) == before
    assert (worktree / ".vscode" / "tasks.json").read_text(encoding="utf-8") == "{}"
    assert (worktree / "AGENTS.md").read_text(encoding="utf-8") == "Be kind.\n"


def test_what_an_installation_writes_can_be_written(walled: BackendName, worktree: Path) -> None:
    (worktree / "uv.lock").write_text("1\n", encoding="utf-8")
    (worktree / ".husky").mkdir()
    shell(walled, worktree, "echo 2 > uv.lock; mkdir .husky/_ && echo x > .husky/_/h")
    assert (worktree / "uv.lock").read_text(encoding="utf-8") == "2\n"
    assert (worktree / ".husky" / "_" / "h").exists()
