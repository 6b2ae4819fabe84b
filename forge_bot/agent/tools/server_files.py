"""The files that a server of a run is started from: those of the run's base commit.

The agents of a run change its work tree. So whatever a server's configuration names below that tree
is taken from a folder with the base commit's files; the tree as a whole stays the one at work.
"""

from collections.abc import Sequence
from pathlib import Path

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined
from forge_bot.agent.tools.setup import CapabilitySetup


def folder_of(setup: CapabilitySetup) -> Path:
    """Return the folder that servers start in."""
    top, tree = setup.root.resolve(), setup.tree.resolve()
    if setup.base is not None and top.is_relative_to(tree):
        return setup.base / top.relative_to(tree)
    return top


def as_placed(setup: CapabilitySetup, text: str, *, searched: bool = False) -> str:
    """Return a text without placeholders, with what it names below the run's tree as it was at the
    base commit. In a variable that is `searched` for programs the tree itself is too.
    """
    if setup.base is None:
        return text
    for tree in dict.fromkeys((str(setup.tree), str(setup.tree.resolve()))):
        text = text.replace(f"{tree}/", f"{setup.base}/")
        text = text.replace(tree, str(setup.base)) if searched else text
    return text


def require_base_files(setup: CapabilitySetup, words: Sequence[str]) -> None:
    """Raise Declined where words of a command name files that the agents can change."""
    if setup.base is None:
        return
    for word in words:
        then, now = folder_of(setup) / as_placed(setup, word), setup.root / word
        if now.resolve() == setup.tree.resolve():
            continue
        if (now.exists() and not then.exists()) or _in_tree(setup, then):
            raise _changeable(word)


def require_outside(setup: CapabilitySetup, program: str | None) -> None:
    """Raise Declined where a program that was found by its name lies in the run's tree."""
    if program is not None and setup.base is not None and _in_tree(setup, Path(program)):
        raise _changeable(program)


def _in_tree(setup: CapabilitySetup, file: Path) -> bool:
    return any(
        place.is_relative_to(setup.tree.resolve()) for place in (file.absolute(), file.resolve())
    )


def _changeable(word: str) -> Declined:
    why = (
        f"{word} lies in the run's tree and is not in its base commit, so it is not started:"
        " commit it before the run, or install it outside of the repository."
    )
    return Declined(ResultStatus.DENIED, why)
