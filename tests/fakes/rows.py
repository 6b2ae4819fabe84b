"""Rows of long tables, and texts, in a YAML file beside the test that reads them."""

from pathlib import Path
from typing import Any, cast

import yaml


def rows(test: str) -> dict[str, Any]:
    """Return what lies in the YAML file of this test file's name; its lists are tuples."""
    return _tuples(yaml.safe_load(Path(test).with_suffix(".yaml").read_text(encoding="utf-8")))


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, cast("list[Any]", value)))
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in cast("dict[str, Any]", value).items()}
    return value
