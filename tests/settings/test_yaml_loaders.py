"""libyaml and the loader in Python read the same out of a text, lines and repeated keys included."""

import subprocess
from pathlib import Path

import pytest
import yaml

from forge_bot.settings.yaml_file import read_contents

ROOT = Path(__file__).parents[2]
SNIPPETS = {
    "anchors and merges": "a: &x {one: 1, two: 2}\nb:\n  <<: *x\n  two: 3\nc: *x\n",
    "block scalars": "a: |\n  one\n\n   two\nb: >-\n  three\n  four\n\nc: |+\n  five\n\n",
    "a key twice": "a: 1\nb: {c: 1, c: 2}\na: 2\n",
    "numbers as YAML 1.1 reads them": "[010, 0x1f, 1_000, 190:20:30, 1e3, 1.0e+3, .inf, -.inf, 0b11]",
    "words that are no strings": "[yes, no, on, off, ~, null, True, y]",
    "dates": "[2020-01-02, 2001-12-14t21:59:43.10-05:00, 2001-12-15 2:59:43.10]",
    "quotes": "[\"a\\tb\\u00e9\\\\\", 'it''s', \"two\\\n  lines\"]",
    "signs of other languages": "Grüße: 日本語 🙂\n",
    "signs in plain words": "[a:b, a#b, -a, ?b, a @b, C:\\temp]",
    "lines that end as on Windows": "a: 1\r\nb:\r\n  - 2\r\n",
    "a byte order mark": "\ufeffa: 1\n",
    "comments everywhere": "# one\na: 1 # two\n# three\nb:\n# four\n  - 2\n",
    "a document's marks": "---\na: 1\n...\n",
    "keys that are lists": "? 1\n: one\n? two\n: 2\n",
    "nothing": "",
    "sets and binary": "a: !!set {x, y}\nb: !!binary aGVsbG8=\nc: !!omap [a: 1]\n",
    "long keys": f"{'k' * 120}: 1\n",
}


def shipped() -> list[Path]:
    """All YAML of this repository."""
    listed = subprocess.run(
        ["git", "ls-files", "*.yaml", "*.yml"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_a_snippet(text: str) -> None:
    assert read_contents(text, yaml.CSafeLoader) == read_contents(text, yaml.SafeLoader)


@pytest.mark.parametrize(
    ("text", "value"), [("a:\t1", {"a": 1}), ("[http://x/?z]", ["http://x/?z"])]
)
def test_what_yaml_allows_and_the_loader_in_python_refuses_is_read(
    text: str, value: object
) -> None:
    assert read_contents(text, yaml.CSafeLoader).value == value
    with pytest.raises(yaml.YAMLError):
        read_contents(text, yaml.SafeLoader)


def test_every_file_of_this_repository_that_is_one_document() -> None:
    compared = 0
    for path in shipped():
        text = path.read_text(encoding="utf-8")
        try:
            by_python = read_contents(text, yaml.SafeLoader)
        except (yaml.YAMLError, ValueError):
            continue
        assert read_contents(text, yaml.CSafeLoader) == by_python, path
        compared += 1
    assert compared > 10
