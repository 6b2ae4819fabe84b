"""After a person approved a new dependency, its packages are installed with network, and the project
itself is built without.
"""

import hashlib
import io
import os
import shutil
import threading
import zipfile
from collections import defaultdict
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.project_commands.setup_steps import deciding_files, divided, not_divided
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from tests.security.project_scene import project_in
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
  setup: [[python3, -m, venv, --without-pip, --system-site-packages, "{env}"], [%s]]
  test: [["{env}/bin/python", -c, "import fetchedhere, demo; print(fetchedhere.WORDS)"]]
"""
PIP = '"{env}/bin/python", -m, pip, install, -e, .'
UV = 'env, "UV_PROJECT_ENVIRONMENT={env}", uv, sync, --frozen, --python, "{env}/bin/python"'
IN_UV, IN_VENV = f"env UV_PROJECT_ENVIRONMENT={ENV}", f"env VIRTUAL_ENV={ENV}"
PIP_INSTALL = f"{ENV}/bin/python -m pip install -q --disable-pip-version-check"
LOCK = """version = 1
requires-python = ">=3.11"

[[package]]
name = "demo"
version = "1.0"
source = { editable = "." }
"""
LOCKED = """dependencies = [{ name = "fetchedhere" }]

[[package]]
name = "fetchedhere"
version = "1.0"
source = { registry = "%(url)s" }
wheels = [{ url = "%(url)s/fetchedhere-1.0-py3-none-any.whl", hash = "sha256:%(hash)s" }]
"""


def wheel() -> bytes:
    """A package `fetchedhere` as a registry has it."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        file.writestr("fetchedhere.py", "WORDS = 'fetchedhere is there'\n")
        file.writestr(
            "fetchedhere-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: fetchedhere\nVersion: 1.0\n",
        )
        file.writestr(
            "fetchedhere-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("fetchedhere-1.0.dist-info/RECORD", "")
    return raw.getvalue()


PACKAGE = wheel()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """A registry with one package; the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            page = (
                PACKAGE
                if self.path.endswith(".whl")
                else b'<a href="/fetchedhere-1.0-py3-none-any.whl">fetchedhere-1.0-py3-none-any.whl</a>'
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
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
    yield paths
    server.shutdown()
    server.server_close()


WITHOUT_UV = pytest.mark.skipif(not shutil.which("uv"), reason="no uv here")


@pytest.mark.parametrize(
    ("backend", "installer"),
    [
        pytest.param("bubblewrap", UV, id="bubblewrap-uv", marks=WITHOUT_UV),
        pytest.param("landlock", UV, id="landlock-uv", marks=WITHOUT_UV),
        # pip takes five times as long; with credentials it fetches in the first line too.
        pytest.param("bubblewrap", PIP, id="bubblewrap-pip", marks=pytest.mark.slow),
        pytest.param("landlock", PIP, id="landlock-pip", marks=pytest.mark.slow),
    ],
)
def test_an_approved_dependency_is_fetched_and_the_project_is_built_without_network(
    backend: str, installer: str, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trouble := failure_reason(BackendName(backend)):
        pytest.skip(trouble)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "demo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    files = {
        ".forge/config.yml": CONFIG % (backend, installer),
        "backend.py": BACKEND,
        "pyproject.toml": PYPROJECT,
        "demo.py": "",
        "uv.lock": LOCK,
        "index.txt": os.environ["PIP_INDEX_URL"],
        ".gitignore": "__pycache__/\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    (folder / "pyproject.toml").write_text(
        PYPROJECT.replace("= []\n", '= ["fetchedhere"]\n').replace(
            'requires = ["fetchedhere"]', "requires = []"
        ),
        encoding="utf-8",
    )
    url, digest = os.environ["PIP_INDEX_URL"], hashlib.sha256(PACKAGE).hexdigest()
    (folder / "uv.lock").write_text(LOCK + LOCKED % {"url": url, "hash": digest}, encoding="utf-8")
    patch = git(folder, "diff").encode() + b"\n"
    git(folder, "commit", "-qam", "fetchedhere")
    project = project_in(folder, patch, base="HEAD~1")
    results = [*project.set_up(), *project.check()]
    assert [result.exit_code for result in results] == [0] * len(results), results[-1].tail
    assert "fetchedhere is there" in results[-1].tail
    assert any("fetchedhere" in path for path in asked)
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
    (folder / ".forge" / "config.yml").write_text(CONFIG % ("auto", PIP), encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    patch = (
        b"diff --git a/requirements.txt b/requirements.txt\n--- a/requirements.txt\n"
        b"+++ b/requirements.txt\n@@ -1 +1 @@\n-other\n+fetchedhere\n"
    )
    project = project_in(folder, patch)
    with pytest.raises(GitFailed) as caught:
        project.set_up()
    assert "requirements.txt" in caught.value.message
    assert asked == []
    assert not (project.places.environment / "ready").exists()


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
        ("yarn", "install", "--immutable"): [
            ("yarn install --immutable --mode=skip-build", True),
            ("env YARN_ENABLE_NETWORK=false yarn install --immutable", False),
        ],
        (f"{ENV}/bin/pip", "install", "-q", "-e", "./lib[test]", "six", "-r", "more.txt"): [
            (f"{ENV}/bin/pip install -q six -r more.txt setuptools wheel", True),
            (f"{ENV}/bin/pip install -q --no-deps --no-build-isolation -e ./lib[test]", False),
        ],
        ("env", f"UV_PROJECT_ENVIRONMENT={ENV}", "uv", "sync", "--frozen", "--project", "api"): [
            (f"{IN_UV} uv sync --frozen --project api --no-install-package api", True),
            (f"{IN_UV} uv pip install --quiet --python {ENV} hatchling>=1 editables", True),
            (
                f"{IN_UV} uv sync --frozen --project api --inexact --offline --no-build-isolation",
                False,
            ),
        ],
        ("env", f"VIRTUAL_ENV={ENV}", "poetry", "install"): [
            (f"{IN_VENV} poetry install --no-root", True),
            (f"{PIP_INSTALL} setuptools wheel", True),
            (f"{PIP_INSTALL} --no-deps --no-build-isolation -e .", False),
        ],
        ("env", f"VIRTUAL_ENV={ENV}", "pdm", "install", "--project", "api"): [
            (f"{IN_VENV} pdm install --project api --no-self --skip=:all", True),
            (f"{PIP_INSTALL} hatchling>=1 editables", True),
            (f"{PIP_INSTALL} --no-deps --no-build-isolation -e ./api", False),
        ],
        ("cargo", "fetch"): [("cargo fetch", True)],
        ("env", "BUNDLE_FROZEN=true", "bundle", "install"): [
            ("env BUNDLE_FROZEN=true bundle install", True)
        ],
        ("uv", "sync"): [("uv sync", True)],
        ("poetry", "install", "-C", "x"): [("poetry install -C x", True)],
        ("./install.sh",): [("./install.sh", True)],
    }
    files = {
        "more.txt": "six\n",
        "api/uv.lock": LOCK.replace("demo", "api"),
        "api/pyproject.toml": '[build-system]\nrequires = ["hatchling>=1"]\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for argv, steps in commands.items():
        done = [(" ".join(words), network) for words, network in divided(argv, tmp_path, tmp_path)]
        assert done == steps
    assert not_divided([*commands], lambda path: files.get(path, "")) == (
        "uv sync",
        "poetry install -C x",
        "./install.sh",
    )


def test_a_folder_among_the_packages_makes_a_command_one_that_may_build_with_network() -> None:
    commands = (
        (f"{ENV}/bin/pip", "install", "-e", "./lib[test]", "-r", "more.txt"),
        ("env", f"VIRTUAL_ENV={ENV}", "poetry", "install"),
        ("env", f"VIRTUAL_ENV={ENV}", "pdm", "install"),
    )
    assert deciding_files(commands) == ("more.txt", "poetry.lock", "pdm.lock")
    for path, line in {
        "more.txt": "-e .",
        "poetry.lock": 'type = "directory"',
        "pdm.lock": 'path = "./lib"',
    }.items():
        texts = defaultdict(str, {path: f"six\n{line}\n"})
        (named,) = not_divided(commands, texts.__getitem__)
        assert path in named or path.partition(".")[0] in named
