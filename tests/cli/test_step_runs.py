"""Runs of pipelines of steps: without a model, asked before they write, the same after a kill."""

import json
from collections.abc import Mapping

import pytest

from tests.fakes.sample import Said, Sample

WISH = "Add a price list\n\nname: price list\npurpose: Lists prices by country"


def write(sample: Sample, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = sample.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    sample.git("add", "-A")
    sample.git("commit", "-qm", "More files")


def own(sample: Sample, text: str) -> None:
    write(sample, {".forge/pipelines/own.yaml": f"pipeline_id: own\n{text}"})


def document(sample: Sample, name: str) -> str:
    return (sample.workspace / name).read_text()


def reason(said: Said) -> str:
    return " ".join(f"{said.out} {said.err}".split())


def test_a_new_file_is_shown_written_after_a_yes_and_verified(sample: Sample) -> None:
    asked = sample.forge("run", "--pipeline", "scaffold", WISH)
    assert asked.code == 3
    assert "### rota/price_list.py" in asked.out
    assert '"""Lists prices by country."""' in asked.out
    assert not list(sample.workspace.parent.parent.glob("rota/price_list.py"))
    done = sample.forge("approve")
    assert (done.code, "0 calls · 0 tokens" in done.out) == (0, True)
    assert json.loads(document(sample, "verify.json"))["exit_code"] == 0
    assert sample.git("diff", "--name-only", f"main..{sample.offered}") == "rota/price_list.py"
    assert sample.git("log", "--format=%s", f"main..{sample.offered}") == "chore: add a price list"


@pytest.mark.slow
def test_findings_are_kept_as_files_that_know_when_they_are_stale(sample: Sample) -> None:
    write(sample, {"rota/broken.py": "def (:\n"})
    asked = sample.forge("run", "--pipeline", "audit", "Look at the whole project")
    assert asked.code == 3
    assert "is not read whole: line 1 cannot be parsed" in asked.out
    done = sample.forge("approve")
    assert done.code == 0
    (kept,) = sample.git("diff", "--name-only", f"main..{sample.offered}").splitlines()
    assert kept == ".annotations/SCAN-001-rota-broken.py-1.json"
    text = sample.git("show", f"{sample.offered}:{kept}")
    assert json.loads(text)["text"] == sample.git("rev-parse", "main:rota/broken.py")


WRITES = """\
inputs:
  file: {description: where}
steps:
  - {step: scan, kind: tool, tool: forge_scan}
  - step: put
    kind: fs_write
    gate: true
    input_map: {path: inputs.file, content: "to_string(scan.total)"}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("../outside.txt", "does not stay inside"),
        ("/etc/passwd", "does not stay inside"),
        (".github/workflows/ci.yml", "is protected"),
        (".specs/x.md", "belongs to the record"),
    ],
)
def test_what_must_not_be_written_is_refused_before_a_person_is_asked(
    sample: Sample, file: str, said: str
) -> None:
    own(sample, WRITES)
    asked = sample.forge("run", "--pipeline", "own", f"Write\nfile: {file}")
    assert asked.code == 3
    assert said in reason(asked)
    assert "could not be done" in reason(asked)


@pytest.mark.slow
def test_only_what_was_shown_is_written(sample: Sample) -> None:
    own(sample, WRITES)
    sample.forge("run", "--pipeline", "own", "Write\nfile: notes.txt")
    question = sample.workspace / "put.question.md"
    question.write_text(question.read_text().replace("sha256 ", "sha256 0"))
    sample.forge("status")
    sample.forge("show")
    refused = sample.forge("approve")
    again = sample.forge("approve", "--by-script") if refused.code == 5 else refused
    assert "would write something else than put.question.md shows" in reason(again)
    assert not (sample.workspace.parent.parent / "notes.txt").exists()


@pytest.mark.slow
def test_a_model_writes_a_step_and_a_person_does_one(sample: Sample) -> None:
    own(
        sample,
        "steps:\n"
        "  - {step: scan, kind: tool, tool: forge_scan}\n"
        "  - step: notes\n"
        "    kind: llm\n"
        "    prompt: Release notes, one line for each finding.\n"
        "    input_map: {found: scan.findings}\n"
        "  - {step: release, kind: human, title: Announce the release}\n"
        "  - step: keep\n"
        "    kind: fs_write\n"
        "    gate: true\n"
        "    input_map: {path: \"'NOTES.md'\", content: notes.text}\n",
    )
    model = sample.model({("step-writer", "*", "*"): {"artifact_markdown": "Nothing is new.\n"}})
    asked = sample.forge("run", "--pipeline", "own", "Notes", "--model", model, "--effort", "S")
    assert asked.code == 3, reason(asked)
    assert "Announce the release" in asked.out
    shown = sample.forge("approve", "--model", model)
    assert "### NOTES.md" in shown.out
    assert sample.forge("approve", "--model", model).code == 0
    assert sample.git("show", f"{sample.offered}:NOTES.md") == "Nothing is new."
