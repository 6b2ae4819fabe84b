"""A session at the terminal: whether a person is here, told by the terminal and by what coding
agents set for their commands; how they are asked, and how their answer is read.
"""

import os
import sys
from collections.abc import Iterable
from functools import partial

from rich.markup import escape
from rich.rule import Rule

from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending
from forge_bot.cli.progress import Progress
from forge_bot.engine.gates import SCRIPT, WITH_WORDS
from forge_bot.engine.reports import Answer
from forge_bot.errors import BadOption, NeedsTerminal
from forge_bot.forge import pull_request_opener
from forge_bot.gate.arguments import SHOWN_DIGEST, Amount, names_version, read_amount
from forge_bot.gate.grammar import Approve, Mistyped, PostSummary
from forge_bot.gate.parse_comment import read_answer
from forge_bot.git import Repository
from forge_bot.prompts.escape import reveal_invisible
from forge_bot.runs.models_and_prompts import TierModels
from forge_bot.runs.question import Choice, Question, ShownDocument
from forge_bot.runs.question_text import question_text
from forge_bot.runs.request_draft import poster
from forge_bot.runs.run_commands import PersonAnswer, PersonQuestion, person_answer
from forge_bot.runs.session import VIA, Asker, Session
from forge_bot.sentences import listed, say
from forge_bot.settings.config import Config
from forge_bot.text_format import code_block

_MOST_DIFFERENCE = 40
_KEYS = {name[0]: name for name in ("approve", "reject", "done", "skip", "post")}
_NOTES = {Answer.REJECT: "What should be different?", Answer.ANSWER: "What is your answer?"}
_BY_KEY = {
    **{name: f"{key}, {name}" for key, name in _KEYS.items()},
    "reject": "r, reject and your notes",
    "answer": "your words",
}
_LATER = ("l, later", "stop here; forge-bot resume asks again")
_ASK = "the model answers; nothing changes"


def ask_at_terminal(progress: Progress, *, asks: bool = True) -> Asker:
    """Ask whoever sits here: the documents rendered, then one key. They are not shown again after a
    question about them. `asks`: a model is there to answer one.
    """
    explained: list[Question] = []

    def ask(question: Question) -> PersonAnswer | PersonQuestion | None:
        progress.stop()
        if question not in explained:
            show_question(question, progress.console, asks=asks)
        answer = _read_reply(question, progress.console, asks=asks)
        explained[:] = [question] if isinstance(answer, PersonQuestion) else []
        return answer

    return ask


def print_for_later(question: Question, *, asks: bool = True) -> None:
    """Print the question with the commands that answer it."""
    console = Console()
    show_question(question, console, asks=asks)
    console.print("[bold]Nobody is at a terminal here, so the run waits[/] for one of the answers.")


def show_question(question: Question, console: Console, *, asks: bool = True) -> None:
    """Print the question on one screen, and short documents below it."""
    data, at_terminal = question.data, console.is_terminal
    console.print()
    console.print(Rule(f"[bold]{escape(question.title)}[/]", align="left", style="cyan"))
    answers = _keys(question, asks=asks) if at_terminal else _commands(question, asks=asks)
    how = "Type one of these" if at_terminal else "Answers, at a terminal"
    console.print_markdown(question_text(question, answers, how, approach=at_terminal))
    if data.difference and (
        not at_terminal or len(data.difference.splitlines()) <= _MOST_DIFFERENCE
    ):
        console.print(f"\n[bold]{say('question.what_changed')}[/]")
        _print_code(data.difference, "diff", console)
    for document in data.documents:
        # The question says what is in a design, so that is opened by `v`.
        is_long = bool(data.overview.outline.approach) or (
            document.text.count("\n") > 2 * console.height
        )
        if not (at_terminal and is_long):
            _print_document(document, console)


def _commands(question: Question, *, asks: bool) -> list[tuple[str, str]]:
    """Return each answer as a command, with its effect."""
    commands = {
        "approve": f"approve {question.data.digest[:SHOWN_DIGEST]}".strip(),
        "reject": f'reject "{say("words.what_should_be_different")}"',
        "answer": f'answer "{say("words.your_answer")}"',
        "post": "resume",
    }
    pairs = [(commands.get(choice.answer, choice.answer), choice) for choice in question.actions]
    shown = [(f"forge-bot {command}", _effect(question, choice)) for command, choice in pairs]
    shown[1:1] = _condition(question, shown[0][0] if shown else "")
    wonder = f'forge-bot ask "{say("terminal.what_you_want_to_know")}"'
    return [*shown, *([(wonder, _ASK)] if asks else [])]


def _condition(question: Question, approve: str) -> list[tuple[str, str]]:
    """Return how a yes is given a condition, where the first answer approves documents."""
    first = next(iter(question.actions), None)
    takes = first is not None and first.answer == "approve" and bool(question.data.overview.spent)
    more = f"{approve} with <{say('words.your_condition')}>"
    return [(more, say("question.with_condition"))] if takes else []


def _keys(question: Question, *, asks: bool) -> list[tuple[str, str]]:
    """Return each answer as it is typed, with its effect, and the other inputs."""
    documents = question.data.documents
    lines = sum(one.text.count("\n") + 1 for one in documents)
    viewed = ["what changed"] if question.data.difference else []
    viewed += [one.name for one in documents]
    shown = [(_BY_KEY.get(choice.answer, choice.answer), choice) for choice in question.actions]
    rows = [(key, _effect(question, choice)) for key, choice in shown]
    rows[1:1] = _condition(question, "a")
    return [
        *rows,
        *([("?, ask and your question", _ASK)] if asks else []),
        *([("v, view", f"{listed(viewed)}, {lines:,} lines")] if viewed else []),
        _LATER,
    ]


def _effect(question: Question, choice: Choice) -> str:
    """Return what an answer does; of a yes also where the run stops next."""
    until = question.data.overview.until if choice.answer == "approve" else ""
    return f"{choice.effect}, on to {until}" if until else choice.effect


def _print_document(document: ShownDocument, console: Console) -> None:
    console.print()
    console.print(Rule(escape(document.name), align="left", style="dim"))
    if not console.is_terminal:
        # A log or a pipe gets the text itself.
        console.print(reveal_invisible(document.text).rstrip(), markup=False)
    elif document.name.endswith(".md") and not document.hidden:
        console.print_markdown(document.text)
    else:
        language = "markdown" if document.hidden else "diff"
        _print_code(reveal_invisible(document.text), language, console)


def _print_code(text: str, language: str, console: Console) -> None:
    console.print_markdown(code_block(text, language))


def _read_reply(
    question: Question, console: Console, *, asks: bool
) -> PersonAnswer | PersonQuestion | None:
    """Read one key, and words where they are needed. `later` leaves the run waiting."""
    offered = tuple(choice.answer for choice in question.actions)
    words = (*offered, *(("ask",) if asks else ()), "later")
    while True:
        word, rest = _first_word(console.ask("[bold]Your answer[/]"))
        if word in {"l", "later", "q"} and not rest:
            return None
        if word in {"?", "ask"}:
            if text := rest or console.ask("What do you want to know?").strip():
                return PersonQuestion(question=text)
            continue
        if word in {"v", "view"} and not rest:
            _page_documents(question, console)
            continue
        answer = _read_answer(f"{_KEYS.get(word, word)} {rest}".strip(), words, question)
        if isinstance(answer, str):
            console.print(f"  {escape(answer)}")
        elif answer.answer not in WITH_WORDS or answer.notes:
            return answer
        elif notes := console.ask(_NOTES[answer.answer]).strip():
            return answer.replace(notes=notes)
        else:
            console.print("  Without words the next version will be no better.")


def _page_documents(question: Question, console: Console) -> None:
    """Show what changed since the version shown before, and the documents, in a pager."""
    # As git does (core.pager in git-config(1)): else less shows the signs of colours as text.
    os.environ.setdefault("LESS", "FRX")
    with console.pager(styles=True):
        if question.data.difference:
            _print_code(question.data.difference, "diff", console)
        for document in question.data.documents:
            _print_document(document, console)


def _first_word(line: str) -> tuple[str, str]:
    """Return the first word of an answer in lower case, and the words after it: `reject too long`,
    `? why`, `?why`, `forge-bot reject too long`.
    """
    line = line.strip().removeprefix("forge-bot ").strip()
    if line.startswith("?"):
        return "?", line.removeprefix("?").strip()
    word, _, rest = line.partition(" ")
    return word.casefold(), rest.strip()


def _read_answer(line: str, offered: Iterable[str], question: Question) -> PersonAnswer | str:
    """Return the answer that was typed, or why it is none. It is read as in a comment."""
    command = read_answer(line, takes_words="answer" in offered)
    one_of_them = f"Please answer with one of: {', '.join(offered)}."
    if isinstance(command, Mistyped):
        hint = f"{command.hint[:1].upper()}{command.hint[1:]}"
        is_known = line.partition(" ")[0] in {"approve", "post"}
        return hint if is_known else f"{hint} {one_of_them}"
    digest = question.data.digest
    if (
        isinstance(command, Approve | PostSummary)
        and command.digest is not None
        and not names_version(command.digest, digest)
    ):
        waits = f"version {digest[:SHOWN_DIGEST]} waits" if digest else "it has no version"
        return (
            f"“{command.digest}” does not name what is shown: {waits}. To say what should be "
            "different: reject and your notes."
        )
    answer = person_answer(command)
    return answer if answer.answer.value in offered else one_of_them


def way_of_answer(*, by_script: bool) -> str:
    """Return how an answer given by this command came, as the record names it: a terminal on stdin,
    or a script.
    """
    return VIA if person_types() and not by_script else SCRIPT


def check_person(what: str, *, by_script: bool) -> None:
    """Raise NeedsTerminal for an answer that comes neither from a terminal nor with --by-script."""
    if by_script or person_types():
        return
    where = "stdin is not a terminal."
    if sys.stdin.isatty():
        where = f"this terminal belongs to {find_coding_agent()}, which is an agent."
    raise NeedsTerminal(f"{what} is a person's to say, and {where}")


def make_session(
    repository: Repository,
    config: Config,
    models: TierModels,
    progress: Progress,
    *,
    ending: Ending,
    until: str | None = None,
) -> Session:
    """A session that asks at the terminal if there is one."""
    asks = models.missing_key() is None
    ask: Asker = (
        ask_at_terminal(progress, asks=asks)
        if at_terminal()
        else partial(print_for_later, asks=asks)
    )

    return Session(
        repository,
        config,
        models,
        progress,
        ask,
        show=partial(show_question, console=progress.console, asks=asks),
        push=ending.push or ending.open_pr,
        # Only where somebody can be asked whether it may be.
        post=poster(os.environ) if at_terminal() else None,
        open_pr=pull_request_opener(repository.root) if ending.open_pr else None,
        until=until,
    )


def read_amount_option(text: str, example: str) -> Amount:
    """Read an amount of money or tokens as every face does. Raises BadOption."""
    if (amount := read_amount(text)) is not None:
        return amount
    hint = (
        f"Write US dollars without a sign, above 0 and below 10,000: {example}. Or tokens, from"
        f" 1,000 on: {example.rpartition(' ')[0]} 200000tokens"
    )
    raise BadOption(f"{text!r} is no amount of money or tokens.", hint=hint)


_VARIABLES = {
    "AI_AGENT": "a coding agent",
    "ANTIGRAVITY_AGENT": "antigravity",
    "AUGMENT_AGENT": "auggie",
    "CLAUDECODE": "claude",
    "CODEX_CI": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "CURSOR_AGENT": "cursor-agent",
    "GEMINI_CLI": "gemini",
    "GOOSE_TERMINAL": "goose",
    "OPENCODE": "opencode",
    "QWEN_CODE": "qwen",
}
"""The agent by the variable that it sets, as their documentation says."""


def find_coding_agent() -> str:
    """Return the name of the coding agent that runs this command; empty if there is none."""
    return next((agent for name, agent in _VARIABLES.items() if os.environ.get(name)), "")


def at_terminal() -> bool:
    """Return whether a person can be asked here."""
    return person_types() and sys.stdout.isatty() and "CI" not in os.environ


def person_types() -> bool:
    """Return whether stdin is a terminal, and none that a coding agent made for its shell."""
    return sys.stdin.isatty() and not find_coding_agent()
