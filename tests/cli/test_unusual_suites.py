"""What a person reads of suites and installations that real repositories have: a lock that does not
fit, a registry without credentials, tests that need each other, another language, a clock, very many
failures.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from forge_bot.verification.judgement import UNNAMED
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


@pytest.mark.slow
def test_a_time_zone_that_is_set_reaches_the_tests(sample: Sample) -> None:
    config = "environment: {TZ: America/New_York}\n"
    committed(sample, {"tests/test_zone.py": ZONE, ".forge/config.yml": config})
    begun(sample)
    (before,) = status(sample)["baseline"]
    assert before["tests"] == 12
    assert OFFSET not in before["failures"]


@pytest.mark.slow
def test_a_test_that_expires_while_the_run_is_under_way_is_not_the_changes_fault(
    sample: Sample, tmp_path: Path
) -> None:
    """After the baseline it fails at each commit, as a test with a date in it does."""
    count = tmp_path / "count"
    suite = (
        "import os, unittest\nfrom pathlib import Path\n\n\nclass Until(unittest.TestCase):\n"
        "    def test_the_offer_still_holds(self):\n"
        "        count = Path(os.environ['COUNT'])\n"
        "        count.write_text((count.read_text() if count.exists() else '') + '.')\n"
        "        self.assertLess(len(count.read_text()), 2)\n"
    )
    config = f"sandbox: 'off'\nenvironment: {{COUNT: '{count}'}}\n"
    committed(sample, {"tests/test_until.py": suite, ".forge/config.yml": config})
    led(sample)
    verification = status(sample)["verification"]
    assert verification["red"] is False
    (result,) = verification["results"]
    assert result["flaky"] == [
        "test_the_offer_still_holds (tests.test_until.Until.test_the_offer_still_holds)"
    ]
    assert "test_the_offer_still_holds" in (sample.workspace / "pull-request.md").read_text()


@pytest.mark.slow
def test_tests_that_pass_alone_and_fail_together_are_red_and_both_facts_are_said(
    sample: Sample,
) -> None:
    """The change's own test leaves something behind by which a later one fails."""
    later = (
        "import unittest\nfrom rota.schedule import Schedule\n\n\nclass Last(unittest.TestCase):\n"
        "    def test_nothing_was_left_behind(self):\n"
        "        self.assertFalse(hasattr(Schedule, 'left'))\n"
    )
    leaves = {
        **script.TEST,
        "new": f"{script.TEST['new']}\n    def tearDown(self):\n        Schedule.left = True\n",
    }
    committed(sample, {"tests/test_zlast.py": later})
    said = led(sample, script.GUARD, leaves)
    name = "test_nothing_was_left_behind (tests.test_zlast.Last.test_nothing_was_left_behind)"
    assert f"these are new: {name}" in said
    assert "has tests that pass alone and fail with the others" in said
    (result,) = status(sample)["verification"]["results"]
    assert result["together"] == [name]


@pytest.mark.slow
def test_any_number_of_new_failures_is_told_in_a_page(sample: Sample) -> None:
    """Together they print more than is kept of an output."""
    count, words = 500, 2_500
    many = (
        "import unittest\nfrom pathlib import Path\n\n\nclass Many(unittest.TestCase):\n    pass\n\n\n"
        "def check(self):\n"
        f"    self.assertTrue('% len(self.people)' in Path('rota/schedule.py').read_text(), 'x' * {words})\n\n\n"
        f"for number in range({count}):\n    setattr(Many, f'test_{{number:05}}', check)\n"
    )
    committed(sample, {"tests/test_many.py": many})
    said = led(sample, script.BREAKS)
    assert "these are new: test_0" in said, said
    assert " more." in said
    assert len(said) < 20_000
    assert len((sample.workspace / "final-verification.md").read_text()) < 8_000
    assert (sample.workspace / "reports.jsonl").stat().st_size < 1_000_000
    (result,) = status(sample)["verification"]["results"]
    assert result["tests"] == count + 11
    assert result["failures"][-1] == UNNAMED
