"""Whole runs with the real toolchains of other languages: projects of several modules, crates or
packages, the dependencies between them, and tests that only some words of a command run.
"""

import json
import shutil

import pytest

from tests.fakes import script
from tests.fakes.rows import rows
from tests.fakes.sample import Sample

ROWS = rows(__file__)

pytestmark = pytest.mark.slow

TASK = "fix: halves are rounded down"


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def led(sample: Sample, files: dict[str, str], *edits: dict[str, str]) -> str:
    """Lead a run in a repository with these files and no others; what it said, in one line."""
    sample.git("rm", "-rqf", ".")
    for name, text in files.items():
        (sample.path / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.path / name).write_text(text, encoding="utf-8")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "another")
    model = sample.model(script.stays_broken(*edits))
    first = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert first.code == 3, first.err
    then = sample.forge("approve", "--model", model)
    return " ".join((first.out + first.err + then.out + then.err).split())


def wrote(path: str, text: str) -> dict[str, str]:
    return {"path": path, "operation": "write", "old": "", "new": text}


def replaced(path: str, old: str, new: str) -> dict[str, str]:
    return {"path": path, "operation": "replace", "old": old, "new": new}


def offered(sample: Sample) -> str:
    return (sample.workspace / "pull-request.md").read_text(encoding="utf-8")


CRATE = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'
HALF: str = ROWS["half"]
WORDS: str = ROWS["words"]
WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["half", "words"]\nresolver = "2"\n',
    ".gitignore": "target\nCargo.lock\n",
    "half/Cargo.toml": CRATE.format("half"),
    "half/src/lib.rs": HALF,
    "words/Cargo.toml": CRATE.format("words") + '\n[dependencies]\nhalf = { path = "../half" }\n',
    "words/src/lib.rs": WORDS,
    "words/tests/whole.rs": (
        '#[test]\nfn whole() {\n    assert_eq!(words::word(0), "nothing");\n}\n'
    ),
}
HALVES = "#[test]\nfn halves() {\n    assert_eq!(half::half(6), 3);\n}\n"
MENDED = replaced("half/src/lib.rs", "x / 3", "x / 2")


@needs("cargo")
def test_a_crate_of_a_workspace_is_mended_and_its_integration_test_is_the_proof(
    sample: Sample,
) -> None:
    said = led(sample, WORKSPACE, MENDED, wrote("half/tests/halves.rs", HALVES))
    assert "cargo test --workspace --no-fail-fast exit code 101, as it should, 4 tests" in said
    text = offered(sample)
    assert "`halves` | red → green |" in text
    assert "`cargo test --workspace --no-fail-fast`: green, 4 tests" in text


NODE_TEST = """\
const {{ test }} = require('node:test')
const assert = require('node:assert')
const {{ half }} = require('{package}')

test('{title}', () => assert.equal(half({of}), {wanted}))
"""


@needs("npm")
def test_a_package_of_an_npm_workspace_is_mended_and_the_other_one_uses_it(sample: Sample) -> None:
    def package(name: str, **more: object) -> str:
        return json.dumps({"name": name, "version": "1.0.0", "main": "index.js", **more})

    scripts = {"scripts": {"test": "node --test"}}
    files = {
        "package.json": json.dumps(
            {
                "name": "top",
                "private": True,
                "workspaces": ["packages/*"],
                "scripts": {"test": "npm test --workspaces"},
            }
        ),
        ".gitignore": "node_modules\npackage-lock.json\n",
        "packages/half/package.json": package("half-of", **scripts),
        "packages/half/index.js": "exports.half = (x) => Math.trunc(x / 3)\n",
        "packages/half/half.test.js": NODE_TEST.format(
            package="./index.js", title="nothing", of=0, wanted=0
        ),
        "packages/words/package.json": package(
            "words", dependencies={"half-of": "1.0.0"}, **scripts
        ),
        "packages/words/index.js": "",
        "packages/words/words.test.js": NODE_TEST.format(
            package="half-of", title="the other package", of=0, wanted=0
        ),
    }
    test = NODE_TEST.format(package="./index.js", title="halves", of=6, wanted=3)
    mended = replaced("packages/half/index.js", "x / 3", "x / 2")
    led(sample, files, mended, wrote("packages/half/more.test.js", test))
    text = offered(sample)
    assert "`halves` | red → green |" in text
    assert "`npm test`: green, 3 tests" in text


GO_TEST = 'package {0}\n\nimport "testing"\n\nfunc Test{1}(t *testing.T) {{\n{2}\n}}\n'


@needs("go")
def test_a_go_module_beside_another_that_replaces_it_is_mended_by_its_changed_package(
    sample: Sample,
) -> None:
    """In the other module a package is added that build tags leave out."""
    files = {
        "half/go.mod": "module example.org/half\n\ngo 1.22\n",
        "half/half.go": "package half\n\nfunc Half(x int) int {\n\treturn x / 3\n}\n",
        "half/inner/inner_test.go": GO_TEST.format("inner", "Inner", ""),
        "words/go.mod": (
            "module example.org/words\n\ngo 1.22\n\nrequire example.org/half v0.0.0\n\n"
            "replace example.org/half => ../half\n"
        ),
        "words/words.go": (
            'package words\n\nimport "example.org/half"\n\nvar Two = half.Half(0)\n'
        ),
        "words/words_test.go": GO_TEST.format(
            "words", "Two", "\tif Two != 0 {\n\t\tt.Fatal()\n\t}"
        ),
    }
    test = GO_TEST.format("half", "Halves", "\tif Half(6) != 3 {\n\t\tt.Fatal(Half(6))\n\t}")
    tagged = f"//go:build slow\n\n{GO_TEST.format('tagged', 'Tagged', '')}"
    said = led(
        sample,
        files,
        replaced("half/half.go", "x / 3", "x / 2"),
        wrote("half/half_test.go", test),
        wrote("words/tagged/tagged_test.go", tagged),
    )
    assert "sent back to the implementer" not in said
    assert "go -C half test -count=1 ./... exit code 1" in said
    text = offered(sample)
    assert "`example.org/half TestHalves` | red → green |" in text
    assert "`go -C half test ./...`: green" in text
    assert "`go -C words test ./...`: green" in text
