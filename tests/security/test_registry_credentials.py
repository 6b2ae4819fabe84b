"""Credentials of registries reach what fetches third-party packages, and nothing else."""

import base64
import io
import json
import tarfile
from collections.abc import Generator
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.notifications import Message, Notice
from forge_bot.runs.project_commands.setup_credentials import only_fetches
from forge_bot.runs.run_files import run_paths
from tests.fakes.rows import rows
from tests.security.project_scene import Registry, checked, committed, project_in, serving

ROWS = rows(__file__)

SECRET = "swordfish-of-the-registry"
BASIC = base64.b64encode(f"reader:{SECRET}".encode()).decode()
DUMP = """
import json, os, pathlib
def build_editable(folder, config_settings=None, metadata_directory=None):
    pathlib.Path("logs/seen.json").write_text(json.dumps(dict(os.environ)))
    import zipfile
    with zipfile.ZipFile(os.path.join(folder, "demo-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("demo.pth", os.getcwd())
        wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\nRequires-Dist: fetchedhere\\n")
        wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("demo-1.0.dist-info/RECORD", "")
    return "demo-1.0-py3-none-any.whl"
"""
THEIRS = """
import os, sys, pathlib, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    %s
    with zipfile.ZipFile(os.path.join(folder, "fetchedhere-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("fetchedhere.py", "")
        wheel.writestr("fetchedhere-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: fetchedhere\\nVersion: 1.0\\n")
        wheel.writestr("fetchedhere-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("fetchedhere-1.0.dist-info/RECORD", "")
    return "fetchedhere-1.0-py3-none-any.whl"
"""
SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PYPROJECT = f'{SYSTEM}[project]\nname = "demo"\nversion = "1.0"\ndependencies = ["fetchedhere"]\n'
CONFIG = """sandbox: %s
setup_without_namespace: true
setup_credentials: [PIP_INDEX_URL]
commands:
  setup:
    - [python3, -m, venv, --without-pip, --system-site-packages, "{env}"]
    - ["{env}/bin/python", -m, pip, install, -v, fetchedhere]
    - ["{env}/bin/python", -m, pip, install, -v, --no-deps, --no-build-isolation, -e, .]
  test: [["{env}/bin/python", -c, "import fetchedhere, os; print(sorted(os.environ))"]]
"""


def packed(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(text.encode())
            archive.addfile(about, io.BytesIO(text.encode()))
    return made.getvalue()


@pytest.fixture
def registry() -> Generator[Registry]:
    with serving(f"Bearer {SECRET}", f"Basic {BASIC}") as found:
        yield found


def holding_secret(folder: Path) -> list[str]:
    """Files below a folder that have the secret in them, in one form or another."""
    forms = (SECRET.encode(), BASIC.encode(), SECRET.encode().hex().encode())
    return [
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and any(form in file.read_bytes() for form in forms)
    ]


@pytest.fixture
def demo(wall: str, tmp_path: Path) -> Repository:
    """A project of Python whose build writes down its environment."""
    files = {
        ".forge/config.yml": CONFIG % f"'{wall}'",
        "backend.py": DUMP,
        "pyproject.toml": PYPROJECT,
        "logs/README": "",
        ".gitignore": "__pycache__/\nseen.json\n",
    }
    return Repository.find(committed(tmp_path / "demo", files))


def serve_two(registry: Registry, does: str) -> None:
    archive = packed(
        {
            "fetchedhere-1.0/pyproject.toml": f'{SYSTEM}[project]\nname = "fetchedhere"\nversion = "1.0"\n',
            "fetchedhere-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: fetchedhere\nVersion: 1.0\n",
            "fetchedhere-1.0/backend.py": THEIRS % does,
        }
    )
    registry.pages = {
        "/simple/fetchedhere/": b'<a href="/fetchedhere-1.0.tar.gz">fetchedhere-1.0.tar.gz</a>',
        "/fetchedhere-1.0.tar.gz": archive,
    }


def give(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> None:
    monkeypatch.setenv(
        "FORGE_SETUP_PIP_INDEX_URL", f"http://reader:{SECRET}@{registry.host}/simple"
    )


def test_pip_fetches_with_them_and_neither_the_build_nor_the_tests_see_them(
    demo: Repository, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_two(registry, "print('built')")
    give(monkeypatch, registry)
    told: list[Notice] = []
    here = project_in(demo.root, told=told)
    results = [*here.set_up(), *checked(here)]
    assert [result.exit_code for result in results] == [0] * len(results), results
    assert "/fetchedhere-1.0.tar.gz" in registry.given
    seen = json.loads((run_paths(demo, "environment-0").judged / "logs" / "seen.json").read_text())
    assert "PATH" in seen
    assert SECRET not in str(seen)
    assert SECRET not in str(results)
    assert SECRET not in str(told)
    assert "PIP_INDEX_URL" not in results[-1].tail
    assert holding_secret(tmp_path) == []
    assert not any(SECRET.encode() in line for line in registry.command_lines)


def test_what_a_package_prints_of_them_is_struck_out(
    demo: Repository, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_two(
        registry, "sys.exit(' '.join((url := os.environ['PIP_INDEX_URL'], url.encode().hex())))"
    )
    give(monkeypatch, registry)
    told: list[Notice] = []
    failed = project_in(demo.root, told=told).set_up()[-1]
    assert failed.exit_code != 0
    assert failed.tail.count("[PIP_INDEX_URL]") >= 2
    assert SECRET not in f"{failed}{told}"
    assert SECRET.encode().hex() not in f"{failed}{told}"


def test_a_command_after_one_that_may_run_code_of_the_project_gets_none_and_that_is_said(
    demo: Repository, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, registry)
    # Without credentials pip would ask the registry of everybody, and install what that has.
    nowhere = tmp_path / "pip.conf"
    nowhere.write_text("[global]\nindex-url = http://127.0.0.1:9/\nretries = 0\n")
    config = demo.root / ".forge" / "config.yml"
    own = 'import os, json; open("logs/seen.json", "w").write(json.dumps(dict(os.environ)))'
    config.write_text(
        f"sandbox: 'off'\nsetup_credentials: [PIP_INDEX_URL]\nenvironment: {{PIP_CONFIG_FILE: '{nowhere}'}}\ncommands:\n"
        f"  setup: [[python3, -c, {json.dumps(own)}], [python3, -m, pip, install, fetchedhere]]\n  test: []\n"
    )
    told: list[Notice] = []
    project_in(demo.root, told=told).set_up()
    assert registry.given == []
    assert (
        SECRET not in (run_paths(demo, "environment-0").judged / "logs" / "seen.json").read_text()
    )
    said = [notice.text for notice in told if isinstance(notice, Message)]
    assert any("may run code of the project" in text for text in said)
    assert holding_secret(tmp_path) == []


def test_a_repository_cannot_ask_for_another_secret_of_the_machine(
    demo: Repository, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"http://reader:{SECRET}@{registry.host}/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    project_in(demo.root).set_up()
    assert registry.given == []


@pytest.mark.parametrize(("words", "files", "fetches"), ROWS["only_what_is_known_to"])
def test_only_what_is_known_to_fetch_gets_them(
    words: str, files: dict[str, str], fetches: bool
) -> None:
    assert only_fetches(words.split(), lambda path: files.get(path, "")) is fetches
