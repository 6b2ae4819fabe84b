"""Assemble the prompt. Layer 1 is the system part, the same for all agents of a run.

The user part begins with the content that most prompts of a run share. It ends with the content of
one agent alone: its role, its contract, and the reason for the question. So a provider's cache
finds most of it again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from forge_bot.artifacts.markdown import lower_headings
from forge_bot.artifacts.tasks import read_tasks
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.fit_prompt import ShownInput, fit
from forge_bot.prompts.material import Capability, Line, Material, Prompt
from forge_bot.prompts.removals import RemovalKind, list_removals, sentence
from forge_bot.prompts.untrusted import clean, fence
from forge_bot.text_format import names, one_line
from forge_bot.values import TaskSpec

COMMON = "_common.md.j2"
NEXT_DOCUMENT = "_next_document.md.j2"
_LOWER = 2
"""Levels by which the headings of a later role are lowered in the prompt of an agent that may take
it over.
"""
MESSAGE = "_message.md.j2"

_AS_THEY_ARE = names(
    "agent phase label delivery workspace output_file branch base round capabilities answer"
)
"""The parts of the material that the template of the user part prints as they are."""

_DELIMITER = re.compile(r"<(?=\s*/?\s*untrusted-text)", re.IGNORECASE)

_CHARACTERS_PER_TOKEN = 4
"""The rule of thumb that providers publish for English and code. It is used to choose what fits,
never to compute a price.
"""


def assemble(material: Material, environment: Environment, *, token_budget: int = 60_000) -> Prompt:
    """Return the prompt for this material.

    Above the budget the middles of inputs are left out; `dropped` lists them. Raises BadTemplate
    when a template cannot be rendered.
    """
    tally: Counter[RemovalKind] = Counter()
    shown = _shown(material, tally)
    role = _role(material, environment)
    words: dict[str, object] = {
        "notes": [_quote(_clean(note, tally)) for note in material.notes],
        "decided": [_quote(_clean(note, tally)) for note in material.decided],
        # The requester typed this text: `Vec<String>` in it is not a tag that hides something.
        "question": _quote(material.question),
        "role": role.rstrip("\n"),
    }
    common = _facts_for_template(material, "", "", material.offered or material.capabilities)
    system = _tidy(environment.render(COMMON, common))

    def user(*, texts: bool) -> str:
        return _tidy(environment.render(MESSAGE, words | _message(material, shown, texts=texts)))

    room = characters(token_budget) - len(system) - len(user(texts=False))
    shown = fit(shown, room)
    written = user(texts=True)
    return Prompt(
        system=system,
        user=written,
        role=role,
        seams=tuple(_seams(written, shown)),
        tokens=-(-(len(system) + len(written)) // _CHARACTERS_PER_TOKEN),  # rounded up
        dropped=tuple(
            f"{entry.name}: {entry.missing:,} of {len(entry.whole):,} characters left out."
            for entry in shown
            if entry.missing
        ),
        removed=sentence(list_removals(tally)),
    )


def _seams(user: str, shown: tuple[ShownInput, ...]) -> Iterator[int]:
    """Yield where each input that later prompts have too ends in the user part: all but what one
    agent alone is shown.
    """
    reached = 0
    for entry in shown:
        if not entry.shared:
            return
        text = _HALF.sub("\ufffd", entry.text)
        at = user.find(text, reached)
        if at >= 0:
            reached = at + len(text)
            yield reached


def _shown(material: Material, tally: Counter[RemovalKind]) -> tuple[ShownInput, ...]:
    return tuple(
        ShownInput(
            name=entry.shown_as or entry.name,
            kind=entry.kind,
            whole=_clean(entry.text, tally) if entry.untrusted else entry.text,
            shared=entry.shared,
        )
        for entry in material.inputs
        if material.delivery == "answer" or entry.is_quoted
    )


def _role(material: Material, environment: Environment) -> str:
    """Return the role of the agent, and the further roles that it may take."""
    facts = _facts_for_template(material, material.agent, material.phase, material.capabilities)
    text = environment.render(
        f"{material.agent}.md.j2",
        facts
        | {
            "headings": material.headings,
            "verdicts": material.verdicts,
            "instruction": material.instruction,
            "writes_next": bool(material.next_documents),
        },
    )
    if not material.next_documents:
        return _tidy(text)
    facts |= {
        "output_files": [_open(later.output_file) for later in material.next_documents],
        "workspace": material.workspace,
        "with_previous": True,
    }
    parts = [text, environment.render(NEXT_DOCUMENT, facts)]
    for later in material.next_documents:
        facts |= {
            "agent": later.agent,
            "phase": later.phase,
            "headings": later.headings,
            "sized": later.sized,
        }
        role = environment.render(f"{later.agent}.md.j2", facts)
        parts.append(lower_headings(role, _LOWER))
    return _tidy("\n".join(parts))


def _facts_for_template(
    material: Material, agent: str, phase: str, capabilities: tuple[Capability, ...]
) -> dict[str, object]:
    """Return the facts for an agent's template. None of them changes between rounds or runs."""
    listed = (
        entry.replace(
            description=one_line(entry.description), parameters=one_line(entry.parameters)
        )
        for entry in capabilities
    )
    return {
        "agent": agent,
        "phase": phase,
        "delivery": material.delivery,
        "headings": (),
        "verdicts": (),
        "capabilities": tuple(listed),
        "menu_notes": tuple(map(one_line, material.menu_notes)),
        "limits": material.limits,
        "instruction": "",
        "output_file": "",
        "writes_next": False,
        "with_previous": False,
        "sized": False,
    }


def _message(
    material: Material, shown: tuple[ShownInput, ...], *, texts: bool
) -> dict[str, object]:
    """Return the facts for the template of the user part."""
    paths = (
        f"{material.workspace}/{entry.name}" if entry.kind == "artifact" else entry.name
        for entry in material.inputs
        if entry.kind in {"artifact", "file"} and not entry.is_quoted
    )
    return {
        **{name: getattr(material, name) for name in _AS_THEY_ARE},
        "paths": _lines(dict.fromkeys(paths)),
        "further": _lines(f"{material.workspace}/{name}" for name in material.further),
        "writes_next": bool(material.next_documents),
        "drafts": material.drafts,
        "change": _open(material.change),
        "shown": [Line(label=entry.name, text=entry.text if texts else "") for entry in shown],
        "repository": _facts(material.repository),
        "similar": _bullets(material.similar, "similar past runs"),
        "patterns": _bullets(material.patterns, "past review findings"),
        "friction": _bullets(material.friction, "friction points"),
        "task": _task(material.task),
        "previous": any(entry.name == material.output_file for entry in material.inputs),
        "judges": bool(material.verdicts),
        "findings": [
            entry.replace(description=_open(entry.description)) for entry in material.findings
        ],
        "problems": _lines(material.problems),
        "offered": _fewer(material),
        "listed": _find_document_of_section(material),
    }


def _fewer(material: Material) -> str:
    """Return the names of what layer 1 offers and the agent may not ask for."""
    own = {entry.name for entry in material.capabilities}
    others = [entry.name for entry in material.offered if entry.name not in own]
    return ", ".join(f"`{_open(name)}`" for name in others)


def _find_document_of_section(material: Material) -> str:
    """Return the name of the shown document that holds the task's section; empty if none does."""
    task = material.task
    if task is None or material.delivery != "answer":
        return ""
    named = (
        entry.name
        for entry in material.inputs
        if entry.kind == "artifact"
        and task.acceptance
        and any(
            (task.id, task.acceptance, task.files) == (read.id, read.acceptance, read.files)
            for read in read_tasks(entry.text)[0]
        )
    )
    return _open(next(named, ""))


def _task(task: TaskSpec | None) -> TaskSpec | None:
    if task is None:
        return None
    return task.replace(
        title=_open(task.title), files=_lines(task.files), acceptance=_lines(task.acceptance)
    )


def _clean(text: str, tally: Counter[RemovalKind]) -> str:
    cleaned = clean(text)
    for removal in cleaned.removals:
        tally[removal.kind] += removal.count
    return cleaned.text


def _open(text: str) -> str:
    """Return one line outside of any fence; it can neither open nor close a fence."""
    return _DELIMITER.sub("&lt;", one_line(text))


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_open(text) for text in texts)


def _bullets(lines: tuple[str, ...], label: str) -> str:
    """Return one bullet for each line, in a fence: text of past runs can quote untrusted text."""
    return fence("\n".join(f"- {one_line(line)}" for line in lines), label) if lines else ""


def _facts(repository: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return the facts of layer 3: one-line facts first, then those that need a fence.

    Empty facts are left out.
    """
    short = [line for line in repository if len(line.text.split("\n")) == 1 and line.text.strip()]
    long = [line for line in repository if line not in short and line.text.strip()]
    return (
        *(Line(label=_open(line.label), text=_open(line.text)) for line in short),
        *(
            Line(label=_open(line.label), text=f"\n\n{fence(line.text.strip(), line.label)}")
            for line in long
        ),
    )


def _quote(note: str) -> str:
    """Return a note as a block quote. Each line is marked, so the note cannot end the quote."""
    return "\n".join(
        f"> {_DELIMITER.sub('&lt;', line)}".rstrip() for line in note.strip().splitlines()
    )


def _tidy(text: str) -> str:
    # File names need not be UTF-8. Python keeps their bytes as surrogate halves, which no request
    # can carry.
    return _HALF.sub("\ufffd", text).strip("\n") + "\n"


_HALF = re.compile("[\ud800-\udfff]")


def characters(tokens: int) -> int:
    """Return the maximum number of characters that are estimated as this number of tokens."""
    return tokens * _CHARACTERS_PER_TOKEN
