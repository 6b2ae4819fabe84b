"""The adapter to GitHub, over real HTTP, in front of a fake of GitHub."""

import pytest


def never(seconds: float) -> None:
    """A wait where none may be."""
    pytest.fail(f"{seconds} seconds would have been waited")
