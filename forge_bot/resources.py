"""Finds the templates: beside this file in a wheel, beside the package in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def templates() -> Path:
    """Folder with `pipelines/`, `prompts/` and `demo/`."""
    packaged = _PACKAGE / "templates"
    return (
        packaged
        if packaged.is_dir() and not (_PACKAGE.parent / "templates").is_dir()
        else _PACKAGE.parent / "templates"
    )
