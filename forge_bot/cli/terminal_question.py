"""Ask the person at the terminal; without a terminal, print how to answer later."""

import os
import shlex
import subprocess
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule

from forge_bot.artifacts.markdown import BlockKind, read_blocks
from forge_bot.cli.console import Console
from forge_bot.cli.progress import Progress
from forge_bot.engine.gates import WITH_WORDS
from forge_bot.engine.reports import Answer
from forge_bot.gate.arguments import SHOWN_DIGEST, names_version
from forge_bot.gate.grammar import Approve, Mistyped, PostSummary
from forge_bot.gate.parse_comment import read_answer
from forge_bot.prompts.escape import reveal_invisible
from forge_bot.runs.question import Question, QuestionData, ShownDocument
from forge_bot.runs.question_text import first_screen
from forge_bot.runs.session import Asker
from forge_bot.runs.typed_answer import PersonAnswer, PersonEdit, PersonQuestion, person_answer
from forge_bot.sentences import listed, say

if TYPE_CHECKING:
    from rich.syntax import Syntax

_LOOKS = frozenset({"v", "view", "d", "diff", "e", "edit"})
_MOST_DIFFERENCE = 40
_NOTES = {Answer.REJECT: "What should be different?", Answer.ANSWER: "What is your answer?"}
_KEYS = {"a": "approve", "r": "reject", "d": "done", "s": "skip", "p": "post"}


def ask_at_terminal(progress: Progress, *, asks: bool = True) -> Asker:
    """Ask whoever sits here: the documents rendered, then one key. They are not shown again after a
    question about them. `asks`: a model is there to answer one.
    """
    wondered: list[Question] = []

    def ask(question: Question) -> PersonAnswer | PersonQuestion | PersonEdit | None:
        progress.stop()
        if question not in wondered:
            show(question, progress.console, asks=asks)
        answer = _answered(question, progress.console, asks=asks)
        wondered[:] = [question] if isinstance(answer, PersonQuestion) else []
        return answer

    return ask


def open_editor(path: Path) -> None:
    """Open a file in the editor that $VISUAL or $EDITOR names (else vi), and wait until it ends."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        subprocess.run([*words, str(path)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        Console().print(
            f"[yellow]The editor {escape(words[0])} failed: {escape(str(error))}.[/] Set "
            "$EDITOR to one that is installed."
        )


def say_how_to_answer(question: Question, *, asks: bool = True) -> None:
    """Print the question for later, with the commands that answer it."""
    console = Console()
    show(question, console, asks=asks)
    console.print(
        "[bold]Nobody is at a terminal here, so the run waits.[/] Answer at a terminal with one of:"
    )
    _commands(question, console, asks=asks)


def _commands(question: Question, console: Console, *, asks: bool) -> None:
    """Each answer as a command with its effect."""
    digest = f" {question.data.digest[:SHOWN_DIGEST]}" if question.data.digest else ""
    for choice in question.actions:
        shown = {
            "approve": f"approve{digest}",
            "reject": f'reject "{say("words.what_should_be_different")}"',
            "answer": f'answer "{say("words.your_answer")}"',
            "post": "resume",
        }.get(choice.answer, choice.answer)
        console.print(f"  forge-bot {escape(shown):<44} [dim]{escape(choice.effect)}[/]")
    if not asks:
        return
    wonder = f'ask "{say("terminal.what_you_want_to_know")}"'
    effect = "the model answers; nothing changes"
    console.print(f"  forge-bot {escape(wonder):<44} [dim]{effect}[/]")


def show(question: Question, console: Console, *, asks: bool = True) -> None:
    """Print the question on one screen: plan, facts and answers; then short documents."""
    data = question.data
    console.print()
    console.print(Rule(f"[bold]{escape(question.title)}[/]", align="left", style="cyan"))
    for line in data.decision:
        console.print(escape(line))
    _print_blocks(first_screen(question, approach=console.is_terminal), console)
    _answers(question, console, asks=asks)
    shown = [
        document
        for document in data.documents
        if not console.is_terminal or _is_open(document, data, console)
    ]
    if len(data.difference.splitlines()) <= _MOST_DIFFERENCE or not console.is_terminal:
        _difference(data.difference, console)
    for document in shown:
        _document(document, console)
    if closed := [document for document in data.documents if document not in shown]:
        names = [
            "{name} ({lines:,} lines)".format(
                name=document.name, lines=document.text.count("\n") + 1
            )
            for document in closed
        ]
        shown_by_v = f"[bold]v[/] shows in a pager: {escape(listed(names))}"
        console.print(f"\n{shown_by_v}")
    if data.digest and any(choice.answer == "approve" for choice in question.actions):
        version = f"version {data.digest[:SHOWN_DIGEST]}; an approval counts for this version only"
        console.print(f"[dim]{version}[/]")


def _difference(difference: str, console: Console) -> None:
    if difference:
        console.print(f"\n[bold]{say('question.what_changed')}[/]")
        console.print(_coloured(difference, "diff"), soft_wrap=False)


def _print_blocks(markdown: str, console: Console) -> None:
    """Print Markdown block by block, with an empty line above a paragraph."""
    for block in read_blocks(markdown):
        if block.kind is BlockKind.CODE:
            console.print(_coloured(block.text.rstrip(), block.fence or "text"), soft_wrap=False)
            continue
        mark = f"{block.number}. " if block.number else "- " if block.starts_item else ""
        indent = "  " * (block.depth - 1)
        words = "".join(
            f"[bold]{text}[/]" if strong else text
            for strong, spans in groupby(block.spans, key=lambda span: span.strong)
            for text in (escape("".join(span.text for span in spans).replace("\u200b", "")),)
        )
        # Prose is wrapped between words; in a log or a pipe a line stays whole.
        text = f"{indent}{mark}{words}" if block.depth else f"\n{words}"
        console.print(text, soft_wrap=not console.is_terminal)


def _answers(question: Question, console: Console, *, asks: bool) -> None:
    """Print each answer with its effect, and the other inputs; without a terminal the commands."""
    if not console.is_terminal:
        console.print("[bold]Answers[/], at a terminal:")
        _commands(question, console, asks=asks)
        return
    console.print("[bold]Type one of these[/], your words behind it:")
    until = question.data.overview.until
    for choice in question.actions:
        answer, effect = choice.answer, choice.effect
        if answer == "approve" and until:
            effect += f"; then it goes on without asking until {until}; merging is yours"
        key = answer if answer == "abandon" else f"{answer[0]}, {answer}"
        key = f"{key} and your notes" if answer == "reject" else key
        key = "your words" if answer == "answer" else key
        _key(key, effect, console)
    if asks:
        asking = "{key} and your question".format(key="?, ask")
        _key(asking, "the model answers; nothing changes", console)
    if question.data.documents:
        _key(
            "v · d · e",
            "view all of the text · what changed since it was last shown · edit",
            console,
        )
    _key("l, later", "stop here; forge-bot resume asks again", console)


def _key(key: str, effect: str, console: Console) -> None:
    console.print(f"  [bold]{escape(key)}[/]: {escape(effect)}")


def _is_open(document: ShownDocument, data: QuestionData, console: Console) -> bool:
    """Return whether a document follows the question, such as a patch of at most two screens; a
    design does not, since the question says what is in it.
    """
    return not data.overview.outline.approach and document.text.count("\n") <= 2 * console.height


def _document(document: ShownDocument, console: Console) -> None:
    console.print()
    console.print(Rule(escape(document.name), align="left", style="dim"))
    if not console.is_terminal:
        # A log or a pipe gets the text itself: text rendered for one width is cut or broken at
        # another.
        console.print(reveal_invisible(document.text).rstrip(), markup=False)
    elif document.hidden:
        text = _coloured(reveal_invisible(document.text), "markdown")
        console.print(text, soft_wrap=False)
    elif document.name.endswith(".md"):
        # A command that shows nothing should not wait for what reads Markdown.
        from rich.markdown import Markdown

        console.print(Padding(Markdown(document.text, hyperlinks=False), (0, 2)), soft_wrap=False)
    else:
        console.print(_coloured(reveal_invisible(document.text), "diff"), soft_wrap=False)


def _coloured(text: str, language: str) -> "Syntax":
    # What reads all languages takes long to import.
    from rich.syntax import Syntax

    return Syntax(text, language, background_color="default", word_wrap=True)


def _answered(
    question: Question, console: Console, *, asks: bool
) -> PersonAnswer | PersonQuestion | PersonEdit | None:
    """One key, and words where they are needed. `later` leaves the run waiting."""
    offered = {choice.answer: choice.effect for choice in question.actions}
    words = (*offered, *(("ask",) if asks else ()), "later")
    console.print("[bold]Answers[/]: {answers}".format(answers=" · ".join(words)))
    while True:
        word, rest = _parted(console.ask("[bold]Your answer[/]"))
        if word in {"l", "later", "q"} and not rest:
            return None
        if word in {"?", "ask"}:
            if wondered := rest or console.ask("What do you want to know?").strip():
                return PersonQuestion(question=wondered)
            continue
        if word in _LOOKS and not rest and not (word == "d" and "done" in offered):
            if word in {"e", "edit"} and (editable := _editable(question)):
                return PersonEdit(document=editable)
            _look(word, question, console)
            continue
        answer = _read(f"{_KEYS.get(word, word)} {rest}".strip(), words, question.data.digest)
        if isinstance(answer, str):
            console.print(f"  {escape(answer)}")
        elif answer.answer not in WITH_WORDS or answer.notes:
            return answer
        elif notes := console.ask(_NOTES[answer.answer]).strip():
            return answer.replace(notes=notes)
        else:
            console.print("  Without words the next version will be no better.")


def _editable(question: Question) -> str:
    """Return the first document that a person may edit; empty without one."""
    names = (document.name for document in question.data.documents)
    return next((name for name in names if name.endswith(".md")), "")


def _look(word: str, question: Question, console: Console) -> None:
    """Show the documents in a pager, or what changed since the version shown before."""
    if word in {"v", "view"}:
        # As git does (core.pager in git-config(1)): else less shows the signs of colours as text.
        os.environ.setdefault("LESS", "FRX")
        with console.pager(styles=True):
            for document in question.data.documents:
                _document(document, console)
    elif word in {"d", "diff"}:
        difference = question.data.difference
        if difference:
            console.print(_coloured(difference, "diff"), soft_wrap=False)
        else:
            console.print("  No other version was shown before, so there is no difference.")
    else:
        console.print("  This question has no document that can be edited.")


def _parted(line: str) -> tuple[str, str]:
    """Return the first word of an answer in lower case, and the words after it: `reject too long`,
    `? why`, `?why`, `forge-bot reject too long`.
    """
    line = line.strip().removeprefix("forge-bot ").strip()
    if line.startswith("?"):
        return "?", line.removeprefix("?").strip()
    word, _, rest = line.partition(" ")
    return word.casefold(), rest.strip()


def _read(line: str, offered: Iterable[str], digest: str) -> PersonAnswer | str:
    """Return the answer that was typed, or why it is none. It is read as in a comment."""
    command = read_answer(line, takes_words="answer" in offered)
    word = line.strip().partition(" ")[0]
    if isinstance(command, Mistyped):
        hint = f"{command.hint[:1].upper()}{command.hint[1:]}"
        return hint if word in {"approve", "post"} else f"{hint} {_one_of(offered)}"
    if (
        isinstance(command, Approve | PostSummary)
        and command.digest is not None
        and not names_version(command.digest, digest)
    ):
        return _other_version(command.digest, digest)
    answer = person_answer(command)
    return answer if answer.answer.value in offered else _one_of(offered)


def _one_of(offered: Iterable[str]) -> str:
    return "Please answer with one of: {answers}.".format(answers=", ".join(offered))


def _other_version(rest: str, digest: str) -> str:
    if not digest:
        return (
            f"“{rest}” does not name what is shown: this question has no version. To say what "
            "should be different: reject and your notes."
        )
    return (
        f"“{rest}” does not name what is shown: version {digest[:SHOWN_DIGEST]} waits. To "
        "say what should be "
        "different: reject and your notes."
    )
