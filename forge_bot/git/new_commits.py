"""Commits that are written by one process of git, which goes on between them: a run makes twenty,
and `git commit-tree` would be a process for each.
"""

import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import ForgeError
from forge_bot.git.object_reader import ObjectReader, asked
from forge_bot.git.revisions import is_full_id, own_folders

_WRITE = ("hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")

# Git strips certain characters from both ends of a name, reads many forms of a date, and prints a
# zone anew. What these take it leaves as it is.
_PLAIN_NAME = re.compile(r"[^\W_](?:[^<>\n\0]*[^\W_])?")
_PLAIN_DATE = re.compile(r"@?(\d{9,11}|(?<=@)0) (\+0000|[+-](?!0000)(?:0\d|1[0-4])[0-5]\d)")
_PERSON = re.compile(r"^(author|committer) (.*) <(.*)> \d+ [+-]\d+$", re.MULTILINE)

_COUNTS = 60.0
"""Seconds for which the names of the last commit count: a user may change their name."""


class Person(NamedTuple):
    """An author or a committer."""

    name: str
    email: str

    def at(self, date: str) -> str | None:
        """Return the words of a commit about them, for a date as git writes it; None where git
        might write others.
        """
        when = _PLAIN_DATE.fullmatch(date)
        plain = _PLAIN_NAME.fullmatch(self.name) and _PLAIN_NAME.fullmatch(self.email)
        return f"{self.name} <{self.email}> {when[1]} {when[2]}" if when and plain else None


def written(
    folder: Path,
    tree: str,
    parents: Sequence[str],
    people: tuple[str | None, str | None],
    message: bytes,
) -> str | None:
    """Return the id of a commit, the one that `git commit-tree` makes of the same parts; None where
    that has to make it. `people` are the words about author and committer.
    """
    author, committer = people
    plain = _is_text(message) and len(set(parents)) == len(parents)
    if author is None or committer is None or not plain:
        return None
    head = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    head += [f"author {author}", f"committer {committer}"]
    data = "\n".join(head).encode(errors="surrogateescape") + b"\n\n" + message
    with suppress(OSError, EOFError, ForgeError):
        common = own_folders(folder)[1].resolve(strict=True)
        with tempfile.NamedTemporaryFile(prefix="forge-bot-") as file:
            file.write(data)
            file.flush()
            # A name that begins with a quotation mark, or has a line end, would be read otherwise.
            if file.name.startswith("/") and "\n" not in file.name:
                with asked(common, *_WRITE) as process:
                    process.ask(file.name.encode(errors="surrogateescape") + b"\n")
                    made = process.line().decode()
                return made if is_full_id(made) else None
    return None


def _is_text(message: bytes) -> bool:
    try:
        return "\0" not in message.decode()
    except UnicodeDecodeError:
        return False


_people: dict[Path, tuple[float, tuple[Person, Person]]] = {}
_MOST_KNOWN = 256


def people_in(folder: Path, when: str) -> tuple[str | None, str | None]:
    """Return the words about author and committer for a commit in a work tree, at an ISO 8601 time:
    those of the commit that git has just made there.
    """
    since, people = _people.get(folder, (0.0, None))
    if people is None or time.monotonic() - since > _COUNTS:
        return None, None
    at = datetime.fromisoformat(when)
    date = f"{int(at.timestamp())} {at:%z}"
    return people[0].at(date), people[1].at(date)


def note_people(folder: Path, commit: str) -> None:
    """Remember the names that git has given to a commit."""
    if len(_people) >= _MOST_KNOWN:
        _people.clear()
    with suppress(OSError, ForgeError):
        found = ObjectReader(own_folders(folder)[1].resolve(strict=True)).one(commit)
        above = found.data.partition(b"\n\n")[0].decode(errors="surrogateescape") if found else ""
        who = {row[0]: Person(row[1], row[2]) for row in _PERSON.findall(above)}
        if len(who) == len({"author", "committer"}):
            _people[folder] = (time.monotonic(), (who["author"], who["committer"]))
