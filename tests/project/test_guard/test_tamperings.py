"""Tests that a change deletes, skips or weakens are found by the syntax trees of both versions."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from forge_bot.project.test_guard.weakened_tests import weakened_tests

_PAIRS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("tamperings.toml").read_text()
)


def _said(pair: dict[str, Any]) -> str:
    before, after = {pair["path"]: pair["before"].encode()}, pair.get("after")
    now = {pair["path"]: after.encode()} if after is not None else {}
    return "\n".join(one.said for one in weakened_tests(before, now))


@pytest.mark.parametrize("pair", _PAIRS["tampering"], ids=lambda pair: pair["said"])
def test_a_tampering_is_found(pair: dict[str, Any]) -> None:
    assert f"{pair['path']}: {pair['said']}" in _said(pair)


@pytest.mark.parametrize("pair", _PAIRS["harmless"], ids=lambda pair: pair["path"])
def test_of_a_harmless_change_nothing_is_said(pair: dict[str, Any]) -> None:
    assert _said(pair) == ""


def test_there_are_fifty_of_them() -> None:
    assert len(_PAIRS["tampering"]) >= 50
