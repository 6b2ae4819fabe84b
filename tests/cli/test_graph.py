"""`forge-bot graph` at the terminal: what it prints, and the codes it ends with; and what a broken
rule does in a run.
"""

import json
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.fakes.script import GUARD, HEADINGS, TEST, Answer, change, document, review


@pytest.fixture
def planted(sample: Sample) -> str:
    """Plant a worker that imports a surface into the sample; return its path."""
    package = sample.path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("def main(): ...\n")
    (package / "worker.py").write_text("import os\nimport shop.__main__\n")
    return "shop/worker.py"


def test_what_holds_ends_with_0(sample: Sample) -> None:
    said = sample.forge("graph", "verify")
    assert (said.code, said.out.startswith("✓ Nothing is broken: ")) == (0, True)


def test_a_violation_ends_with_2_and_names_place_code_and_way_out(
    sample: Sample, planted: str
) -> None:
    said = sample.forge("graph", "verify")
    assert said.code == 2
    assert said.out.startswith(f"✗ {planted}:2 {planted} (worker) imports ")
    assert "VERIFY-004" in said.out
    assert "→ VERIFY-004: Move what is needed to where both may import it" in said.out


def test_a_violation_as_json_names_the_node_and_what_uses_it(sample: Sample, planted: str) -> None:
    said = sample.forge("graph", "verify", "--json")
    (found,) = json.loads(said.out)
    assert (found["code"], found["node_id"], found["dependency_ids"]) == ("VERIFY-004", planted, [])
    assert (found["check_class"], found["domain"], found["line"]) == (
        "ForbiddenImport",
        "VERIFY",
        2,
    )


def test_wrong_use_ends_with_64_and_a_way_out(sample: Sample) -> None:
    for words, sentence in (
        (("verify", "--nope"), "No such option: --nope"),
        (("walk",), "No such command 'walk'."),
    ):
        said = sample.forge("graph", *words)
        assert said.code == 64, words
        assert sentence in said.err
        assert "→" in said.err


def test_a_broken_manifest_is_told_with_its_lines(sample: Sample) -> None:
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "manifest.yaml").write_text("nodes:\n  a: {level: 3}\n")
    said = sample.forge("graph", "verify")
    assert said.code == 5
    assert ".forge/manifest.yaml:2: nodes.a.level: there is no such key" in said.err
    assert "docs/graph.md lists every key" in said.err


TASK = "`rota who` names somebody for days before the rota starts"
MANIFEST = """version: 1
nodes:
  rota/cli.py: {tier: surface}
"""
BREAKS = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": "from datetime import date, timedelta\n",
    "new": (
        "from datetime import date, timedelta\n\n\ndef command_line() -> object:\n"
        "    import rota.cli\n\n    return rota.cli\n"
    ),
}


def design(*items: str) -> Answer:
    text = str(document(*HEADINGS["architect"], title="fix: guard the start")["artifact_markdown"])
    listed = "".join(f"{item}\n" for item in items)
    return {"artifact_markdown": text.replace("## Changes\n\n", f"## Changes\n\n{listed}\n")}


def forbids(sample: Sample) -> None:
    """Commit a manifest by which only surfaces may import the command line."""
    manifest = sample.path / ".forge" / "manifest.yaml"
    manifest.parent.mkdir(exist_ok=True)
    manifest.write_text(MANIFEST)
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "rules")


def state(sample: Sample) -> dict[str, Any]:
    return json.loads((sample.workspace / "state.json").read_text())


@pytest.mark.slow
def test_a_rule_that_the_change_breaks_is_red_beside_green_tests_and_is_mended(
    sample: Sample,
) -> None:
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text("tries: {most: 0}\n")
    forbids(sample)
    mends = {**BREAKS, "old": BREAKS["new"], "new": BREAKS["old"]}
    model = sample.model(
        {
            ("implementer", "*", "1/1.1"): change(GUARD, TEST, BREAKS),
            ("implementer", "*", "fix-1/1.1"): change(mends),
            ("comprehensive-reviewer", "*", "*"): review("PASS", extra=["Requirements"]),
        }
    )
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    fix = next(task for task in state(sample)["tasks"] if task["origin"])
    assert "VERIFY-004 rota/schedule.py:" in json.dumps(fix["spec"]["acceptance"])
    assert "rota.cli" not in sample.git("show", f"{sample.branch}:rota/schedule.py")
    assert state(sample)["verification"]["red"] is False
