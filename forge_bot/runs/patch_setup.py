"""Describes setup with a patch that waits for a person: the sentence that the question says."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch

from forge_bot.engine.state import Reason
from forge_bot.runs.installation import DEPENDENCY_FILES
from forge_bot.runs.kept_profiles import profile_at
from forge_bot.runs.run import Run
from forge_bot.runs.setup_steps import not_divided

_CHANGED = re.compile(r"^\+\+\+ (?:b/|\"b/)(.+?)\"?\s*$", re.MULTILINE)


def setup_of_patch(run: Run) -> Iterator[str]:
    """Yield a risk for each setup command that may build the project with network after the patch
    of the open question was approved.
    """
    gate = run.state.gate
    if gate is None or gate.reason is not Reason.PROTECTED_PATHS:
        return
    patches = (run.workspace.read(file.name) for file in gate.files if file.name.endswith(".patch"))
    names = [path.rpartition("/")[2] for text in patches for path in _CHANGED.findall(text)]
    if not any(fnmatch(name, known) for name in names for known in DEPENDENCY_FILES):
        return
    commit = run.state.base_commit
    setup = profile_at(run.repository, commit, run.config).commands.setup
    words = [word for command in setup for word in command.argv]
    texts = {
        word: raw.decode("utf-8", "replace")
        for word in words
        if word.endswith(".txt") and (raw := run.repository.read(commit, word)) is not None
    }
    for command in not_divided([each.argv for each in setup], texts):
        yield (
            f"Setup runs again with these dependencies. `{command}` gets the network and may build"
            " the project itself, which is not done without network here."
        )
