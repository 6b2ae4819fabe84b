"""`forge-bot demo`: a recorded run on a small sample repository. Git, engine and tests are real;
the model's words are recorded.
"""

import shutil
import tempfile
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending
from forge_bot.cli.progress import Progress
from forge_bot.cli.resume import print_result
from forge_bot.cli.terminal_session import ask_at_terminal, at_terminal, show_question
from forge_bot.engine.gates import UNASKED
from forge_bot.engine.reports import Answer
from forge_bot.errors import BadOption
from forge_bot.git import Repository, make_repository
from forge_bot.resources import templates
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.models_and_prompts import TierModels, keep_model
from forge_bot.runs.question import Question
from forge_bot.runs.request_draft import draft_from_words
from forge_bot.runs.run_commands import PersonAnswer, PersonQuestion
from forge_bot.runs.session import Asker, Session
from forge_bot.runs.this_process import Outcome, local_user
from forge_bot.settings.config import load_config
from forge_bot.settings.load_pipeline import load_pipeline

RECORD = "record.jsonl"
EFFORT = "M"


def demo(folder: Path | None, *, yes: bool) -> int:
    """Make the sample repository, replay the recorded run on it, and say where to look."""
    console = Console()
    source = templates() / "demo"
    target = folder or Path(tempfile.mkdtemp(prefix="forge-bot-demo-"))
    repository = _sample(source / "repository", _empty(target))
    _welcome(console, target)
    config = load_config(repository.root)
    progress = Progress(console)
    draft = draft_from_words((source / "task.md").read_text(encoding="utf-8"))
    plan = plan_for(repository, draft, effort=EFFORT, name=None, branch=None, here=False)
    info = create_run(
        repository,
        NewRun(draft=draft, plan=plan, by=local_user()),
        load_pipeline(config.pipeline, repository.root),
    )
    progress.print_beginning(info, plan)
    ask = (
        _yes(progress)
        if yes or not at_terminal()
        else _recorded(ask_at_terminal(progress, asks=False), console)
    )
    recorded = f"replay:{source / RECORD}"
    # Whoever goes on later has no key either.
    keep_model(repository, info.name, recorded)
    models = TierModels(config, recorded, None)
    try:
        outcome, run = Session(repository, config, models, progress, ask).go_on(info)
    except (KeyboardInterrupt, EOFError):
        _farewell(console, target, Outcome.WAITING)
        raise
    finally:
        progress.stop()
    code = print_result(outcome, run, progress, Ending())
    _farewell(console, target, outcome)
    return code


def _sample(source: Path, target: Path) -> Repository:
    shutil.copytree(
        source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    return make_repository(target, "A small rota, as it was found")


def _empty(folder: Path) -> Path:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(
            f"{folder} is not an empty folder.",
            hint="Name a folder that does not exist yet, or none.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _yes(progress: Progress) -> Asker:
    def ask(question: Question) -> PersonAnswer:
        progress.stop()
        show_question(question, progress.console, asks=False)
        progress.console.print("[bold green]approve[/] [dim](--yes)[/]\n")
        return PersonAnswer(answer=Answer.APPROVE, via=UNASKED)

    return ask


def _recorded(ask: Asker, console: Console) -> Asker:
    """A recorded model can neither answer questions nor work off notes: say so, and ask again."""

    def again(question: Question) -> PersonAnswer | PersonQuestion | None:
        while isinstance(reply := ask(question), PersonQuestion) or (
            reply is not None and reply.answer is Answer.REJECT
        ):
            console.print(
                "\n[bold]Live, your words would now go to a model.[/] The recorded one has no other"
                " answer: approve, or leave."
            )
        return reply

    return again


def _welcome(console: Console, target: Path) -> None:
    console.print("\n[bold]forge-bot demo[/]")
    console.print(
        "The [bold]model's words are recorded[/], from one honest run on this sample. "
        "Everything else happens now: the git repository, the pipeline, the checkpoints, the "
        "edits, the test runs."
    )
    console.print(f"[dim]sample repository: {escape(str(target))}[/]\n")


def _farewell(console: Console, target: Path, outcome: Outcome) -> None:
    if outcome is Outcome.DONE:
        console.print("\n[bold]To go live[/] on a repository of yours:")
        console.print(
            "  export ANTHROPIC_API_KEY=…      [dim]or OPENAI_API_KEY with --model openai:NAME[/]"
        )
        console.print('  cd your-repository && forge-bot run "what is to be done"')
    elif outcome is Outcome.WAITING:
        console.print(
            f"\nThe run waits. Go on with: [bold]cd {escape(str(target))} && forge-bot resume[/]"
        )
