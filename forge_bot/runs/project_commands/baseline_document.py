"""baseline.md: the commands without a usable result before the change, the ends of their output,
and a configuration that fixes it.
"""

import json
import re
from collections.abc import Iterator, Sequence

from forge_bot.project.detected_commands import ENV, ProjectCommands
from forge_bot.runs.notifications import Message, Notify
from forge_bot.sandbox.setup_network import NOT_ALLOWED
from forge_bot.sentences import say
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import code_block, command_line, several
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.unusable_commands import Cause, UnusableCommand, missing_part

BASELINE = "baseline.md"
_LINES_SHOWN = 25
_MOST_SHOWN = 8
_IGNORED_SHOWN = 5
_LONGEST_LINE = 400

_MISSING_IMPORT = re.compile(r"No module named '?([A-Za-z_]\w*)")
_CREDENTIALS = re.compile(
    r"\b(?:401|403)\b|E401|E403|[Uu]nauthori[sz]ed|[Ff]orbidden|authenticat|credential|ENEEDAUTH"
    r"|_prompt_for_password"  # the traceback of pip, which asks and gets no answer
)
_HOLDERS = {"uv": "UV_INDEX_URL", "pip": "PIP_INDEX_URL"}
_OTHER_PYTHON = re.compile(
    r"Python(?: version)?:? \(?(?P<here>\d[\d.]*)\)?,? (?:not in|is not allowed by the project"
    r"|which is incompatible with[^:\n]*:) [('`]*(?P<wanted>[^)'`\n]+)"
)
"""The refusals of pip, Poetry and uv where a project asks for another version of Python."""

_LOWEST = re.compile(r"(?:>=|~=|==|\^)\s*(\d+\.\d+)")
_NOT_ALLOWED = re.compile(rf"403 ([\w.-]+) {NOT_ALLOWED.partition(',')[0]}")
"""The answer of setup's proxy for a host that it does not reach."""


def tell_of_red(results: Sequence[CommandResult], left_behind: Sequence[str], tell: Notify) -> None:
    """Tell how many failures there were before any change, if there were some, and which ignored
    files the tests did not find.
    """
    if red := sum(len(result.failures) for result in results if result.exit_code != 0):
        was = "was" if red == 1 else "were"
        text = f"{several(red, 'failure')} {was} there before the change; only new ones count"
        tell(Message(text=text))
    if left_behind:
        setting = f"`{_carry(left_behind)}` in {CONFIG}"
        tell(Message(text=f"{_left_behind(left_behind)} {setting}"))


def _left_behind(names: Sequence[str]) -> str:
    return (
        "The tests ran in a tree of their own, without the files that git ignores in your "
        f"checkout, such as {', '.join(names[:_IGNORED_SHOWN])}. If they need some, name these:"
    )


def _carry(names: Sequence[str]) -> str:
    return f"carry: {json.dumps(names[:_IGNORED_SHOWN], ensure_ascii=False)}"


def baseline_document(
    results: Sequence[CommandResult],
    unusable: Sequence[UnusableCommand],
    commands: ProjectCommands,
    left_behind: Sequence[str] = (),
) -> str:
    """Return the text about the unusable commands; the same results give the same text. It names
    ignored files that the tests did not find.
    """
    known = {(result.name, result.argv): result for result in results}
    shown = unusable[:_MOST_SHOWN]
    title = "The baseline tells nothing"
    what = (
        "These commands ran at the base commit, before any change. What they say is nothing "
        "that a change\ncould be compared with."
    )
    again = (
        f"`reject` with a note runs setup and baseline once more, for example after {CONFIG} "
        "was mended."
    )
    without = "`approve` goes on and judges without these commands. The pull request says so."
    parts = [f"# {title}\n\n{what}\n", f"- {again}\n- {without}\n"]
    parts += [_part(command, known[command.name, command.argv], commands) for command in shown]
    if len(unusable) > _MOST_SHOWN:
        parts.append(f"{say('runs.baseline_document.more', count=len(unusable) - _MOST_SHOWN)}\n")
    if left_behind:
        parts.append(f"{_left_behind(left_behind)}\n\n{_settings(_carry(left_behind))}")
    return "\n".join(parts)


def _part(command: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> str:
    code = "" if result.timed_out else f" ({say('words.exit_code', code=result.exit_code)})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()[-_LINES_SHOWN:]]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice, configuration = _way_out(command, result, commands)
    return "\n".join(
        (
            f"## {command.name.value}: `{' '.join(command.argv)}`",
            "",
            f"{say(_CAUSES[command.cause])}{code}. The end of its output:",
            "",
            output,
            "",
            advice,
            "",
            _settings(*configuration),
        )
    )


def _settings(*lines: str) -> str:
    return "\n".join(("```yaml", f"# {CONFIG}", *lines, "```", ""))


_CAUSES = {
    Cause.SETUP_FAILED: "runs.baseline_document.setup_failed",
    Cause.MISSING_TOOL: "runs.baseline_document.missing_tool",
    Cause.TIMED_OUT: "runs.baseline_document.timed_out",
    Cause.USAGE_ERROR: "runs.baseline_document.usage_error",
    Cause.NOT_COLLECTED: "runs.baseline_document.not_collected",
    Cause.NO_TESTS: "runs.baseline_document.no_tests",
    Cause.ALL_RED: "runs.baseline_document.all_red",
    Cause.UNREADABLE: "runs.baseline_document.unreadable",
}

_WayOut = tuple[str, Iterator[str]]
"""A sentence about what would help, and the lines of a configuration."""


def _way_out(command: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> _WayOut:
    name, argv = command.name, command.argv
    others = [other.argv for other in commands.of(name) if other.argv != argv]
    match command.cause:
        case Cause.SETUP_FAILED:
            return _installation(argv, result, commands)
        case Cause.MISSING_TOOL:
            program = next((word for word in argv if word != "env" and "=" not in word), argv[0])
            missing = missing_part(result) or program
            advice = f"Install {missing} where these commands run, or leave the command out:"
            return advice, _lists(name, others)
        case Cause.TIMED_OUT:
            return "Give it more time, or run less:", iter(["command_seconds: 3600"])
        case Cause.NOT_COLLECTED:
            module = _MISSING_IMPORT.search(result.tail)
            if module is None or not commands.setup:
                advice = "Mend what stops the tests from being loaded, or name others:"
                return advice, _lists(name, [(*argv, "path/to/tests")])
            more = (f"{ENV}/bin/python", "-m", "pip", "install", module[1])
            advice = f"The module {module[1]} is missing; its package may have another name:"
            return advice, _lists(CommandName.SETUP, [*_argvs(commands), more])
        case Cause.ALL_RED:
            return (
                "Something that all tests need is missing: a service of this machine (`services:`"
                " names its port), a variable, a time zone (TZ), a built part. Set what they need,"
                " or test only what runs without it:"
            ), iter(["environment:", "  DATABASE_URL: sqlite://"])
        case Cause.UNREADABLE:
            advice = "Let it print in English the names of what fails, or leave it out:"
            return advice, _lists(name, [(*argv, "--verbose")])
        case Cause.USAGE_ERROR | Cause.NO_TESTS:
            words = argv[:1] if command.cause is Cause.USAGE_ERROR else argv
            advice = "Write the command as this project calls it; an empty list means none:"
            return advice, _lists(name, [(*words, "path/to/tests"), *others])


def _installation(
    argv: tuple[str, ...], result: CommandResult, commands: ProjectCommands
) -> _WayOut:
    """Return what may mend an installation; never the command that failed, called as before."""
    if (refused := _NOT_ALLOWED.search(result.tail)) is not None:
        return (
            "Setup reaches the usual registries, those that this machine is configured for, "
            f"and hosts that are named; {refused[1]} is none of them. If the installation "
            "needs it, name it:"
        ), iter([f"network: [{refused[1]}]"])
    if _CREDENTIALS.search(result.tail):
        holder = _holder(result)
        return (
            "A registry asks for credentials. Name the variable that holds them for the "
            f"package manager, such as {holder}, and give its value as FORGE_SETUP_{holder} "
            "where forge-bot runs; or install from a registry that can be read without them:"
        ), iter([f"setup_credentials: [{holder}]"])
    if (other := _OTHER_PYTHON.search(result.tail)) is not None:
        lowest = _LOWEST.search(other["wanted"])
        python = f"python{lowest[1] if lowest else '3.X'}"
        return (
            f"The project asks for Python {other['wanted']}, and `python3` is {other['here']} here."
            " Let setup call another interpreter, or put its folder first in `PATH`:"
        ), _lists(
            CommandName.SETUP,
            [
                (python, *words[1:]) if words[1:3] == ("-m", "venv") else words
                for words in _argvs(commands)
            ],
        )
    mended = [("path/to/install",) if words == argv else words for words in _argvs(commands)]
    advice = f"`{command_line(argv)}` does not install it. Write down what does:"
    return advice, _lists(CommandName.SETUP, mended)


def _argvs(commands: ProjectCommands) -> list[tuple[str, ...]]:
    return [command.argv for command in commands.setup]


def _holder(result: CommandResult) -> str:
    """Return the variable that usually holds credentials for the package manager of a command."""
    programs = {word.rpartition("/")[2] for word in result.argv}
    return next((_HOLDERS[name] for name in _HOLDERS if name in programs), "NPM_TOKEN")


def _lists(name: CommandName, commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of `commands:` for one kind."""
    yield "commands:"
    if not commands:
        yield f"  {name.value}: []"
        return
    yield f"  {name.value}:"
    for argv in commands:
        yield f"    - {json.dumps(list(argv), ensure_ascii=False)}"
