"""`forge-bot clean`: what runs have left on this machine, and its removal."""

from pathlib import Path

from rich.filesize import decimal
from rich.markup import escape
from rich.prompt import Confirm

from forge_bot.cli.console import Console
from forge_bot.cli.session_setup import at_terminal
from forge_bot.git import Repository
from forge_bot.runs.run_files import Leftover, leftovers, remove_leftover


def clean(folder: Path, *, remove: bool) -> int:
    """List what runs left, and remove that of ended runs after a yes, with the branches that only
    have their records. The records stay.
    """
    repository = Repository.find(folder)
    console = Console()
    left_behind = leftovers(repository)
    if not left_behind:
        console.print("Runs have left nothing on this machine.")
        return 0
    for left in left_behind:
        stays = f"  [dim]stays: {escape(left.kept_because)}[/]" if left.kept_because else ""
        console.print(f"{decimal(left.size):>9}  {escape(left.run)}{stays}")
    removable = [left for left in left_behind if not left.kept_because]
    if not removable:
        console.print("Nothing of it can be removed now.")
        return 0
    total = decimal(sum(left.size for left in removable))
    if not _agreed(f"Remove {total} that {len(removable)} of these runs left?", agreed=remove):
        console.print("Nothing was removed; forge-bot clean --remove removes it.")
        return 0
    _remove(repository, removable, console)
    return 0


def _agreed(question: str, *, agreed: bool) -> bool:
    return agreed or (at_terminal() and Confirm.ask(question, default=False, console=Console()))


def _remove(repository: Repository, removable: list[Leftover], console: Console) -> None:
    for left in removable:
        if remove_leftover(repository, left):
            console.print(f"removed {decimal(left.size)} of {escape(left.run)}")
        else:
            console.print(f"{escape(left.run)} is at work; it stays")
