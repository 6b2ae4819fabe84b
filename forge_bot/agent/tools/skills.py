"""Agent Skills (agentskills.io): folders with a SKILL.md; and the requests of an agent that
performs one: its references, its scripts, and what of the repository its front matter names.

The catalogue has name and description; the body is read when a skill is chosen, and its references
and scripts only when the agent that performs it asks for them.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter

from forge_bot.agent.capabilities import Declined, Effect, ProviderResult, ResultStatus, ends, head
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.errors import BadCapabilities
from forge_bot.sandbox.box import CommandOutcome
from forge_bot.settings.yaml_file import read_yaml
from forge_bot.values import Frozen

SKILL_FILE = "SKILL.md"
SCRIPTS = "scripts"
_MOST_CHARACTERS = 200_000
_LISTED = 100
_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)(?:^|\n)---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def _words(value: Any) -> Any:
    return tuple(value.split()) if isinstance(value, str) else value


class SkillDefinition(Frozen):
    """One skill: the keys of its front matter that count here, and below them what is added. Others
    are left alone: programs have their own. `instructions` are empty until it is chosen.
    """

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1, max_length=64, pattern=rf"^{_NAME}$")
    description: str = Field(min_length=1, max_length=1_024)
    allowed_tools: Annotated[tuple[str, ...], BeforeValidator(_words)] = Field(
        default=(), alias="allowed-tools"
    )
    instructions: str = ""
    skill_path: str = Field(default="", description="absolute path of its folder")


_SKILL: TypeAdapter[SkillDefinition] = TypeAdapter(SkillDefinition)


def skill_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of skills directly inside a folder, sorted by name."""
    if not folder.is_dir():
        return ()
    return tuple(
        place
        for place in sorted(folder.iterdir())
        if not place.name.startswith(".") and (place / SKILL_FILE).is_file()
    )


def list_misplaced(folder: Path) -> tuple[Path, ...]:
    """Return the files that look like one of a skill and are of none: by their name, or by their
    front matter directly inside the folder.
    """
    skills = skill_folders(folder)
    return tuple(
        file
        for file in sorted(folder.rglob("*.[mM][dD]"))
        if not any(file.is_relative_to(skill) for skill in skills)
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        and (file.name.casefold() == SKILL_FILE.casefold() or _is_flat(file, folder))
    )


def _is_flat(file: Path, folder: Path) -> bool:
    return file.parent == folder and file.is_file() and file.read_bytes().startswith(b"---")


def read_skill(folder: Path, shown_as: str, *, whole: bool = False) -> SkillDefinition:
    """Return the skill in a folder, with its instructions only if `whole`.

    Raises BadCapabilities with all problems of its front matter.
    """
    name = f"{shown_as}/{SKILL_FILE}"
    text = _text_of(folder / SKILL_FILE, name)
    front = _FRONT.match(text)
    if front is None:
        raise BadCapabilities(
            f"{name} has no front matter.",
            details=(f"{name}:1: begin with a line `---`, name, description, and a line `---`",),
        )
    # The line of dashes stays, so that the lines of the problems are those of the file.
    skill = read_yaml(f"---\n{front[1]}\n", name, _SKILL, BadCapabilities, ())
    if skill.name != folder.name:
        raise BadCapabilities(
            f"{name} has one problem.",
            details=(f"{name}: the skill is named {skill.name}, but its folder {folder.name}",),
        )
    return skill.replace(
        description=" ".join(skill.description.split()),
        instructions=text[front.end() :].strip() if whole else "",
        skill_path=str(folder.resolve()),
    )


def _text_of(file: Path, name: str) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise BadCapabilities(
            f"{name} cannot be read.", details=(f"{name}: {error.strerror}",)
        ) from None
    if len(text) > _MOST_CHARACTERS:
        raise BadCapabilities(
            f"{name} has {len(text):,} characters; {_MOST_CHARACTERS:,} are the most."
        )
    return text.replace("\r\n", "\n")


def skill_digest(folder: Path) -> str:
    """Return a sha256 of every file in the folder of a skill, with its name and whether it runs."""
    digests = [
        [
            file.relative_to(folder).as_posix(),
            bool(file.stat().st_mode & 0o100),
            hashlib.sha256(file.read_bytes()).hexdigest(),
        ]
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    ]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def files_of(skill: SkillDefinition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a skill's references and scripts, as paths from its folder."""
    root = Path(skill.skill_path)
    names = sorted(
        file.relative_to(root).as_posix()
        for file in root.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(root).parts)
    )
    scripts = tuple(name for name in names if name.startswith(f"{SCRIPTS}/"))
    others = tuple(name for name in names if name not in {*scripts, SKILL_FILE})
    return others[:_LISTED], scripts[:_LISTED]


RunScript = Callable[[Sequence[str]], CommandOutcome]
"""Runs the words in the sandbox, in a separate tree at the commit that the agent reads."""

READ_REFERENCE, RUN_SCRIPT = "read_reference", "run_script"
_SAME = {"Read": "read_file", "Grep": "search_code", "Glob": "list_files", "Bash": RUN_SCRIPT}
"""Names that other programs have for the same, as they stand in `allowed-tools`."""

_PROGRAMS = {".py": "python3", ".sh": "sh", ".bash": "bash", ".js": "node", ".mjs": "node"}


class ReadReference(Frozen):
    """Read a file of this skill."""

    path: str = Field(min_length=1, description="as it is listed, from the folder of the skill")


class SkillScript(Frozen):
    """Run a script of this skill, without a shell, in a tree that is removed afterwards."""

    path: str = Field(min_length=1, description="as it is listed: scripts/…")
    arguments: tuple[str, ...] | None = Field(
        default=None, max_length=50, description="its words on the command line"
    )


def allowed_tools(skill: SkillDefinition) -> frozenset[str]:
    """Return the names that `allowed-tools` gives to a skill, as this program names them.

    Without that key it has its scripts; its references it always has.
    """
    if not skill.allowed_tools:
        return frozenset({READ_REFERENCE, RUN_SCRIPT})
    plain = (word.partition("(")[0].rstrip(",") for word in skill.allowed_tools)
    return frozenset({READ_REFERENCE, *(_SAME.get(word, word) for word in plain)})


def skill_context(
    skill: SkillDefinition, providers: ProviderContext, run_script: RunScript
) -> ProviderContext:
    """Return what the agent that performs a skill may ask for. A skill without scripts has none to
    run.
    """
    allowed = allowed_tools(skill)
    references, scripts = files_of(skill)
    context = providers.limited(allowed)

    def read(wanted: ReadReference, limit: int) -> ProviderResult:
        file = _listed_file(skill, wanted.path, (*references, *scripts))
        return head(file.read_text(encoding="utf-8", errors="replace"), limit)

    def run(wanted: SkillScript, limit: int) -> ProviderResult:
        file = _listed_file(skill, wanted.path, scripts)
        outcome = run_script((*_words_before(file), str(file), *(wanted.arguments or ())))
        return _shown_outcome(outcome, limit)

    if references:
        context.add(READ_REFERENCE, ReadReference, read, long=True)
    if scripts and RUN_SCRIPT in allowed:
        context.add(RUN_SCRIPT, SkillScript, run, Effect.RUNS)
    return context


def _words_before(file: Path) -> tuple[str, ...]:
    """Return the program that reads a script, none for one that runs by itself. Raises Declined."""
    program = _PROGRAMS.get(file.suffix)
    executable = file.stat().st_mode & 0o111
    if not executable and program is None:
        why = f"{file.name} is not executable, and its ending names no program for it."
        raise Declined(ResultStatus.TOOL_ERROR, why)
    # An executable file without `#!` would be read by a shell, whatever its ending says.
    if program is None or (executable and file.read_bytes().startswith(b"#!")):
        return ()
    return (program,)


def _shown_outcome(outcome: CommandOutcome, limit: int) -> ProviderResult:
    shown = ends(outcome.output.strip() or "It printed nothing.", limit)
    code = "timed out" if outcome.timed_out else f"exit code {outcome.exit_code}"
    failed = ResultStatus.TIMEOUT if outcome.timed_out else ResultStatus.TOOL_ERROR
    return shown.replace(
        note="; ".join(filter(None, (code, shown.note))),
        status=ResultStatus.OK if outcome.exit_code == 0 else failed,
    )


def _listed_file(skill: SkillDefinition, path: str, listed: Sequence[str]) -> Path:
    """Return a file of a skill. Raises Declined for an unlisted file and for a link that leads
    outside.
    """
    root = Path(skill.skill_path)
    file = (root / path).resolve()
    if path not in listed or not file.is_relative_to(root):
        names = ", ".join(listed) or "none"
        why = f"{path} is no such file of this skill. There are: {names}."
        raise Declined(ResultStatus.INVALID_PARAMS, why)
    return file
