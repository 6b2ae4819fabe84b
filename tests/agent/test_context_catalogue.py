"""What can be asked for, what the host performs, and what git tells about the past, read only."""

import json
import os
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.providers.repository_files import git as run_git
from tests.agent.repository_scene import git


def hosted(root: Path, said: str, asked: list[tuple[str, ...]]) -> ProviderContext:
    def run(paths: tuple[str, ...]) -> str:
        asked.append(paths)
        return said

    return ProviderContext(root, run_tests=run)


def test_tests_are_the_hosts_and_get_only_names(root: Path) -> None:
    asked: list[tuple[str, ...]] = []
    context = hosted(root, "1 passed", asked)
    given = ["tests/test_a.py::TestB::test_c[one two]", "src/app.py"]
    found = context.fetch(
        CapabilityRequest(key="1.1-x", capability="run_tests", params=json.dumps({"paths": given})),
        WorkLimits(),
    )
    assert (found.status, found.content) == (ResultStatus.OK, "1 passed")
    context.fetch(CapabilityRequest(key="1.1-x", capability="run_tests", params="{}"), WorkLimits())
    assert asked == [tuple(given), ()]


@pytest.mark.parametrize(
    "path",
    ["--rootdir=/", "-x", "../other", "/etc/passwd", "a;b", "$(b)", ".git/hooks", "a::--x\n", ""],
)
def test_anything_but_a_name_never_reaches_the_host(root: Path, path: str) -> None:
    asked: list[tuple[str, ...]] = []
    params = json.dumps({"paths": [path]})
    found = hosted(root, "", asked).fetch(
        CapabilityRequest(key="1.1-x", capability="run_tests", params=params), WorkLimits()
    )
    assert found.status in {ResultStatus.INVALID_PARAMS, ResultStatus.DENIED}
    assert asked == []


def test_long_output_of_a_command_keeps_its_end(root: Path) -> None:
    output = "begin\n" + "." * 20_000 + "\n3 failed"
    found = hosted(root, output, []).fetch(
        CapabilityRequest(key="1.1-x", capability="run_tests", params="{}"),
        WorkLimits(result_chars=1_000),
    )
    assert found.content.startswith("begin")
    assert found.content.endswith("3 failed")
    assert len(found.content) < 1_100
    assert "left out" in found.content


def test_the_catalogue_is_sorted_and_has_only_what_there_is(root: Path) -> None:
    plain = [spec.name for spec in ProviderContext(root).catalogue()]
    assert plain == ["list_files", "read_file", "search_code"]
    whole = [spec.name for spec in hosted(root, "", []).catalogue()]
    assert whole == sorted([*plain, "run_tests"])
    assert [
        spec.name
        for spec in ProviderContext(root).catalogue(["search_code", "run_tests", "read_file"])
    ] == ["read_file", "search_code"]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("{}", "path: Field required"),
        ('{"path": 7}', "path: Input should be a valid string"),
        ('{"path": "a", "start": 0}', "start: Input should be greater than or equal to 1"),
        ('{"path": "a", "color": "red"}', "color: Extra inputs are not permitted"),
        ("[]", "parameters"),
        ("no json", "Invalid JSON"),
    ],
)
def test_parameters_that_do_not_fit_are_answered_with_the_entry(
    root: Path, params: str, said: str
) -> None:
    found = ProviderContext(root).fetch(
        CapabilityRequest(key="1.1-x", capability="read_file", params=params), WorkLimits()
    )
    assert found.status is ResultStatus.INVALID_PARAMS
    assert said in found.content
    assert "It takes: path (string); start" in found.content


def test_a_folder_that_is_no_repository_is_a_result(tmp_path: Path) -> None:
    found = ProviderContext(tmp_path).fetch(
        CapabilityRequest(key="1.1-x", capability="list_files", params="{}"), WorkLimits()
    )
    assert found.status is ResultStatus.TOOL_ERROR


def test_programs_that_a_repository_configures_are_not_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / ".gitattributes").write_text("*.txt diff=evil\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "a.txt").write_text("two\n")
    for setting in (
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.fsmonitor",
        "core.pager",
    ):
        git(tmp_path, "config", setting, f"touch '{tmp_path}/ran-{setting}'; cat")
    context = ProviderContext(tmp_path)
    for capability in ("list_files", "search_code"):
        params = '{"pattern": "two"}' if capability == "search_code" else "{}"
        assert (
            context.fetch(
                CapabilityRequest(key="1.1-x", capability=capability, params=params), WorkLimits()
            ).status
            is ResultStatus.OK
        )
    assert not list(tmp_path.glob("ran-*"))


def test_git_that_prints_without_end_is_stopped_and_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "git"
    tool.write_text("#!/bin/sh\nexec yes\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = run_git(tmp_path, "log", most=1_000)
    assert (said.cut, len(said.text)) == (True, 1_000)
