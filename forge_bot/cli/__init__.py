"""The command line: the one place where parts are put together."""

import os
import sys


def main() -> None:
    """Entry point of the console script."""
    from forge_bot.cli.standard_streams import prepare_streams

    prepare_streams()
    # There are none of ours, and to look for others' reads the metadata of all packages.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from forge_bot.cli.app import run

    sys.exit(run())
