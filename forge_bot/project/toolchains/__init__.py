"""Detect commands, one module for each toolchain. Each command has a reason."""

from forge_bot.project.detected_commands import DetectedCommands, combined
from forge_bot.project.file_list import Listing
from forge_bot.project.toolchains import go, jvm, make, node, python, ruby, rust


def find_commands(listing: Listing) -> DetectedCommands:
    """Return the commands of each language's own toolchain, and of Make where none of them has
    tests: Make takes its tools from wherever it runs.
    """
    native = combined(toolchain.find(listing) for toolchain in (python, node, go, rust, jvm, ruby))
    return native if native.commands.test else combined([native, make.find(listing)])
