"""Commits of real packages: what the guard of tests says about each.

`python -m benchmarks.test_guard FOLDER`. FOLDER holds a git directory for each package, as
OWNER/NAME; `benchmarks/guarded_commits.json` names the commits, and what a reader of those with an
alarm found: whether it is so. Nothing is downloaded, and nothing of the packages lies in this
repository.
"""

import argparse
import json
from pathlib import Path

from forge_bot.git import commit_history as diff
from forge_bot.git import files_at
from forge_bot.project.test_guard.weakened_tests import files_to_compare, weakened_tests

_COMMITS = Path(__file__).with_name("guarded_commits.json")


def main() -> None:
    """Print each alarm, and how many commits have one."""
    parser = argparse.ArgumentParser(description="Alarms of the guard of tests in real commits.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    packages: dict[str, dict[str, str]] = json.loads(_COMMITS.read_text())
    alarms = false = 0
    for package, commits in packages.items():
        root = folder / package
        for commit, judged in commits.items():
            base = f"{commit}^"
            paths = files_to_compare(diff.changed(root, base, commit))
            found = weakened_tests(
                files_at.read_many(root, base, paths), files_at.read_many(root, commit, paths)
            )
            alarms += bool(found)
            false += bool(found) and judged != "so"
            if found:
                print(f"{package} {commit[:12]}: {judged or 'not judged'}")
            for one in found:
                print(f"    {one.said}")
    total = sum(map(len, packages.values()))
    print(f"{total} commits, {alarms} with an alarm, {false} of them not so")


if __name__ == "__main__":
    main()
