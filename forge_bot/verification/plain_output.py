"""The text of a command's output without terminal control."""

import re
from collections.abc import Sequence

# Colours and other terminal control sequences,
# https://ecma-international.org/publications-and-standards/standards/ecma-48/.
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def plain_lines(output: str) -> Sequence[str]:
    """Return the lines of the output without terminal control.

    Of an overwritten line only the last text remains.
    """
    plain = _CONTROL.sub("", output).replace("\r\n", "\n")
    return [line.rpartition("\r")[2].rstrip() for line in plain.split("\n")]
