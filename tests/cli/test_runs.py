"""Whole runs from the command line: real git, real sandbox, real tests of the sample repository,
scripted words.
"""

import json
import subprocess
from pathlib import Path

import pytest

from forge_bot.resources import templates
from tests.fakes import script
from tests.fakes.github import FakeGitHub
from tests.fakes.sample import Sample
from tests.fakes.script import BREAKS, GUARD, TEST, WORKFLOW, change, document
from tests.fakes.warm_python import warm_python

TASK = "`rota who` names somebody for days before the rota starts"


def test_a_small_run_stops_for_a_person_and_ends_on_a_branch_with_passing_code(
    sample: Sample,
) -> None:
    model = sample.model()
    waiting = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert waiting.code == 3
    assert "Human Reviews Design" in waiting.out
    assert "forge-bot approve" in waiting.out
    done = sample.forge("approve", "--model", model)
    assert done.code == 0
    assert "12 tests" in done.out
    assert "if day < self.start" in sample.git("show", f"{sample.branch}:rota/schedule.py")
    names = {path.name for path in sample.workspace.iterdir()}
    assert {"request.md", "analysis.md", "design.md", "tasks.md", "impl-1.md", "comprehensive-review.md", "final-verification.md",
            "summary.md", "pull-request.md", "reports.jsonl", "state.json"} <= names  # fmt: skip
    assert sample.git("status", "--porcelain") == ""
    assert sample.git("rev-parse", "--abbrev-ref", "HEAD") == "main"
    form = "--format=%(trailers:only,unfold)%x00"
    log = sample.git("log", "--first-parent", form, f"main..{sample.branch}")
    trailers = [each for each in log.split("\0") if each.strip()]
    assert all("Forge-Run: " in each and "Forge-Phase: " in each for each in trailers)
    assert any("Approved-by: a script that " in each for each in trailers)


def at_once(sample: Sample, *options: str) -> list[tuple[int, str]]:
    """Three runs of the same task that begin at once: exit code and errors of each."""
    words = ("run", TASK, "--effort", "S", "--until", "setup", "--model", sample.model(), *options)
    begun = [
        subprocess.Popen(
            [warm_python(), "-m", "forge_bot", *words],
            cwd=sample.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [each.communicate()[1] for each in begun]
    return [(each.returncode, words) for each, words in zip(begun, said, strict=True)]


def test_of_runs_that_begin_at_once_on_one_branch_one_has_it_and_the_others_are_told(
    sample: Sample,
) -> None:
    ended = sorted(at_once(sample, "--branch", "feature/mine"))
    assert [code for code, _ in ended] == [3, 5, 5]
    assert all("GIT-005" in said for _, said in ended[1:])
    assert sample.git("rev-parse", "feature/mine") == sample.git("rev-parse", "main")
    assert sample.forge("list").out.count("at phase-1") == 1


@pytest.mark.slow
def test_a_models_claim_never_overrides_an_exit_code(sample: Sample) -> None:
    lie = {
        "artifact_markdown": (
            "# V\n\n## Summary\n\nAll green.\n\n## Requirements\n\nMet.\n\n## Commands\n\n| test |"
            " exit code 0 |\n"
        )
    }
    model = sample.model(
        {
            ("implementer", "*", "*"): change(BREAKS),
            ("implementer", "*", "fix-1/1.1"): change(),
            ("verifier", "final-verification", "*"): lie,
        }
    )
    # The verification is what finds it here, not the tests right after the edits, and one round of
    # mending is enough to see that.
    own = sample.path / ".forge" / "pipelines" / "develop.yaml"
    own.parent.mkdir(parents=True)
    shipped = (templates() / "pipelines" / "develop.yaml").read_text(encoding="utf-8")
    before, phase, after = shipped.partition("  - id: final-verification\n")
    own.write_text(before + phase + after.replace("rounds: 2", "rounds: 1", 1), encoding="utf-8")
    (sample.path / ".forge" / "config.yml").write_text("tries: {most: 0}\n")
    sample.forge("run", TASK, "--effort", "S", "--model", model)
    waiting = sample.forge("approve", "--model", model)
    assert waiting.code == 3
    assert "Human Decides" in waiting.out
    assert "verification is red" in waiting.out
    done = sample.forge("approve", "--model", model)
    assert done.code == 0
    verification = (sample.workspace / "final-verification.md").read_text()
    assert "red, and accepted by a person" in verification
    assert "| test | exit code 0 |" not in verification
    assert "The verification is red" in (sample.workspace / "pull-request.md").read_text()


def test_a_change_to_protected_paths_waits_as_a_patch(asked_sample: Sample) -> None:
    model = asked_sample.model({("implementer", "*", "*"): change(GUARD, TEST, WORKFLOW)})
    waiting = asked_sample.forge("approve", "--model", model)
    assert waiting.code == 3
    assert "protected paths" in waiting.out
    assert ".github/workflows/ci.yml" in waiting.out
    assert "on: push" in waiting.out
    assert ".github" not in asked_sample.git("ls-tree", "-r", "--name-only", asked_sample.branch)
    done = asked_sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    assert asked_sample.git("show", f"{asked_sample.branch}:.github/workflows/ci.yml") == "on: push"
    assert "protected paths" in (asked_sample.workspace / "pull-request.md").read_text()


def test_after_a_refused_patch_the_next_prompt_has_what_was_held(asked_sample: Sample) -> None:
    model = asked_sample.model({("implementer", "*", "*"): change(GUARD, TEST, WORKFLOW)})
    assert asked_sample.forge("approve", "--model", model).code == 3
    asked_sample.forge("reject", "No workflow, the rest as it is", "--model", model)
    (journal,) = asked_sample.path.parent.rglob("journal.jsonl")
    begun = [json.loads(line) for line in journal.read_text().splitlines()]
    questions = [
        "\n".join(message["text"] for message in each["messages"])
        for each in begun
        if each["entry"] == "started"
    ]
    (again,) = [each for each in questions if "No workflow, the rest as it is" in each]
    assert "held-1.patch" in again
    assert "+on: push" in again
    assert ".github/workflows/ci.yml" in again


def test_a_rejection_sends_the_design_back_with_the_notes(asked_sample: Sample) -> None:
    model = asked_sample.model(
        {
            ("architect", "*", "2.1"): document(
                *script.HEADINGS["architect"], body="The second thought."
            )
        }
    )
    again = asked_sample.forge("reject", "Say what happens to swaps", "--model", model)
    assert again.code == 3
    assert "The second thought." in again.out
    assert "What changed since the version shown before" in again.out


def test_a_stale_approval_is_refused_and_the_question_is_shown_again(asked_sample: Sample) -> None:
    model = asked_sample.model()
    refused = asked_sample.forge("approve", "0123456789ab", "--model", model)
    assert refused.code == 5
    assert "GATE-002" in refused.err
    assert "design.md" in refused.out


def test_a_design_changed_by_hand_must_be_seen_before_it_is_approved(asked_sample: Sample) -> None:
    model = asked_sample.model()
    design = asked_sample.workspace / "design.md"
    design.write_text(design.read_text().replace("Something true.", "Something else."))
    refused = asked_sample.forge("approve", "--model", model)
    assert refused.code == 5
    assert "What changed since the version shown before" in refused.out
    assert "-Something true." in refused.out
    assert "+Something else." in refused.out
    asked_sample.forge("approve", "--until", "tasks", "--model", model)
    assert "Something else." in asked_sample.git(
        "show", f"{asked_sample.branch}:{design.relative_to(design.parents[2])}"
    )


def test_abandon_ends_the_run_and_keeps_the_branch(asked_sample: Sample) -> None:
    model = asked_sample.model()
    assert asked_sample.forge("abandon").code == 6
    assert asked_sample.branch
    late = asked_sample.forge("resume", "--model", model)
    assert late.code == 5
    assert "RUN-002" in late.err


@pytest.mark.slow
def test_auto_goes_through_when_the_reviewer_approves_and_push_takes_the_branch_to_the_remote(
    sample: Sample, tmp_path: Path
) -> None:
    sample.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    (sample.path / "rota" / "schedule.py").write_text("# half done\n")
    (sample.path / "notes.txt").write_text("mine")
    done = sample.forge("run", TASK, "--effort", "S", "--auto", "--push", "--model", sample.model())
    assert done.code == 0, done.err
    assert "Design Review APPROVE" in done.out
    told = " ".join(done.out.split())
    assert "Human Reviews Design: passed by --auto, since the review says APPROVE" in told
    assert sample.git("rev-parse", f"origin/{sample.branch}") == sample.git(
        "rev-parse", sample.branch
    )
    # What a person has not committed stays as it is.
    assert (sample.path / "rota" / "schedule.py").read_text() == "# half done\n"
    assert (sample.path / "notes.txt").read_text() == "mine"


def test_here_the_branch_that_is_checked_out_gets_the_code_and_the_record_is_beside_it(
    sample: Sample,
) -> None:
    sample.git("switch", "-q", "-c", "mine")
    done = sample.forge("run", TASK, "--effort", "S", "--auto", "--here", "--model", sample.model())
    assert done.code == 0, done.err
    assert f"git diff {sample.git('rev-parse', '--short=12', 'main')}..mine\n" in done.out
    assert "git switch main && git merge mine" in done.out
    assert "from mine" not in done.out
    assert "if day < self.start" in (sample.path / "rota" / "schedule.py").read_text()
    assert sample.git("status", "--porcelain", "--branch") == "## mine"
    assert sample.git("diff", "--name-only", "main...mine", "--", ".specs") == ""
    assert sample.git_code("merge-base", "--is-ancestor", "mine", sample.branch) == 0


def test_an_issue_is_taken_by_its_url_with_its_labels_and_number(
    sample: Sample, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    github.issue(
        github.repository("o/r"),
        "Fix the login",
        "It times out.",
        labels=["bug", "forge:S"],
        number=42,
    )
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    waiting = sample.forge("run", "https://github.com/o/r/issues/42", "--model", sample.model())
    assert waiting.code == 3, waiting.err
    assert "the label “forge:S”" in waiting.out
    assert sample.branch == "feature/42-fix-the-login"
    assert "42-fix-the-login" in sample.workspace.name
    assert "author: ann" in (sample.workspace / "request.md").read_text()


# -- looking
# --------------------------------------------------------------------------------------------------


def test_status_list_and_show_tell_where_a_run_stands(sample: Sample) -> None:
    assert "No run yet" in sample.forge("list").out
    sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert "waits for an answer" in sample.forge("list").out
    status = sample.forge("status")
    assert "checkpoint-a waits for you" in status.out
    assert "forge-bot show design.md" in status.out
    assert sample.forge("show", "design.md").out.startswith("# Document")
    assert sample.forge("show", "design").out.startswith("# Document")
    assert json.loads(sample.forge("status", "--json").out)["currentPhase"] == "checkpoint-a"


def test_a_run_can_be_named_by_its_folder(asked_sample: Sample) -> None:
    model = asked_sample.model()
    again = asked_sample.forge("run", f".specs/{asked_sample.workspace.name}", "--model", model)
    assert again.code == 3
    assert "Human Reviews Design" in again.out
