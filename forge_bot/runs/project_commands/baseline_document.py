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
from forge_bot.text_format import code_block
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.unusable_commands import Cause, UnusableCommand, missing_part

BASELINE = "baseline.md"
_LOCK = "runs.baseline_document.stale_lock"
_NO_SETUP = "runs.baseline_document.how_it_is_installed"
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
_STALE_LOCK = re.compile(
    r"lock ?file|package-lock\.json|\block\b.*(?:out of (?:date|sync)|not up.to.date|changed"
    r"|needs to be updated)|--locked|--frozen|immutable|checksum mismatch|missing go\.sum entry",
    re.IGNORECASE,
)
_OTHER_PYTHON = re.compile(
    r"Python(?: version)?:? \(?(?P<found>\d[\d.]*)\)?,? (?:not in|is not allowed by the project"
    r"|which is incompatible with[^:\n]*:) [('`]*(?P<wanted>[^)'`\n]+)"
)
"""The refusals of pip, Poetry and uv where a project asks for another version of Python."""

_CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies|No solution found when")
"""The refusals of pip and uv where two requirements exclude each other."""

_INSTALLED_FOLDER = re.compile(
    r"(?<= -[er] )(?:\./)?([\w.-][\w./-]*?)(?:\[[^]]*\]|/[\w.-]+\.txt)?(?= |$)"
)
_LOWEST = re.compile(r"(?:>=|~=|==|\^)\s*(\d+\.\d+)")
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
"""A letter that English does not have."""

_NOT_ALLOWED = re.compile(rf"403 ([\w.-]+) {NOT_ALLOWED.partition(',')[0]}")
"""The answer of setup's proxy for a host that it does not reach."""

_INSTALL_SCRIPT = re.compile(
    r"npm error path \S*node_modules/((?:@[\w.-]+/)?[\w.-]+)\s*\n(?:.*\n)*?npm error command failed"
)
_SKIPS = re.compile(r"\b([A-Z][A-Z0-9]*_SKIP_[A-Z0-9_]*|[A-Z][A-Z0-9_]*_SKIP)\b")
"""A variable by which a package says that it leaves out a download."""

_SERVICE = re.compile(
    r"[Cc]onnection refused|ECONNREFUSED|could not connect|[Cc]an't connect|OperationalError"
    r"|ConnectionError|Errno 111"
)


def tell_of_red(results: Sequence[CommandResult], left_behind: Sequence[str], tell: Notify) -> None:
    """Tell how many failures there were before any change, if there were some, and which ignored
    files the tests did not find.
    """
    if red := sum(len(each.failures) for each in results if each.exit_code != 0):
        tell(
            Message(
                text=(
                    f"{red:,} failure was there before the change; only new ones count"
                    if red == 1
                    else f"{red:,} failures were there before the change; only new ones count"
                )
            )
        )
    if left_behind:
        setting = f"`{_carry(left_behind)}` in {CONFIG}"
        tell(Message(text=f"{_left_behind(left_behind)} {setting}"))


def _left_behind(names: Sequence[str]) -> str:
    return (
        "The tests ran in a tree of their own, without the files that git ignores in your "
        "checkout, such as {names}. If they need some of them, name these:"
    ).format(names=", ".join(names[:_IGNORED_SHOWN]))


def _carry(names: Sequence[str]) -> str:
    return f"carry: {json.dumps(names[:_IGNORED_SHOWN], ensure_ascii=False)}"


def baseline_document(
    results: Sequence[CommandResult],
    found: Sequence[UnusableCommand],
    commands: ProjectCommands,
    left_behind: Sequence[str] = (),
) -> str:
    """Return the text about the unusable commands; the same results give the same text. It names
    ignored files that the tests did not find.
    """
    known = {(result.name, result.argv): result for result in results}
    shown = found[:_MOST_SHOWN]
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
    parts += [_part(each, known[each.name, each.argv], commands) for each in shown]
    if len(found) > _MOST_SHOWN:
        parts.append(f"{say('runs.baseline_document.more', count=len(found) - _MOST_SHOWN)}\n")
    if left_behind:
        parts.append(f"{_left_behind(left_behind)}\n\n{_settings(_carry(left_behind))}")
    return "\n".join(parts)


def _part(each: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> str:
    words = " ".join(each.argv)
    code = "" if result.timed_out else f" ({say('words.exit_code', code=result.exit_code)})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()[-_LINES_SHOWN:]]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice, configuration = _mended(each, result, commands)
    return "\n".join(
        (
            f"## {each.name.value}: `{words}`",
            "",
            f"{say(_CAUSES[each.cause])}{code}. The end of its output:",
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

Mended = tuple[str, Iterator[str]]
"""A sentence about what would mend it, and the lines of a configuration."""


def _mended(each: UnusableCommand, result: CommandResult, commands: ProjectCommands) -> Mended:
    name, argv = each.name, each.argv
    match each.cause:
        case Cause.SETUP_FAILED:
            return _installed(argv, result, commands)
        case Cause.MISSING_TOOL:
            program = next((word for word in argv if word != "env" and "=" not in word), argv[0])
            missing = missing_part(result) or program
            said = f"Install {missing} where these commands run, or leave the command out:"
            return said, _lists(name, _others(each, commands))
        case Cause.TIMED_OUT:
            return "Give it more time, or run less:", iter(["command_seconds: 3600"])
        case Cause.NOT_COLLECTED:
            return _import(each, result, commands)
        case Cause.ALL_RED:
            return _all_red(result)
        case Cause.UNREADABLE if _FOREIGN.search(result.tail):
            return (
                "If it speaks another language than English, let it speak English; else let it "
                "print the names of what fails, or leave it out:"
            ), iter(["environment: {LC_ALL: C.UTF-8}"])
        case Cause.UNREADABLE:
            return "Let it print the names of what fails, or leave it out:", _lists(
                name, [(*argv, "--verbose")]
            )
        case Cause.USAGE_ERROR | Cause.NO_TESTS:
            known = argv[:1] if each.cause is Cause.USAGE_ERROR else argv
            return "Write the command as this project calls it; an empty list means none:", _lists(
                name, [(*known, "path/to/tests"), *_others(each, commands)]
            )


def _installed(argv: tuple[str, ...], result: CommandResult, commands: ProjectCommands) -> Mended:
    """Return what may mend an installation; never the command that failed, called as before."""
    if (refused := _NOT_ALLOWED.search(result.tail)) is not None:
        return _setup(result), iter([f"network: [{refused[1]}]"])
    if _CREDENTIALS.search(result.tail):
        return _setup(result), iter([f"setup_credentials: [{_holder(result)}]"])
    if (package := _INSTALL_SCRIPT.search(result.tail)) is not None:
        return _install_script(package[1], result, commands)
    if (other := _OTHER_PYTHON.search(result.tail)) is not None:
        return _other_python(other, commands)
    mended = [("path/to/install",) if each == argv else each for each in _argvs(commands)]
    return _setup(result), _lists(CommandName.SETUP, mended)


def _setup(result: CommandResult) -> str:
    if refused := _NOT_ALLOWED.search(result.tail):
        return (
            "Setup reaches the usual registries, those that this machine is configured for, "
            f"and hosts that are named; {refused[1]} is none of them. If the installation "
            "needs it, name it:"
        )
    if _CREDENTIALS.search(result.tail):
        return (
            "A registry asks for credentials. Name the variable that holds them for the "
            f"package manager, such as {_holder(result)}, and give its value as "
            f"FORGE_SETUP_{_holder(result)} where forge-bot runs; or install from a registry "
            "that can be read without them:"
        )
    folders = dict.fromkeys(_INSTALLED_FOLDER.findall(" ".join(result.argv)))
    if len(folders) > 1 and _CONFLICT.search(result.tail):
        return (
            "{folders} ask for versions that exclude each other, and share an environment. "
            "Begin a run in one of them, as `forge-bot run --in {first} …` does, or write down "
            "how they are installed together:"
        ).format(folders=", ".join(folders), first=next(iter(folders)))
    return say(_LOCK if _STALE_LOCK.search(result.tail) else _NO_SETUP)


def _argvs(commands: ProjectCommands) -> list[tuple[str, ...]]:
    return [each.argv for each in commands.setup]


def _other_python(refusal: re.Match[str], commands: ProjectCommands) -> Mended:
    """Return what makes the environment with the version of Python that the project asks for."""
    lowest = _LOWEST.search(refusal["wanted"])
    python = f"python{lowest[1] if lowest else '3.X'}"
    argvs = [
        (python, *argv[1:]) if argv[1:3] == ("-m", "venv") else argv for argv in _argvs(commands)
    ]
    said = (
        "The project asks for Python {wanted}, and `python3` is {found} here. Let setup call "
        "another interpreter, or put its folder first in `PATH`:"
    ).format(wanted=refusal["wanted"], found=refusal["found"])
    return said, _lists(CommandName.SETUP, argvs)


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
    argvs = [*_argvs(commands), more]
    return f"The module {module[1]} is missing; its package may have another name:", _lists(
        CommandName.SETUP, argvs
    )


def _all_red(result: CommandResult) -> Mended:
    if _SERVICE.search(result.tail):
        address = "postgresql://user@127.0.0.1:5432/test"
        lines = ["services: {database: 5432}", f"environment: {{DATABASE_URL: '{address}'}}"]
        return (
            "A service that the tests need cannot be reached. Start it on this machine, and "
            "name its port and where the tests find it:"
        ), iter(lines)
    return (
        "Something that all tests need is missing: a service, a variable, a time zone (TZ), a "
        "built part. Set what they need, or test only what runs without it:"
    ), iter(["environment:", "  DATABASE_URL: sqlite://"])


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
