"""The command line: the one place where parts are put together."""

import os
import sys
from io import TextIOWrapper


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # `?` for a sign that an encoding lacks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    # There are none of ours, and to look for others' reads the metadata of all packages.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from forge_bot.cli.app import run

    sys.exit(run())
