"""baseline.md: the commands without a usable result before the change, the ends of their output,
and a configuration that fixes it.
"""

import json
import re
from collections.abc import Iterator, Sequence

from forge_bot.lazy_regex import lazy_regex
from forge_bot.project.detected_commands import ENV, ProjectCommands
from forge_bot.sandbox.setup_network import NOT_PUBLIC
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import code_block
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.unusable_commands import Cause, UnusableCommand, missing_module

BASELINE = "baseline.md"
_LINES_SHOWN = 25
_MOST_SHOWN = 8
_LONGEST_LINE = 400

_HEAD = f"""# The baseline tells nothing

These commands ran at the base commit, before any change. What they say is nothing that a change
could be compared with.

- `reject` with a note runs setup and baseline once more, for example after {CONFIG} was mended.
- `approve` goes on and judges without these commands. The pull request says so.
"""
_MISSING_IMPORT = lazy_regex(r"No module named '?([A-Za-z_]\w*)")
_CREDENTIALS = lazy_regex(
    r"\b(?:401|403)\b|E401|E403|[Uu]nauthori[sz]ed|[Ff]orbidden|authenticat|credential|ENEEDAUTH"
    r"|_prompt_for_password"  # the traceback of pip, which asks and gets no answer
)
_HOLDERS = {"uv": "UV_INDEX_URL", "pip": "PIP_INDEX_URL"}
_STALE_LOCK = lazy_regex(
    r"lock ?file|package-lock\.json|\block\b.*(?:out of (?:date|sync)|not up.to.date|changed"
    r"|needs to be updated)|--locked|--frozen|immutable|checksum mismatch|missing go\.sum entry",
    re.IGNORECASE,
)
_FOREIGN = lazy_regex(r"[^\W\d_a-zA-Z]")
"""A letter that English does not have."""

_NOT_PUBLIC = lazy_regex(rf"403 ([\w.-]+) {NOT_PUBLIC.partition(';')[0]}")
"""The answer of setup's proxy for an address that is not public."""

_INSTALL_SCRIPT = lazy_regex(
    r"npm error path \S*node_modules/((?:@[\w.-]+/)?[\w.-]+)\s*\n(?:.*\n)*?npm error command failed"
)
_SKIPS = lazy_regex(r"\b([A-Z][A-Z0-9]*_SKIP_[A-Z0-9_]*|[A-Z][A-Z0-9_]*_SKIP)\b")
"""A variable by which a package says that it leaves out a download."""

_SERVICE = lazy_regex(
    r"[Cc]onnection refused|ECONNREFUSED|could not connect|[Cc]an't connect|OperationalError"
    r"|ConnectionError|Errno 111"
)


def baseline_document(
    results: Sequence[CommandResult], found: Sequence[UnusableCommand], commands: ProjectCommands
) -> str:
    """Return the text about the unusable commands; the same results give the same text."""
    known = {(result.name, result.argv): result for result in results}
    shown = found[:_MOST_SHOWN]
    parts = [_HEAD, *(_part(each, known[each.name, each.argv], commands) for each in shown)]
    if len(found) > _MOST_SHOWN:
        parts.append(f"… and {len(found) - _MOST_SHOWN} more commands that tell nothing.\n")
    return "\n".join(parts)


def _part(each: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> str:
    words = " ".join(each.argv)
    code = "" if result.timed_out else f" (exit code {result.exit_code})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()[-_LINES_SHOWN:]]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice, configuration = _mended(each, result, commands)
    return "\n".join(
        (
            f"## {each.name.value}: `{words}`",
            "",
            f"{_SAID[each.cause]}{code}. The end of its output:",
            "",
            output,
            "",
            advice,
            "",
            "```yaml",
            f"# {CONFIG}",
            *configuration,
            "```",
            "",
        )
    )


_SAID = {
    Cause.SETUP_FAILED: "The installation failed, so nothing after it could run",
    Cause.MISSING_TOOL: "A program that it needs is not there",
    Cause.TIMED_OUT: "It did not end in time",
    Cause.USAGE_ERROR: "The program refused its arguments",
    Cause.NOT_COLLECTED: "Tests could not be loaded, and none ran",
    Cause.NO_TESTS: "It ran no test",
    Cause.ALL_RED: "All tests fail",
    Cause.UNREADABLE: "It failed, and its output does not name what fails",
}

Mended = tuple[str, Iterator[str]]
"""A sentence about what would mend it, and the lines of a configuration."""


def _mended(each: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> Mended:
    name, argv = each.name, each.argv
    match each.cause:
        case Cause.SETUP_FAILED:
            if (refused := _NOT_PUBLIC.search(result.tail)) is not None:
                address = f"https://{refused[1]}/simple"
                return _setup(result), iter([f"environment: {{PIP_INDEX_URL: '{address}'}}"])
            if _CREDENTIALS.search(result.tail):
                return _setup(result), iter([f"setup_credentials: [{_holder(result)}]"])
            if (package := _INSTALL_SCRIPT.search(result.tail)) is not None:
                return _install_script(package[1], result, commands)
            return _setup(result), _lists(name, [every.argv for every in commands.setup])
        case Cause.MISSING_TOOL:
            program = next((word for word in argv if word != "env" and "=" not in word), argv[0])
            missing = missing_module(result) or program
            return (
                f"Install {missing} where these commands run, or leave the command out:",
                _lists(name, _others(each, commands)),
            )
        case Cause.TIMED_OUT:
            return "Give it more time, or run less:", iter(["command_seconds: 3600"])
        case Cause.NOT_COLLECTED:
            return _import(each, result, commands)
        case Cause.ALL_RED:
            return _all_red(result)
        case Cause.UNREADABLE if _FOREIGN.search(result.tail):
            said = (
                "If it speaks another language than English, let it speak English; else let it"
                " print the names of what fails, or leave it out:"
            )
            return said, iter(["environment: {LC_ALL: C.UTF-8}"])
        case Cause.UNREADABLE:
            return (
                "Let it print the names of what fails, or leave it out:",
                _lists(name, [(*argv, "--verbose")]),
            )
        case Cause.USAGE_ERROR | Cause.NO_TESTS:
            place = () if each.cause is Cause.USAGE_ERROR else ("path/to/tests",)
            said = "Write the command as this project calls it; an empty list means none:"
            return said, _lists(name, [(*argv, *place), *_others(each, commands)])


def _setup(result: CommandResult) -> str:
    if refused := _NOT_PUBLIC.search(result.tail):
        return (
            f"Setup reaches public addresses and configured registries, and {refused[1]} is neither"
            " on this machine. If it is your registry, name its address as well:"
        )
    if _CREDENTIALS.search(result.tail):
        return (
            "A registry asks for credentials. Name the variable that holds them for the package"
            f" manager, such as {_holder(result)}, and give its value as"
            f" FORGE_SETUP_{_holder(result)} where forge-bot runs; or install from a registry that"
            " can be read without them:"
        )
    if _STALE_LOCK.search(result.tail):
        return "The lock file may not fit its manifest: renew and commit it, or install without it:"
    return "Write down how this project is installed:"


def _install_script(package: str, result: CommandResult, commands: ProjectCommands) -> Mended:
    """Return what leaves out the script that a package of npm runs when it is installed."""
    said = f"The install script of {package} failed. If the tests need nothing of it, leave it out:"
    if (skips := _SKIPS.search(result.tail)) is not None:
        return said, iter([f'environment: {{{skips[1]}: "1"}}'])
    argvs = [
        (*each.argv, "--ignore-scripts") if each.argv == result.argv else each.argv
        for each in commands.setup
    ]
    return said, _lists(CommandName.SETUP, argvs)


def _holder(result: CommandResult) -> str:
    """Return the variable that usually holds credentials for the package manager of a command."""
    programs = {word.rpartition("/")[2] for word in result.argv}
    return next((_HOLDERS[name] for name in _HOLDERS if name in programs), "NPM_TOKEN")


def _import(each: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> Mended:
    module = _MISSING_IMPORT.search(result.tail)
    if module is None or not commands.setup:
        return "Mend what stops the tests from being loaded, or name others:", _lists(
            each.name, [(*each.argv, "path/to/tests")]
        )
    python = f"{ENV}/bin/python"
    more = (python, "-m", "pip", "install", module[1])
    return (
        f"The module {module[1]} is missing; its package may have another name:",
        _lists(CommandName.SETUP, [*(every.argv for every in commands.setup), more]),
    )


def _all_red(result: CommandResult) -> Mended:
    if _SERVICE.search(result.tail):
        said = (
            "A service that the tests need cannot be reached. Start it on this machine, and name"
            " its port and where the tests find it:"
        )
        address = "postgresql://user@127.0.0.1:5432/test"
        lines = ["services: {database: 5432}", f"environment: {{DATABASE_URL: '{address}'}}"]
        return said, iter(lines)
    said = (
        "Something that all tests need is missing: a service, a variable, a time zone (TZ), a built"
        " part. Set what they need, or test only what runs without it:"
    )
    return said, iter(["environment:", "  DATABASE_URL: sqlite://"])


def _others(each: UnusableCommand, commands: ProjectCommands) -> list[tuple[str, ...]]:
    """Return the commands of the same kind but this one."""
    return [every.argv for every in commands.of(each.name) if every.argv != each.argv]


def _lists(name: CommandName, commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of `commands:` for one kind."""
    yield "commands:"
    if not commands:
        yield f"  {name.value}: []"
        return
    yield f"  {name.value}:"
    for argv in commands:
        yield f"    - {json.dumps(list(argv), ensure_ascii=False)}"
