"""After a person approved a new dependency, its packages are installed with network, and the project
itself is built without.
"""

import io
import os
import threading
import zipfile
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository, Tree
from forge_bot.knowledge import ENV
from forge_bot.runs.installation import Foundation
from forge_bot.runs.kept_profiles import profile_at
from forge_bot.runs.project import Project
from forge_bot.runs.run_paths import run_paths
from forge_bot.runs.setup_steps import divided, not_divided
from forge_bot.sandbox import BackendName, available
from forge_bot.settings import load_config
from tests.security.scene import git

BACKEND = """
import os, pathlib, tomllib, urllib.request, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    try:
        urllib.request.urlopen(pathlib.Path("index.txt").read_text() + "/stolen", timeout=5).read()
    except OSError:
        pass
    needs = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]["dependencies"]
    about = "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n"
    about += "".join(f"Requires-Dist: {each}\\n" for each in needs)
    with zipfile.ZipFile(os.path.join(folder, "demo-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("demo.pth", os.getcwd())
        wheel.writestr("demo-1.0.dist-info/METADATA", about)
        wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("demo-1.0.dist-info/RECORD", "")
    return "demo-1.0-py3-none-any.whl"
"""
PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "demo"
version = "1.0"
dependencies = []
"""
CONFIG = """sandbox: %s
setup_without_namespace: true
commands:
  setup: [[python3, -m, venv, "{env}"], ["{env}/bin/python", -m, pip, install, -e, .]]
  test: [["{env}/bin/python", -c, "import two, demo; print(two.WORDS)"]]
"""


def wheel() -> bytes:
    """A package `two` as a registry has it."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        file.writestr("two.py", "WORDS = 'two is there'\n")
        file.writestr(
            "two-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: two\nVersion: 1.0\n"
        )
        file.writestr(
            "two-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("two-1.0.dist-info/RECORD", "")
    return raw.getvalue()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """A registry with one package; the paths that it was asked for."""
    paths: list[str] = []
    package = wheel()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            page = (
                package
                if self.path.endswith(".whl")
                else b'<a href="/two-1.0-py3-none-any.whl">two-1.0-py3-none-any.whl</a>'
            )
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        # The name of the parameter is the base class's.
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
    yield paths
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_an_approved_dependency_is_fetched_and_the_project_is_built_without_network(
    backend: str, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trouble := dict(available())[BackendName(backend)]:
        pytest.skip(trouble)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "demo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    files = {
        ".forge/config.yml": CONFIG % backend,
        "backend.py": BACKEND,
        "pyproject.toml": PYPROJECT,
        "demo.py": "",
        "index.txt": os.environ["PIP_INDEX_URL"],
        ".gitignore": "__pycache__/\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    (folder / "pyproject.toml").write_text(
        PYPROJECT.replace("= []\n", '= ["two"]\n').replace('requires = ["two"]', "requires = []"),
        encoding="utf-8",
    )
    patch = git(folder, "diff").encode() + b"\n"
    git(folder, "commit", "-qam", "two")
    repository = Repository.find(folder)
    config = load_config(repository.text_here)
    base = repository.commit_id("HEAD~1")
    project = Project(
        repository,
        Tree(folder),
        run_paths(repository, "demo"),
        config,
        profile_at(repository, base, config),
        lambda _notice: None,
        Foundation(base, lambda: (patch,)),
    )
    results = [*project.set_up(), *project.check()]
    assert [result.exit_code for result in results] == [0] * len(results), results[-1].tail
    assert "two is there" in results[-1].tail
    assert "/two/" in asked
    assert "/stolen" not in asked


def test_an_approved_patch_that_does_not_fit_the_base_is_an_error_and_nothing_is_fetched(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "demo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "requirements.txt").write_text("one\n", encoding="utf-8")
    (folder / ".forge").mkdir()
    (folder / ".forge" / "config.yml").write_text(CONFIG % "auto", encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    repository = Repository.find(folder)
    config = load_config(repository.text_here)
    base = repository.commit_id("HEAD")
    patch = (
        b"diff --git a/requirements.txt b/requirements.txt\n--- a/requirements.txt\n"
        b"+++ b/requirements.txt\n@@ -1 +1 @@\n-other\n+two\n"
    )
    project = Project(
        repository,
        Tree(folder),
        run_paths(repository, "demo"),
        config,
        profile_at(repository, base, config),
        lambda _notice: None,
        Foundation(base, lambda: (patch,)),
    )
    with pytest.raises(GitFailed) as caught:
        project.set_up()
    assert "requirements.txt" in caught.value.message
    assert asked == []
    assert not (run_paths(repository, "demo").environment / "ready").exists()


def test_every_tool_installs_without_scripts_of_the_project_or_is_named(tmp_path: Path) -> None:
    commands = {
        ("npm", "ci"): [("npm ci --ignore-scripts", True), ("npm rebuild", False)],
        ("pnpm", "--dir", "web", "install"): [
            ("pnpm --dir web install --ignore-scripts", True),
            ("pnpm --dir web rebuild", False),
        ],
        ("yarn", "--cwd", "web", "install", "--frozen-lockfile"): [
            ("yarn --cwd web install --frozen-lockfile --ignore-scripts", True),
            ("npm --prefix web rebuild", False),
        ],
        ("bun", "install", "--frozen-lockfile"): [
            ("bun install --frozen-lockfile --ignore-scripts", True),
            ("npm rebuild", False),
        ],
        ("yarn", "install", "--immutable"): [("yarn install --immutable", True)],
        (f"{ENV}/bin/pip", "install", "-q", "-e", "./lib[test]", "six", "-r", "more.txt"): [
            (f"{ENV}/bin/pip install -q six -r more.txt setuptools wheel", True),
            (f"{ENV}/bin/pip install -q --no-deps --no-build-isolation -e ./lib[test]", False),
        ],
        ("uv", "sync"): [("uv sync", True)],
        ("cargo", "fetch"): [("cargo fetch", True)],
    }
    for argv, steps in commands.items():
        done = [(" ".join(words), network) for words, network in divided(argv, tmp_path, tmp_path)]
        assert done == steps
    assert not_divided([*commands], {"more.txt": "six\n"}) == (
        "yarn install --immutable",
        "uv sync",
    )
    local = {"more.txt": "six\n-e .\n"}
    assert f"{ENV}/bin/pip install -q -e ./lib[test] six -r more.txt" in not_divided(
        [*commands], local
    )
