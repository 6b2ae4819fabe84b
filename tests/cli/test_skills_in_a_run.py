"""Agent Skills in a run: performed by a conversation of their own, with scripts in the sandbox."""

import json
from collections.abc import Mapping

import pytest

from tests.cli.test_tools_in_a_run import asks, prompts, state
from tests.fakes.sample import Said, Sample
from tests.fakes.script import Answer
from tests.fakes.tool_servers import skill

ANALYST = ("situation-analyst-investigator", "phase-1")
NOTES = "skill_release-notes"
WANTED = (NOTES, {"request": "the notes since the first commit"})
LIST = "#!/bin/sh\nls\necho $1 > made-by-a-script\nenv | grep -c TOKEN\nexit ${2:-0}\n"
DONE: Answer = {"artifact_markdown": "Nothing was released yet. All scripts succeeded."}


def front(more: str = "") -> str:
    return f"name: release-notes\ndescription: Write the notes of a release.\n{more}".strip()


def runs(*arguments: str, path: str = "scripts/list.sh") -> Answer:
    """A request for a script."""
    return asks(("run_script", {"path": path, "arguments": list(arguments)}))


def start(
    sample: Sample,
    performed: Mapping[str, Answer],
    *,
    more: str = "",
    body: str = "Run `scripts/list.sh`. The form is in `references/form.md`.",
) -> Said:
    """Begin a run whose analyst asks for a skill, which is performed like this."""
    place = skill(sample.path / ".forge" / "skills", "release-notes", front(more), body)
    (place / "scripts" / "list.sh").write_text(LIST)
    (place / "scripts" / "list.sh").chmod(0o755)
    (place / "references").mkdir()
    (place / "references" / "form.md").write_text("# The form of a note\n")
    answers: dict[tuple[str, str, str], Answer | str] = {
        (*ANALYST, "1.1"): asks(WANTED),
        **{("skill", "phase-1", f"1.1/{round_}"): answer for round_, answer in performed.items()},
    }
    model = sample.model(answers)
    return sample.forge("run", "Say who is next", "--effort", "S", "--yes", "--model", model)


def told(sample: Sample, words: str) -> str:
    """The message of the analyst's conversation that has these words."""
    lines = [json.loads(line) for line in prompts(sample).splitlines()]
    texts = [message["text"] for line in lines for message in line.get("messages", [])]
    return next(text for text in reversed(texts) if words in text)


def test_a_skill_is_performed_without_our_variables_and_what_ran_is_told(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "hidden")
    said = start(sample, {"1.1": runs("x"), "1.2": DONE})
    assert said.code == 3, said.err
    shown = told(sample, "Nothing was released yet.")
    assert "(scripts/list.sh: exit code 0)" in shown
    seen = told(sample, "(exit code 0)")
    assert "rota\n" in seen
    assert "\n0\n" in seen, "no variable of ours with TOKEN in its name"


@pytest.mark.slow
def test_only_listed_scripts_run_and_what_they_leave_is_removed(sample: Sample) -> None:
    (sample.path / "secret.sh").write_text("#!/bin/sh\necho leaked\n")
    wrong = asks(
        ("run_script", {"path": "../../../secret.sh"}),
        ("run_script", {"path": "SKILL.md"}),
        ("run_script", {"path": "scripts/list.sh", "arguments": ["x"], "shell": True}),
        ("read_reference", {"path": "/etc/passwd"}),
    )
    start(sample, {"1.1": wrong, "1.2": runs("x"), "1.3": DONE})
    shown = told(sample, "is no such file of this skill")
    assert shown.count("→ invalid_params") == 4
    assert "leaked" not in prompts(sample)
    folders = sample.path.parent.rglob("made-by-a-script")
    assert list(folders) == []


@pytest.mark.slow
def test_a_skill_whose_front_matter_names_tools_has_only_those(sample: Sample) -> None:
    both = asks(
        ("run_script", {"path": "scripts/list.sh"}), ("read_file", {"path": "rota/schedule.py"})
    )
    start(sample, {"1.1": both, "1.2": DONE}, more="allowed-tools: Read")
    shown = told(sample, "There are: read_file, read_reference.")
    assert "→ unknown_capability" in shown
    assert "class Schedule" in shown


def network(sample: Sample) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text(f"capabilities: {{network: [{NOTES}]}}\n")


@pytest.mark.slow
def test_a_skill_with_network_stands_before_a_person_with_its_digest(sample: Sample) -> None:
    network(sample)
    said = start(sample, {})
    assert said.code == 3
    gate = state(sample)["gate"]
    assert gate["reason"] == "tool_approval"
    (call,) = json.loads(sample.forge("show", "calls-1.json").out)
    assert (call["capability"], call["capability_type"]) == (NOTES, "skill")
    assert call["params"] == WANTED[1]
    assert (call["reasoning"], len(call["digest"])) == ("to know", 64)
    assert "# Performer of a Skill" not in prompts(sample)
    model = sample.model({("skill", "phase-1", "*"): DONE})
    assert sample.forge("approve", "--model", model).code == 3
    (made,) = state(sample)["calls"]
    assert made["status"] == "done"
    assert "Nothing was released yet." in sample.forge("show", "calls-1-1.md").out


@pytest.mark.slow
def test_an_approval_does_not_hold_for_a_skill_that_was_changed(sample: Sample) -> None:
    network(sample)
    start(sample, {})
    script = sample.path / ".forge" / "skills" / "release-notes" / "scripts" / "list.sh"
    script.write_text("#!/bin/sh\necho other\n")
    model = sample.model({("skill", "phase-1", "*"): DONE})
    assert sample.forge("approve", "--model", model).code == 3
    (made,) = state(sample)["calls"]
    assert made["status"] == "failed"
    assert "is not what it was" in sample.forge("show", "calls-1-1.md").out
    assert "# Performer of a Skill" not in prompts(sample)
