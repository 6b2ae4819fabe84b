"""`pipeline_init`: what the input is, and whether a run of it exists. Nothing is written."""

import re
from collections.abc import Mapping

from forge_bot.checkout import Repository
from forge_bot.engine.values import Effort
from forge_bot.errors import ForgeError
from forge_bot.mcp_server.preferences import Preferences
from forge_bot.mcp_server.roots import Root
from forge_bot.mcp_server.sources import Origin, fetch_needed, origin_of
from forge_bot.mcp_server.wire import InitFlags, NewRun, Refused, Resumed
from forge_bot.runs.clock import now
from forge_bot.runs.find import RunInfo
from forge_bot.runs.reading import reading
from forge_bot.workspace import SPECS, slug, workspace_name

_BARE = re.compile(r"(?:^|(?<=\s))--(?P<name>auto|nopr|debug|discuss|resume)(?=\s|$)")
_EFFORT = re.compile(r"(?:^|(?<=\s))--effort(?:=|\s+)(?P<effort>\S+)")
_OTHER = re.compile(r"(?:^|(?<=\s))--(?P<name>[a-z][a-z-]*)(?:=\S*)?(?=\s|$)")
_GO_ON = "call state_resume_info"


def arrived(
    root: Root, arguments: str, current_branch: str, preferences: Preferences, environ: Mapping[str, str]
) -> NewRun | Resumed | Refused:
    """What the arguments of a host's command mean: a new run, one that exists, or nothing that could be used."""
    core, flags, problems = _parsed(arguments, preferences)
    origin = origin_of(core, environ)
    if origin.problem:
        problems = (*problems, origin.problem)
    if (known := _known(root, core, origin)) is not None:
        return Resumed(workspace=f"{SPECS}/{known.name}", instruction=_GO_ON)
    if origin.type == "workspace":
        problems = (*problems, f"{core.strip()} holds no run: name one of run_list, or say in words what is to be done")
    if problems:
        return Refused(errors=problems)
    name = workspace_name(now().date(), "", slug(core))
    return NewRun(
        workspace=f"{SPECS}/{name}",
        spec_name=name.partition("-")[2],
        source_type=origin.type,
        source_url=origin.url or None,
        source_id=origin.id or None,
        core_text=core,
        flags=flags.model_copy(update={"current_branch": current_branch or _branch(root.repository)}),
        fetch_needed=fetch_needed(origin),
    )


def _parsed(arguments: str, preferences: Preferences) -> tuple[str, InitFlags, tuple[str, ...]]:
    """The words without flags, the flags, and what is wrong with them."""
    problems: list[str] = []
    text = arguments.replace("\0", "")
    bare = {match["name"] for match in _BARE.finditer(text)}
    effort: Effort | None = preferences.effort
    if (match := _EFFORT.search(text)) is not None:
        try:
            effort = Effort(match["effort"].upper())
        except ValueError:
            problems.append(f"effort {match['effort']!r} does not exist: it is one of {', '.join(Effort)}")
    core = " ".join(_BARE.sub(" ", _EFFORT.sub(" ", text)).split(" ")).strip()
    core = re.sub(r"(?<=\S) {2,}", " ", core)
    problems += [f"unknown flag --{match['name']}" for match in _OTHER.finditer(core.partition("\n")[0]) if core.startswith("--")]
    flags = InitFlags(
        auto="auto" in bare or preferences.auto,
        skip_pr="nopr" in bare or preferences.nopr,
        debug="debug" in bare or preferences.debug,
        discuss="discuss" in bare or preferences.discuss,
        effort_override=effort,
    )
    return core, flags, tuple(problems)


def _known(root: Root, core: str, origin: Origin) -> RunInfo | None:
    """The run that the input names, or the one that is under way for the same issue."""
    words = core.strip().replace("\\", "/").rstrip("/").rpartition("/")[2] if origin.type == "workspace" else core.strip()
    every = root.runs()
    if named := next((info for info in every if words in {info.name, info.branch}), None):
        return named
    if origin.id:
        mark = f"-{slug(origin.id)}-"
        return next((info for info in every if mark in info.name and not info.ended and _is_of(root, info, origin)), None)
    return None


def _is_of(root: Root, info: RunInfo, origin: Origin) -> bool:
    """Whether a run is about this very issue: other trackers and repositories have the same numbers."""
    try:
        source = reading(root.repository, info, root.config).state.source
    except ForgeError:
        return False
    return source.type == origin.type and _place(source.url) == _place(origin.url)


def _place(url: str) -> str:
    return url.partition("://")[2].rstrip("/").casefold()


def _branch(repository: Repository) -> str:
    try:
        return repository.head().branch
    except ForgeError:
        return ""
