"""What a command finds around it: variables, tools of this machine, and, for an installation, the
way to the registries.
"""

import sys
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box

CLEAN = {
    *("PATH", "HOME", "TMPDIR", "LANG", "CI", "GIT_CONFIG_GLOBAL", "GIT_TERMINAL_PROMPT", "TERM"),
    "PYTHONHASHSEED",
}
# The shell sets the first by itself; the others lead to a Rust that lies in a home folder.
MAY_BE_THERE = {"PWD", "OLDPWD", "SHLVL", "_", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_AUTO_INSTALL"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, with the usual secrets, and no tools but the system's on PATH."""
    folder = tmp_path / "home"
    for name in (".ssh/id_ed25519", ".netrc", ".cargo/credentials.toml", ".config/gh/hosts.yml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("hunter2", encoding="utf-8")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    for name in ("PYENV_ROOT", "PYENV_VERSION", "CARGO_HOME", "RUSTUP_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def tool(file: Path, says: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho {says}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def variables(backend: BackendName, box: Box) -> dict[str, str]:
    lines = run(backend, box, ["env"]).output.splitlines()
    return dict(line.split("=", 1) for line in lines)


def on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setenv("PATH", ":".join([*map(str, folders), "/usr/local/bin:/usr/bin:/bin"]))


# -- variables
# --------------------------------------------------------------------------------------------------


def test_python_orders_sets_alike_in_every_run(backend: BackendName, worktree: Path) -> None:
    box = Box(worktree=worktree)
    orders = {run(backend, box, ["python3", "-c", "print({*'abcdefghij'})"]).output for _ in "123"}
    assert len(orders) == 1


def test_nothing_of_our_environment_is_passed_on(
    backend: BackendName, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GITHUB_TOKEN",
        "ANTHROPIC_API_KEY",
        "HARMLESS",
        "PIP_INDEX_URL",
        "LD_PRELOAD_OF_MINE",
    ):
        monkeypatch.setenv(name, "hunter2")
    found = variables(backend, Box(worktree=worktree))
    assert CLEAN - {"TERM"} <= found.keys() <= CLEAN | MAY_BE_THERE
    assert "hunter2" not in found.values()
    assert (found["CI"], found["GIT_CONFIG_GLOBAL"], found["GIT_TERMINAL_PROMPT"]) == (
        "true",
        "/dev/null",
        "0",
    )


def test_a_declared_library_is_loaded_inside_only(walled: BackendName, worktree: Path) -> None:
    """LD_PRELOAD with a library of the project must not reach the program that builds the box,
    which runs outside of it.
    """
    outcome = run(
        walled,
        Box(worktree=worktree, env={"LD_PRELOAD": str(worktree / "src" / "missing.so")}),
        ["true"],
    )
    assert outcome.exit_code == 0
    assert outcome.output.count("missing.so") == 1


def test_a_declared_path_is_searched_first(chosen: BackendName, worktree: Path, home: Path) -> None:
    tool(worktree / "src" / "bin" / "greet", "from-the-project")
    box = Box(worktree=worktree, env={"PATH": f"{worktree}/src/bin:/usr/bin:relative:"})
    assert run(chosen, box, ["greet"]).output == "from-the-project\n"
    assert variables(chosen, box)["PATH"].startswith(f"{worktree}/src/bin:/usr/bin")


# -- tools
# --------------------------------------------------------------------------------------------------


def test_a_shim_gives_way_to_the_python_that_runs_forge_bot(
    chosen: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(home / ".pyenv" / "shims" / "python3", "shim")
    monkeypatch.setenv("PATH", str(home / ".pyenv" / "shims"))
    code = "import sys; print(sys.base_prefix)"
    outcome = run(chosen, Box(worktree=worktree), ["python3", "-c", code])
    assert outcome.output == f"{sys.base_prefix}\n"


def test_a_tool_of_one_file_is_seen_without_its_folder(
    bubblewrap: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(home / ".local" / "bin" / "uv", "uv-of-home")
    tool(home / ".local" / "bin" / "private", "private")
    on_path(monkeypatch, home / ".local" / "bin")
    outcome = run(
        bubblewrap, Box(worktree=worktree), ["sh", "-c", f"uv; ls {home}/.local/bin; ls -A {home}"]
    )
    assert outcome.output == "uv-of-home\nuv\n.local\n"


def test_a_home_folder_is_never_shown_for_the_sake_of_a_tool(
    walled: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(home / "bin" / "node", "node-of-home")
    tool(home / ".ssh" / "bin" / "python3", "python-of-ssh")
    on_path(monkeypatch, home / "bin", home / ".ssh" / "bin")
    script = f"node; python3 -c 'print(1)'; cat {home}/.ssh/id_ed25519 {home}/.netrc"
    output = run(walled, Box(worktree=worktree), ["sh", "-c", script]).output
    assert "of-home" not in output
    assert "of-ssh" not in output
    assert "hunter2" not in output


def test_of_a_rust_in_the_home_folder_the_credentials_stay_hidden(
    walled: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(home / ".cargo" / "bin" / "cargo", "cargo-of-home")
    (home / ".rustup" / "toolchains").mkdir(parents=True)
    on_path(monkeypatch, home / ".cargo" / "bin")
    script = "cargo; echo $CARGO_HOME $RUSTUP_HOME; cat $CARGO_HOME/credentials.toml"
    lines = run(walled, Box(worktree=worktree), ["sh", "-c", script]).output.splitlines()
    assert lines[:2] == ["cargo-of-home", f"{home}/.cargo {home}/.rustup"]
    assert "hunter2" not in str(lines)


def test_of_a_go_in_a_folder_of_its_own_all_of_it_is_seen(
    walled: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = home / "sdk" / "go1.27"
    tool(go / "bin" / "go", "go-of-home")
    (go / "src" / "runtime").mkdir(parents=True)
    (go / "VERSION").write_text("go1.27\n", "utf-8")
    tool(home / "other" / "bin" / "go", "no-installation")
    for folder in (home / "other" / "bin", go / "bin"):
        on_path(monkeypatch, folder)
        output = run(walled, Box(worktree=worktree), ["sh", "-c", f"go; cat {go}/VERSION"]).output
        assert ("go-of-home\ngo1.27" in output) == (folder.parent == go)
        assert "no-installation" not in output


def test_of_a_copied_folder_a_command_changes_the_copy_only(
    backend: BackendName, worktree: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text("compiled\n", "utf-8")
    box = Box(worktree=worktree, copied={"GOCACHE": kept, "OTHER": tmp_path / "missing"})
    script = "cat $GOCACHE/a; echo changed > $GOCACHE/a; mkdir $OTHER && cat $GOCACHE/a"
    assert run(backend, box, ["sh", "-ec", script]).output == "compiled\nchanged\n"
    assert (kept / "a").read_text("utf-8") == "compiled\n"


# -- registries
# --------------------------------------------------------------------------------------------------

PASSED_ON = {
    "PIP_INDEX_URL": "https://mirror.example.org/simple",
    "UV_INDEX_URL": "https://mirror.example.org/simple",
    "npm_config_registry": "https://mirror.example.org/npm",
    "HTTPS_PROXY": "http://proxy.example.org:3128",
    "no_proxy": "localhost",
    "PIP_TRUSTED_HOST": "mirror.example.org",
}
KEPT_BACK = {
    "PIP_PASSWORD": "hunter2",
    "UV_PUBLISH_TOKEN": "hunter2",
    "UV_INDEX_CORP_PASSWORD": "hunter2",
    "NPM_CONFIG__AUTH": "hunter2",
    "npm_config_//registry.npmjs.org/:_authToken": "hunter2",
    "PIP_EXTRA_INDEX_URL": "https://me:hunter2@mirror.example.org/simple",
    "UV_EXTRA_INDEX_URL": "https://hunter2@mirror.example.org/simple",
    "UV_DEFAULT_INDEX": "https://mirror.example.org/simple?token=hunter2",
    "http_proxy": "http://me:hunter2@proxy.example.org:3128",
    "PIP_CACHE_DIR": "/somewhere/else",
}
PIP_CONF = """[global]
index-url = https://mirror.example.org/simple
extra-index-url =
    https://me:hunter2@other.example.org/simple
    https://third.example.org/simple
find-links = {folder}
"""
NPMRC = """registry=https://mirror.example.org/npm
//mirror.example.org/npm/:_authToken=hunter2
_password=hunter2
fund=false
"""


def test_an_installation_knows_the_registries_but_no_account(
    chosen: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**PASSED_ON, **KEPT_BACK}.items():
        monkeypatch.setenv(name, value)
    found = variables(chosen, Box(worktree=worktree, network=True))
    # The machine's proxy is our proxy's affair.
    expected = {**PASSED_ON, "HTTPS_PROXY": found["HTTP_PROXY"], "no_proxy": ""}
    assert {name: found.get(name) for name in PASSED_ON} == expected
    assert "127.0.0.1" in found["HTTP_PROXY"]
    assert found.keys().isdisjoint(KEPT_BACK.keys() - {"http_proxy"})
    assert found["http_proxy"] == found["HTTP_PROXY"]
    assert "hunter2" not in str(found)
    assert variables(chosen, Box(worktree=worktree)).keys().isdisjoint(PASSED_ON)


def test_configuration_files_of_package_clients_come_along_without_their_secrets(
    chosen: BackendName, worktree: Path, home: Path, tmp_path: Path
) -> None:
    (home / ".config" / "pip").mkdir(parents=True)
    (home / ".config" / "pip" / "pip.conf").write_text(
        PIP_CONF.format(folder=tmp_path / "wheels"), encoding="utf-8"
    )
    (home / ".npmrc").write_text(NPMRC, encoding="utf-8")
    output = run(
        chosen,
        Box(worktree=worktree, network=True),
        ["sh", "-c", "cat ~/.config/pip/pip.conf ~/.npmrc"],
    ).output
    assert "hunter2" not in output
    for kept in (
        "index-url = https://mirror",
        "    https://third",
        "registry=https",
        "fund=false",
        f"find-links = {tmp_path}/wheels",
    ):
        assert kept in output
    assert (
        "registry" not in run(chosen, Box(worktree=worktree), ["sh", "-c", "cat ~/.npmrc"]).output
    )


def test_a_folder_with_packages_is_readable_for_an_installation_only(
    walled: BackendName, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "six.whl").touch()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "packages"))
    words = ["ls", str(tmp_path / "packages")]
    assert "six.whl" in run(walled, Box(worktree=worktree, network=True), words).output
    assert "six.whl" not in run(walled, Box(worktree=worktree), words).output


def test_a_folder_of_packages_that_is_a_home_folder_or_keeps_a_key_is_not_shown(
    walled: BackendName, worktree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = home.with_name("packages")
    beside.mkdir()
    (beside / ".netrc").write_text("password hunter2\n", "utf-8")
    for place in (home, home / ".ssh", home.parent, beside):
        monkeypatch.setenv("PIP_FIND_LINKS", str(place))
        outcome = run(
            walled,
            Box(worktree=worktree, network=True),
            ["cat", f"{home}/.netrc", f"{home}/.ssh/id_ed25519", f"{beside}/.netrc"],
        )
        assert "hunter2" not in outcome.output
