"""Names: slugs, workspaces, branches. Pure."""

import hashlib
import unicodedata
from datetime import date

SPECS = ".specs"
LONGEST_SLUG = 48


def slug(title: str) -> str:
    """A short name for a title, safe in paths and branch names.

    Latin letters lose their accents, other scripts keep their letters (git and file systems take
    them); a title without a letter or digit gets a name from its hash, so that it is never empty.
    """
    letters = (_plain(character) for character in unicodedata.normalize("NFKC", title.casefold()))
    name = "-".join("".join(letters).split())
    if not name:
        return f"task-{hashlib.sha256(title.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return _shorten(name)


def _plain(character: str) -> str:
    """A Latin letter without accent; another letter or digit as it is; a gap for all else."""
    base = unicodedata.normalize("NFKD", character)[:1]
    if base.isascii() and base.isalnum():
        return base.lower()
    return (
        character if character.isalnum() or unicodedata.category(character) in {"Mn", "Mc"} else " "
    )


def _shorten(name: str) -> str:
    if len(name) <= LONGEST_SLUG:
        return name
    cut, _, rest = name[:LONGEST_SLUG].rpartition("-")
    # A name without a hyphen in reach, as Japanese titles make, is cut where it is too long.
    return cut if cut and len(rest) < LONGEST_SLUG // 2 else name[:LONGEST_SLUG].rstrip("-")


def workspace_name(day: date, source_id: str, name: str) -> str:
    parts = [day.strftime("%Y%m%d"), *([slug(source_id)] if source_id else []), name]
    return "-".join(parts)


def branch_name(source_id: str, name: str) -> str:
    """Return the name of a run's own branch: `feature/[<source id>-]<slug>`.

    It carries the run's record. The type of the change is that of its pull request.
    """
    return f"feature/{slug(source_id)}-{name}" if source_id else f"feature/{name}"
