"""Tests that a change adds and that no command of the project runs are named before a person merges."""

import json
import sys
from typing import Any

import pytest

from tests.cli.test_real_toolchains import led, needs, offered, replaced, verification, wrote
from tests.fakes.sample import Sample

NONE_RAN = "No command ran these tests that the change adds: {}."
HALF = "def half(x):\n    return x // 3\n"
MENDED = replaced("half.py", "x // 3", "x // 2")
NOTHING = "from half import half\n\n\ndef test_nothing():\n    assert half(0) == 0\n"
HALVES = "from half import half\n\n\ndef test_halves():\n    assert half(6) == 3\n"
CASES = (
    "import unittest\nfrom half import half\n\n\nclass {0}(unittest.TestCase):\n"
    "    def test_{1}(self):\n        self.assertEqual(half({2}), {3})\n"
)


def not_run(sample: Sample) -> list[str]:
    return verification(sample).get("requirements", {}).get("addedNotRun", [])


def of_pytest(*more: str, **files: str) -> dict[str, str]:
    command = json.dumps([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more])
    config = f"sandbox: 'off'\ncommands: {{test: [{command}], lint: []}}\n"
    return {
        ".forge/config.yml": config,
        "half.py": HALF,
        "tests/test_half.py": NOTHING,
        "conftest.py": "",
        **files,
    }


def test_a_test_in_a_folder_that_is_no_package_is_not_found_by_unittest_and_is_named(
    sample: Sample,
) -> None:
    files = {
        "half.py": HALF,
        "tests/__init__.py": "",
        "tests/test_a.py": CASES.format("A", "nothing", 0, 0),
    }
    led(
        sample,
        files,
        MENDED,
        wrote("tests/deep/test_b.py", CASES.format("B", "halves", 6, 3)),
        wrote("tests/test_c.py", CASES.format("C", "tens", 10, 5)),
    )
    name = "tests/deep/test_b.py::B::test_halves"
    assert not_run(sample) == [name]
    first = offered(sample).partition("### What was asked for")[0]
    assert f"- {NONE_RAN.format(name)}" in first.replace("\\", "")
    assert f"- {NONE_RAN.format(name)}" in (sample.workspace / "final-verification.md").read_text()
    told = f"- No command ran these tests that the edits add: `{name}`."
    assert told in (sample.workspace / "impl-1.md").read_text(), "the reviewer is told"


SKIPPED = "import pytest\n" + HALVES.replace("def test", "@pytest.mark.skip\ndef test")
SLOW = "import pytest\n" + HALVES.replace("def test", "@pytest.mark.slow\ndef test")
MANY = "import pytest\n" + HALVES.replace(
    "def test_halves():\n    assert half(6) == 3",
    "@pytest.mark.parametrize('x', [6, 8])\ndef test_halves(x):\n    assert half(x) * 2 == x",
)
AS_MANY = (
    f"{SKIPPED}\n\n@pytest.mark.parametrize('x', [0, 1])\n"
    "def test_small(x):\n    assert half(x) == 0\n"
)
MARKERS = "[pytest]\nmarkers = slow\naddopts = -m 'not slow'\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "test", "names"),
    [
        ({"pytest.ini": MARKERS}, wrote("tests/test_new.py", SLOW), ["tests/test_new.py"]),
        ({}, wrote("tests/test_new.py", SKIPPED), ["tests/test_new.py"]),
        ({}, wrote("tests/test_new.py", AS_MANY), ["tests/test_new.py"]),
        (
            {"pytest.ini": "[pytest]\npython_files = test_*.py\n"},
            wrote("tests/new_test.py", HALVES),
            ["tests/new_test.py"],
        ),
        (
            {"pytest.ini": "[pytest]\ntestpaths = tests\n"},
            wrote("more/test_new.py", HALVES),
            ["more/test_new.py"],
        ),
        ({}, wrote("tests/test_new.py", MANY), []),
        ({"pytest.ini": MARKERS}, wrote("tests/test_new.py", HALVES), []),
    ],
    ids=[
        "deselected",
        "skipped",
        "skipped beside cases",
        "not of the pattern",
        "elsewhere",
        "several cases",
        "runs",
    ],
)
def test_a_test_that_pytest_leaves_out_is_named_and_is_no_proof(
    sample: Sample, files: dict[str, str], test: dict[str, str], names: list[str]
) -> None:
    led(sample, of_pytest(**files), MENDED, test)
    assert not_run(sample) == [f"{each}::test_halves" for each in names]
    proof: dict[str, Any] = verification(sample)["redBeforeGreen"]
    assert bool(proof["tests"]) is not bool(names)
    assert ("No command ran" in offered(sample)) is bool(names)
    told = (sample.workspace / "impl-1.md").read_text()
    assert ("No command ran these tests" in told) is bool(names)


@pytest.mark.slow
def test_a_test_that_a_later_one_of_its_name_replaces_is_named(sample: Sample) -> None:
    twice = replaced("tests/test_half.py", "def test_nothing", HALVES[23:] + "\n\ndef test_nothing")
    again = twice["new"] + "():\n    assert half(2) == 1\n\n\ndef test_nothing"
    led(sample, of_pytest(), MENDED, {**twice, "new": again})
    (name,) = not_run(sample)
    assert name == "tests/test_half.py::test_nothing (defined twice: only the last one runs)"


NODE = (
    "const {{ test }} = require('node:test')\nconst {{ half }} = require('{0}index.js')\n\n"
    "test('{1}', () => {{ if (half({2}) !== {3}) throw new Error() }})\n"
)


@pytest.mark.slow
@needs("npm")
def test_a_test_that_the_script_of_a_package_does_not_name_is_named(sample: Sample) -> None:
    files = {
        "package.json": json.dumps(
            {"scripts": {"test": "node --test test/a.test.js test/c.test.js"}}
        ),
        "index.js": "exports.half = (x) => Math.trunc(x / 3)\n",
        "test/a.test.js": NODE.format("../", "nothing at all", 0, 0),
        "test/c.test.js": NODE.format("../", "nothing again", 0, 0),
    }
    mended = replaced("index.js", "x / 3", "x / 2")
    tens = NODE.format("../", "some tens", 10, 5).splitlines()[-1]
    led(
        sample,
        files,
        mended,
        wrote("test/b.test.js", NODE.format("../", "halves", 6, 3)),
        replaced("test/c.test.js", "test('nothing", f"{tens}\ntest('nothing"),
    )
    assert not_run(sample) == ["test/b.test.js::halves"]


@pytest.mark.slow
@needs("npm")
def test_a_test_that_keeps_the_others_from_running_is_told(sample: Sample) -> None:
    files = {
        "package.json": json.dumps({"scripts": {"test": "node --test --test-only test/a.test.js"}}),
        "index.js": "exports.half = (x) => Math.trunc(x / 3)\n",
        "test/a.test.js": NODE.format("../", "nothing at all", 0, 0).replace(
            "test('", "test.only('"
        ),
    }
    mended = replaced("index.js", "x / 3", "x / 2")
    alone = NODE.format("../", "some tens", 10, 5).splitlines()[-1].replace("test(", "test.only(")
    led(
        sample,
        files,
        mended,
        replaced("test/a.test.js", "test.only('nothing", f"{alone}\ntest('nothing"),
    )
    found = verification(sample)["requirements"]
    assert found["fewer"] == 1
    assert "fewer tests ran than before it: 1 fewer." in offered(sample)


MORE = "".join(f"def {each}():\n    return {each!r}\n\n\n" for each in "abcdef").rstrip() + "\n"
COVERS = (
    f"import more\n\n\ndef test_more():\n    {'; '.join(f'more.{each}()' for each in 'abcdef')}\n"
)


@pytest.mark.slow
def test_coverage_that_is_required_of_all_tests_is_not_required_of_a_part(sample: Sample) -> None:
    """The new test file alone covers too little, and a part of the tests is not sent back for it."""
    files = {
        "more.py": MORE,
        "half.py": f"import more\n\n\n{HALF}",
        "tests/test_more.py": COVERS,
        "pytest.ini": "[pytest]\naddopts = --cov=half --cov=more --cov-fail-under=90\n",
        ".gitignore": ".coverage\n",
    }
    said = led(sample, of_pytest(**files), MENDED, wrote("tests/test_new.py", HALVES))
    assert "sent back to the implementer" not in said
    assert "tests/test_new.py exit code 1, 1 test" in said, "its one test fails without the change"
    proof = verification(sample)["redBeforeGreen"]
    assert proof["tests"] == ["tests/test_new.py::test_halves"]
