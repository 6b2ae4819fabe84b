"""The criteria of a task that covers a whole document."""


def whole_criteria(described: str) -> tuple[str, str]:
    """Return the criteria of a task that covers a whole document; `described` names it, as in
    "design.md describes".
    """
    return (
        f"AC-1: Everything that {described} is implemented, and nothing beyond it.",
        "AC-2: New behaviour has a test, and the tests of the project pass.",
    )


def is_whole(criteria: tuple[str, ...], document: str) -> bool:
    """Return whether criteria only say that all of a document is to be implemented."""
    return criteria == whole_criteria(f"{document} describes")
