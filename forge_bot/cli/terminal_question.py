"""Ask the person at the terminal; without a terminal, print how to answer later."""

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.markdown import Markdown
from rich.markup import escape
from rich.padding import Padding
from rich.prompt import Prompt
from rich.rule import Rule
from rich.syntax import Syntax

from forge_bot.cli.console import Console
from forge_bot.cli.progress import Progress
from forge_bot.engine.reports import Answer
from forge_bot.gate.answer_line import read_answer
from forge_bot.gate.arguments import SHOWN_DIGEST, names_version
from forge_bot.gate.grammar import Approve, PostSummary
from forge_bot.gate.written_command import Mistyped
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, VERDICTS
from forge_bot.prompts.escape import cut, reveal_invisible
from forge_bot.runs.question import Question, QuestionData, ShownDocument
from forge_bot.runs.question_overview import (
    LONGEST_APPROACH,
    LONGEST_LINE,
    MOST_FILES,
    MOST_FINDINGS,
    MOST_INTERFACES,
    MOST_RISKS,
    Overview,
)
from forge_bot.runs.session import Asker, PersonAnswer, PersonEdit, PersonQuestion
from forge_bot.runs.typed_answer import person_answer
from forge_bot.wording import gist, listed, several

_WONDER = "the model answers; nothing changes"
_LOOKING = "view all of the text · what changed since it was last shown · edit"
_LOOKS = frozenset({"v", "view", "d", "diff", "e", "edit"})
_MOST_DIFFERENCE = 40
_KEYS = {"a": "approve", "r": "reject", "d": "done", "s": "skip", "p": "post"}


def ask_at_terminal(progress: Progress) -> Asker:
    """Ask whoever sits here: the documents rendered, then one key. They are not shown again after a
    question about them.
    """
    wondered: list[Question] = []

    def ask(question: Question) -> PersonAnswer | PersonQuestion | PersonEdit | None:
        progress.stop()
        if question not in wondered:
            show(question, progress.console)
        said = _answered(
            question, progress.console, lambda text: Prompt.ask(text, console=progress.console)
        )
        wondered[:] = [question] if isinstance(said, PersonQuestion) else []
        return said

    return ask


def open_editor(path: Path) -> None:
    """Open a file in the editor that $VISUAL or $EDITOR names (else vi), and wait until it ends."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        subprocess.run([*words, str(path)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        Console().print(
            f"[yellow]The editor {escape(words[0])} failed: {escape(str(error))}.[/]"
            " Set $EDITOR to one that is installed."
        )


def say_how_to_answer(question: Question) -> None:
    """Print the question for later, with the commands that answer it."""
    console = Console(soft_wrap=True)
    show(question, console)
    console.print(
        "[bold]Nobody is at a terminal here, so the run waits.[/] Answer at a terminal with one of:"
    )
    _commands(question, console)


def _commands(question: Question, console: Console) -> None:
    """Each answer as a command with its effect."""
    digest = f" {question.data.digest[:SHOWN_DIGEST]}" if question.data.digest else ""
    for choice in question.actions:
        shown = {
            "approve": f"approve{digest}",
            "reject": 'reject "what should be different"',
            "post": "resume",
        }.get(choice.answer, choice.answer)
        console.print(
            f"  forge-bot {escape(shown):<44} [dim]{escape(choice.effect)}[/]", highlight=False
        )
    wonder = 'ask "what you want to know"'
    console.print(f"  forge-bot {wonder:<44} [dim]{_WONDER}[/]", highlight=False)


def show(question: Question, console: Console) -> None:
    """The question on one screen: the plan, what to know, and the answers; then what is short
    enough to be read at once.
    """
    data = question.data
    console.print()
    console.print(
        Rule(f"[bold]{escape(data.gate)}: {escape(question.title)}[/]", align="left", style="cyan")
    )
    for line in data.decision:
        console.print(escape(line), highlight=False)
    _plan(data.overview, console)
    _to_know(data, console)
    _answers(question, console)
    shown = [
        document
        for place, document in enumerate(data.documents)
        if not console.is_terminal or _is_open(document, place, data, console)
    ]
    if len(data.difference.splitlines()) <= _MOST_DIFFERENCE or not console.is_terminal:
        _difference(data.difference, console)
    for document in shown:
        _document(document, console)
    if closed := [document for document in data.documents if document not in shown]:
        names = " and ".join(
            f"{each.name} ({each.text.count(chr(10)) + 1:,} lines)" for each in closed
        )
        console.print(f"\n[bold]v[/] shows in a pager: {escape(names)}", highlight=False)
    if data.digest:
        console.print(
            f"[dim]version {data.digest[:SHOWN_DIGEST]}; an approval counts for this version"
            " only[/]",
            highlight=False,
        )


def _difference(difference: str, console: Console) -> None:
    if difference:
        console.print("\n[bold]What changed since the version shown before[/]")
        console.print(Syntax(difference, "diff", background_color="default", word_wrap=True))


def _plan(overview: Overview, console: Console) -> None:
    """The design in a few lines: files, tests, what others depend on, and the decisions left to the
    reader.
    """
    outline = overview.outline
    if outline.approach:
        approach = gist(outline.approach, LONGEST_APPROACH)
        console.print(escape(approach), highlight=False)
    if not outline.files:
        return
    console.print(f"[bold]What will change[/]: {overview.counted}", highlight=False)
    for file in outline.files[:MOST_FILES]:
        _cropped(f"  {file.path}", file.change, console)
    if (more := len(outline.files) - MOST_FILES) > 0:
        console.print(f"  … and {several(more, 'more file')} in the design", highlight=False)
    if outline.tests:
        _cropped("  Tests", listed(outline.tests, most=1), console)
    interfaces = listed(outline.interfaces, most=MOST_INTERFACES) or "none named"
    _cropped("  Interfaces", interfaces, console)
    dependencies = listed(overview.dependencies, most=MOST_FILES) or "none changed"
    _cropped("  Dependencies", dependencies, console)
    if overview.reach:
        console.print(escape(f"  {overview.reach}"), highlight=False)
    for each in outline.to_decide:
        console.print(f"  [bold]Needs you[/]: {escape(each)}", highlight=False)


def _cropped(name: str, words: str, console: Console) -> None:
    line = f"{name}: {words}" if words else name
    console.print(escape(line), highlight=False, no_wrap=True, overflow="ellipsis", soft_wrap=False)


def _to_know(data: QuestionData, console: Console) -> None:
    """Risks, review, findings and cost; of a design the first risks and findings, since its
    documents have the others.
    """
    overview, risks, findings = data.overview, data.all_risks, data.findings
    if overview.spent:
        risks = risks[: max(MOST_RISKS, len(data.risks))]
        findings = sorted(findings, key=lambda each: HEAVIEST_FIRST.index(each.severity))
        findings = findings[:MOST_FINDINGS]
    for risk in risks:
        console.print(f"[yellow]⚠ {escape(risk)}[/]", highlight=False)
    if overview.spent:
        _review(overview, console)
    for finding in findings:
        words = cut(finding.description, LONGEST_LINE) if overview.spent else finding.description
        console.print(f"  [bold]{finding.severity.value}[/] {escape(words)}", highlight=False)
    if more := len(data.all_risks) - len(risks) + len(data.findings) - len(findings):
        console.print(f"  … and {more:,} more in the documents", highlight=False)
    if overview.spent:
        to_go = f" · probably {overview.to_go} more" if overview.to_go else ""
        console.print(f"[bold]Cost[/]: so far {escape(overview.spent + to_go)}", highlight=False)


def _review(overview: Overview, console: Console) -> None:
    for edit in overview.edits:
        console.print(
            f"[yellow]✏ {escape(edit.document)} was changed by hand[/] by {escape(edit.by)}"
            f" ({edit.at:%Y-%m-%d %H:%M} UTC)",
            highlight=False,
        )
    for review in overview.reviews:
        version = "before the change by hand" if review.earlier_version else "for this version"
        count = (
            f"; {several(review.findings, 'finding')}, left as it is if you approve"
            if review.findings
            else ""
        )
        console.print(
            f"[bold]Review[/] by a model: {VERDICTS[review.verdict]}, {version}{count}",
            highlight=False,
        )
    if not overview.reviews:
        console.print("[bold]Review[/]: none at this effort; you are the first to look at it")


def _answers(question: Question, console: Console) -> None:
    """Each answer with its effect, and what else can be typed; without a terminal the commands."""
    if not console.is_terminal:
        console.print("[bold]Answers[/], at a terminal:", highlight=False)
        _commands(question, console)
        return
    console.print("[bold]Type one of these[/], your words behind it:", highlight=False)
    until = question.data.overview.until
    for choice in question.actions:
        answer, effect = choice.answer, choice.effect
        if answer == "approve" and until:
            effect += f"; then it goes on without asking until {until}; merging is yours"
        words = " and your notes" if answer == "reject" else ""
        key = answer if answer == "abandon" else f"{answer[0]}, {answer}"
        _key(f"{key}{words}", effect, console)
    _key("?, ask and your question", _WONDER, console)
    if question.data.documents:
        _key("v · d · e", _LOOKING, console)
    _key("l, later", "stop here; forge-bot resume asks again", console)


def _key(key: str, effect: str, console: Console) -> None:
    console.print(f"  [bold]{escape(key)}[/]: {escape(effect)}", highlight=False)


def _is_open(document: ShownDocument, place: int, data: QuestionData, console: Console) -> bool:
    """Return whether a document follows the question: of a design when it is short; of anything
    else, such as a patch, when it has at most two screens.
    """
    if data.overview.spent:
        return not place and document.is_short
    return document.text.count("\n") <= 2 * console.height


def _document(document: ShownDocument, console: Console) -> None:
    console.print()
    console.print(Rule(escape(document.name), align="left", style="dim"))
    if not console.is_terminal:
        # A log or a pipe gets the text itself: what is rendered for a width would be cut or broken
        # elsewhere.
        console.print(
            reveal_invisible(document.text).rstrip(), markup=False, highlight=False, soft_wrap=True
        )
    elif document.hidden:
        console.print(
            Syntax(
                reveal_invisible(document.text),
                "markdown",
                background_color="default",
                word_wrap=True,
            ),
            soft_wrap=False,
        )
    elif document.name.endswith(".md"):
        console.print(Padding(Markdown(document.text, hyperlinks=False), (0, 2)), soft_wrap=False)
    else:
        console.print(
            Syntax(
                reveal_invisible(document.text), "diff", background_color="default", word_wrap=True
            ),
            soft_wrap=False,
        )


def _answered(
    question: Question, console: Console, ask: Callable[[str], str]
) -> PersonAnswer | PersonQuestion | PersonEdit | None:
    """One key, and words where they are needed. `later` leaves the run waiting."""
    offered = {choice.answer: choice.effect for choice in question.actions}
    console.print(f"[bold]Answers[/]: {' · '.join((*offered, 'ask', 'later'))}", highlight=False)
    while True:
        word, rest = _parted(ask("[bold]Your answer[/]"))
        if word in {"l", "later", "q"} and not rest:
            return None
        if word in {"?", "ask"}:
            if words := rest or ask("What do you want to know?").strip():
                return PersonQuestion(question=words)
            continue
        if word in _LOOKS and not rest and not (word == "d" and "done" in offered):
            if word in {"e", "edit"} and (editable := _editable(question)):
                return PersonEdit(document=editable)
            _look(word, question, console)
            continue
        found = _read(f"{_KEYS.get(word, word)} {rest}", offered, question.data.digest)
        if isinstance(found, str):
            console.print(f"  {escape(found)}", highlight=False)
            continue
        if found.answer is Answer.REJECT and not found.notes:
            found = found.model_copy(update={"notes": ask("What should be different?").strip()})
        if found.answer is Answer.REJECT and not found.notes:
            console.print("  A rejection needs a reason, or the next version will be no better.")
            continue
        return found


def _editable(question: Question) -> str:
    """Return the first document that a person may edit; empty without one."""
    names = (document.name for document in question.data.documents)
    return next((name for name in names if name.endswith(".md")), "")


def _look(word: str, question: Question, console: Console) -> None:
    """Show the documents in a pager, or what changed since the version shown before."""
    if word in {"v", "view"}:
        with console.pager(styles=True):
            for document in question.data.documents:
                _document(document, console)
    elif word in {"d", "diff"}:
        difference = question.data.difference
        if difference:
            console.print(Syntax(difference, "diff", background_color="default", word_wrap=True))
        else:
            console.print("  No other version was shown before, so there is no difference.")
    else:
        console.print("  This question has no document that can be edited.")


def _parted(line: str) -> tuple[str, str]:
    """Return the first word of an answer in lower case, and the words after it: `reject too long`,
    `? why`, `?why`.
    """
    line = line.strip()
    if line.startswith("?"):
        return "?", line.removeprefix("?").strip()
    word, _, rest = line.partition(" ")
    return word.casefold(), rest.strip()


def _read(line: str, offered: Iterable[str], digest: str) -> PersonAnswer | str:
    """Return the answer that was typed, or why it is none. It is read as in a comment."""
    said = read_answer(line)
    word, _, rest = line.strip().partition(" ")
    if isinstance(said, Mistyped):
        if word in {"approve", "post"}:
            return _other_version(rest, digest)
        return f"{said.hint} Please answer with one of: {', '.join((*offered, 'ask', 'later'))}."
    if (
        isinstance(said, Approve | PostSummary)
        and said.digest is not None
        and not names_version(said.digest, digest)
    ):
        return _other_version(rest, digest)
    answer = person_answer(said)
    return (
        answer
        if answer.answer.value in offered
        else f"Please answer with one of: {', '.join((*offered, 'ask', 'later'))}."
    )


def _other_version(rest: str, digest: str) -> str:
    waits = f"version {digest[:SHOWN_DIGEST]} waits" if digest else "this question has no version"
    return (
        f"“{rest}” does not name what is shown: {waits}. To say what should be different: reject"
        " and your notes."
    )
