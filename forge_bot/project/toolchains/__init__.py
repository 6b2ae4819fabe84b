"""Detect commands, one module for each toolchain. Each command has a reason."""

from forge_bot.project.detected_commands import DetectedCommands, combined
from forge_bot.project.file_list import Listing
from forge_bot.project.toolchains import go, jvm, make, node, python, ruby, rust


def find_commands(listing: Listing) -> DetectedCommands:
    """Return the commands of each language's own toolchain, and of Make only for missing kinds.

    Make takes its tools from wherever it runs.
    """
    native = combined(
        [
            python.find(listing),
            node.find(listing),
            go.find(listing),
            rust.find(listing),
            jvm.find(listing),
            ruby.find(listing),
        ]
    )
    return combined([native, make.find(listing, native.commands)])
