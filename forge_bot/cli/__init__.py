"""The command line: the one place where parts are put together."""

import signal
import sys


def main() -> None:
    """Entry point of the console script."""
    from forge_bot.quick_start import end_quickly, start_quickly

    start_quickly()
    from forge_bot.cli.app import run
    from forge_bot.cli.standard_streams import prepare_streams

    prepare_streams()
    code = run()
    # Nothing is left that could be stopped: who presses Ctrl-C twice is told the same as who
    # presses it once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_quickly()
    sys.exit(code)
