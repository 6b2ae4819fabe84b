"""What a person reads of suites and installations that real repositories have: a lock that does not
fit, a registry without credentials, tests that need each other, another language, a clock, very many
failures.
"""

import json
import shutil
from typing import Any

import pytest

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


def test_output_in_another_language_is_shown_as_it_is(sample: Sample) -> None:
    code = "import sys; print('Prüfung fehlgeschlagen: Überlauf in Zeile 3'); sys.exit(2)"
    test = json.dumps([["python3", "-c", code]], ensure_ascii=False)
    committed(sample, {".forge/config.yml": f"commands:\n  test: {test}\n"})
    begun(sample)
    said = document(sample)
    assert "without naming what fails" in said
    assert "Prüfung fehlgeschlagen: Überlauf in Zeile 3" in said
