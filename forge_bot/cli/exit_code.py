"""The exit code of a command: the one place where every error is shown."""

import os
from collections.abc import Callable

from forge_bot.cli.standard_streams import NobodyReads, flush_output

WRONG_USE = 64
BY_HAND = 130
"""The option parser's exit code for Ctrl-C: 128 and the signal's number."""


def exit_code_of(command: Callable[[], object], *, wrong_use: int | None = None) -> int:
    """Return the exit code of a command after its error is printed. `wrong_use` is the code for a
    wrong call, if it has one of its own.
    """
    try:
        if os.environ.get("FORGE_BOT_LANGUAGE"):
            from forge_bot.sentences import check_language

            check_language()
        code = command()
        flush_output()
    except (KeyboardInterrupt, EOFError):
        return _stopped()
    # The outermost handler: every error is shown, and the exit code says that the command failed.
    except (NobodyReads, Exception) as error:  # noqa: BLE001 - see above
        from forge_bot.cli.error_output import USAGE, print_error

        exit_code = print_error(error)
        return wrong_use if wrong_use is not None and exit_code == USAGE else exit_code
    if code == BY_HAND:
        return _stopped()
    return code if isinstance(code, int) else 0


def _stopped() -> int:
    from forge_bot.cli.error_output import print_interrupted

    return print_interrupted()
