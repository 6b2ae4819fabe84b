"""Find changes that only a person may approve.

They are changes to protected paths, and to the part of a manifest that installs, builds or runs.
"""

from collections.abc import Callable, Iterable, Sequence

from forge_bot.agent.manifest_changes import is_manifest, protected_part_changed
from forge_bot.sentences import say
from forge_bot.settings.protected_paths import reason_for

Versions = Callable[[str], tuple[bytes | None, bytes | None]]
"""Returns the bytes of a file before and after a change; None where there is no file."""


def protected_changes(
    paths: Iterable[str], versions: Versions, patterns: Sequence[str] = ()
) -> dict[str, str]:
    """Return the changed paths that wait for a person, sorted, each with the reason.

    `patterns` are a repository's own, beside the table in `settings/protected_paths.py`.
    """
    found: dict[str, str] = {}
    for path in sorted(set(paths)):
        if reason := reason_for(path, patterns):
            found[path] = reason
        elif is_manifest(path) and protected_part_changed(path, *versions(path)):
            found[path] = say("agent.protected_changes.manifest")
    return found
