"""What a person reads of suites and installations that real repositories have: a lock that does not
fit, a registry without credentials, tests that need each other, another language, a clock, very many
failures.
"""

import json
import shutil
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Said, Sample

TASK = "`rota who` names somebody for days before the rota starts"
NPM_LOCK = {
    "name": "rota",
    "version": "1.0.0",
    "lockfileVersion": 3,
    "packages": {"": {"name": "rota", "version": "1.0.0"}},
}


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


def committed(sample: Sample, files: dict[str, str]) -> None:
    for name, text in files.items():
        (sample.path / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.path / name).write_text(text, encoding="utf-8")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "more")


def begun(sample: Sample, **different: str) -> Said:
    model = sample.model()
    return sample.forge("run", TASK, "--effort", "S", "--model", model, *different)


def led(sample: Sample, *edits: dict[str, str]) -> str:
    """Lead a run with these edits to its end; all that it said."""
    model = sample.model(script.stays_broken(*edits) if edits else None)
    first = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert first.code == 3, first.err
    then = sample.forge("approve", "--model", model)
    return first.out + first.err + then.out + then.err


def status(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


def document(sample: Sample) -> str:
    assert status(sample)["gate"]["reason"] == "baseline"
    assert status(sample)["usage"]["calls"] == 0
    return (sample.workspace / "baseline.md").read_text(encoding="utf-8")


@pytest.mark.slow
@needs("npm")
def test_a_lock_that_npm_refuses_is_named_with_the_package_that_it_lacks(sample: Sample) -> None:
    own = {"name": "rota", "version": "1.0.0", "dependencies": {"two": "file:./two"}}
    committed(
        sample,
        {
            "package.json": json.dumps({**own, "scripts": {"test": "node --test"}}),
            "package-lock.json": json.dumps(NPM_LOCK),
            "two/package.json": json.dumps({"name": "two", "version": "1.0.0"}),
        },
    )
    begun(sample)
    said = document(sample)
    assert "Missing: two@1.0.0 from lock file" in said
    assert "--workspaces" not in said, "the options of npm help nobody"


def test_output_in_another_language_is_shown_as_it_is(sample: Sample) -> None:
    code = "import sys; print('Prüfung fehlgeschlagen: Überlauf in Zeile 3'); sys.exit(2)"
    test = json.dumps([["python3", "-c", code]], ensure_ascii=False)
    committed(sample, {".forge/config.yml": f"commands:\n  test: {test}\n"})
    begun(sample)
    said = document(sample)
    assert "its output does not name what fails" in said
    assert "Prüfung fehlgeschlagen: Überlauf in Zeile 3" in said


ZONE = (
    "import time, unittest\n\n\nclass There(unittest.TestCase):\n"
    "    def test_the_offset(self):\n        self.assertEqual(time.timezone, 5 * 3600)\n"
)
OFFSET = "test_the_offset (tests.test_zone.There.test_the_offset)"


@pytest.mark.slow
def test_a_test_that_needs_a_time_zone_fails_as_before_and_the_change_is_green(
    sample: Sample,
) -> None:
    committed(sample, {"tests/test_zone.py": ZONE})
    led(sample)
    (before,), (after,) = status(sample)["baseline"], status(sample)["verification"]["results"]
    assert OFFSET in before["failures"]
    assert OFFSET in after["failures"]
    assert status(sample)["verification"]["red"] is False
