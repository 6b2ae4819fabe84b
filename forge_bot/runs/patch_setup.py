"""Describes setup with a patch that waits for a person: the sentence that the question says."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch

from forge_bot.engine.state import Reason
from forge_bot.runs.run import Run
from forge_bot.sentences import say

_CHANGED = re.compile(r"\+\+\+ (?:b/|\"b/)(.+?)\"?\s*")


def setup_of_patch(run: Run) -> Iterator[str]:
    """Yield a risk for each setup command that may build the project with network after the patch
    of the open question was approved.
    """
    gate = run.state.gate
    if gate is None or gate.reason is not Reason.PROTECTED_PATHS:
        return
    from forge_bot.runs.installation import DEPENDENCY_FILES
    from forge_bot.runs.kept_profiles import profile_at
    from forge_bot.runs.setup_steps import deciding_files, not_divided

    added = _added(
        run.workspace.read(file.name) for file in gate.files if file.name.endswith(".patch")
    )
    names = [path.rpartition("/")[2] for path in added]
    if not any(fnmatch(name, known) for name in names for known in DEPENDENCY_FILES):
        return
    commit = run.state.base_commit
    setup = [
        each.argv
        for each in profile_at(
            run.repository, commit, run.config, run.state.flags.scope
        ).commands.setup
    ]
    texts = {
        path: (run.repository.read(commit, path) or b"").decode("utf-8", "replace")
        + "".join(added.get(path, ()))
        for path in deciding_files(setup)
    }
    for command in not_divided(setup, lambda path: texts.get(path, "")):
        yield say("question.setup_runs_again", command=command)


def _added(patches: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the lines that patches add, by the file: with those of the base commit they are all
    that setup may read there.
    """
    found = defaultdict[str, list[str]](list)
    for patch in patches:
        path = ""
        for line in patch.splitlines():
            if (named := _CHANGED.fullmatch(line)) is not None:
                path = named[1]
                found[path] += ["\n"]
            elif line.startswith("+"):
                found[path].append(line[1:] + "\n")
    return found
