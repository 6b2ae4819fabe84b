"""`python3 -I forge_bot/gate/__main__.py`, from the folder of the action and with nothing
installed; or `python -m forge_bot.gate`.

With the word `stranded` it tells that forge-bot could not be installed.
"""

import os
import sys

_OLDEST = (3, 11)


def main() -> int:
    """Decide about the event of this run of the workflow. The exit status is that of
    `forge_bot.gate.workflow_step.run_gate`.
    """
    # Written so that older Pythons can read as far as this sentence.
    if sys.version_info < _OLDEST:
        sys.stdout.write(
            "::error title=forge-bot::ACTION-001: Python 3.11 or newer is needed on this runner,"
            " for example by setup-python\n"
        )
        return 5
    # Before the path is set, as little as possible is imported: the folder of this file may stand
    # first on it.
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [path for path in sys.path if path != here]
    # As a file it is started without the folder of the package on the path, and in isolated mode
    # with no folder at all.
    sys.path.insert(0, os.path.dirname(os.path.dirname(here)))  # noqa: PTH120
    if sys.argv[1:] == ["stranded"]:
        from forge_bot.gate.workflow_step import stranded as step
    else:
        from forge_bot.gate.workflow_step import run_gate as step

    try:
        return step(os.environ)
    # For any error, the step prints one line and admits nobody.
    except Exception as error:  # noqa: BLE001
        sys.stdout.write(f"::error title=forge-bot::ERR-001: {type(error).__name__}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
