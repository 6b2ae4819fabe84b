"""The command line: the one place where parts are put together."""

import sys


def main() -> None:
    """Entry point of the console script."""
    from forge_bot.cli.standard_streams import prepare_streams

    prepare_streams()
    from forge_bot.cli.app import run

    sys.exit(run())
