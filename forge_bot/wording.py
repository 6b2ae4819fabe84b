"""Parts of sentences: a number with its noun, names in a row, and a text that is cut."""

from collections.abc import Sequence


def several(count: int, word: str) -> str:
    """A number and its noun: `1 file`, `3 files`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], conjunction: str = "and", most: int | None = None) -> str:
    """Names in a sentence; with `most`, the first of them and how many more there are."""
    shown = list(names[:most])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown):,} more")
    return f" {conjunction} ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def cut(text: str, most: int) -> str:
    """The text, or its first characters and an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}…"
