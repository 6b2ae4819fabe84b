"""The command line: the one place where parts are put together."""

import sys


def main() -> None:
    """Entry point of the console script."""
    from forge_bot.cli.app import run
    from forge_bot.cli.streams import prepare_streams

    prepare_streams()
    sys.exit(run())
