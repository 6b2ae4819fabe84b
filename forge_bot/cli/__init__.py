"""The command line: the one place where parts are put together."""

import sys


def main() -> None:
    """Entry point of the console script."""
    from forge_bot.quick_start import end_quickly, start_quickly

    start_quickly()
    from forge_bot.cli.standard_streams import prepare_streams

    prepare_streams()
    code = _job() if sys.argv[1:2] in (["work"], ["publish"], ["mcp"]) else None
    if code is None:
        from forge_bot.cli.app import run

        code = run()
    end_quickly()
    sys.exit(code)


def _job() -> int | None:
    """Run the command of a workflow or of an MCP client; None if only the option parser can read
    it.
    """
    from forge_bot.cli.exit_code import exit_code_of
    from forge_bot.cli.job_commands import job_command

    job = job_command(sys.argv[1:])
    return exit_code_of(job) if job is not None else None
