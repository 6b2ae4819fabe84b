"""The commands that are found unasked in 50 real packages, beside those that were found before.

`python -m benchmarks.tests_found FOLDER [--renew]`. FOLDER holds a git directory for each package,
as OWNER/NAME. `benchmarks/packages.json` names the commits, and for each package the commands of
setup and tests; a package where they differ is printed, and `--renew` stores the new ones. Which of
them run to a baseline, `benchmarks.baselines` measures.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.baselines import PACKAGES
from forge_bot.runs.project_commands.commit_profile import read_profile

_STORED = ("setup", "test")


def main() -> int:
    """Print each package whose commands are others than the stored ones; 1 if there is one."""
    parser = argparse.ArgumentParser(description="Commands that are found in real packages.")
    parser.add_argument("folder", type=Path, help="git directories, as OWNER/NAME")
    parser.add_argument("--renew", action="store_true", help="store what is found now")
    given = parser.parse_args()
    packages = json.loads(PACKAGES.read_text(encoding="utf-8"))
    different = 0
    for entry in packages:
        commands = found_commands(given.folder / entry["repository"], entry["commit"])
        for kind, lines in commands.items():
            if (before := entry.get(kind)) != lines:
                different += 1
                print(f"{entry['repository']}, {kind}:\n  before {before}\n  now    {lines}")
        entry.update(commands)
    if given.renew:
        PACKAGES.write_text(json.dumps(packages, indent=1) + "\n", encoding="utf-8")
    tested = sum(bool(entry["test"]) for entry in packages)
    print(f"Tests are found in {tested} of {len(packages)} packages; {different} kinds differ.")
    return 0 if given.renew or not different else 1


def found_commands(repository: Path, commit: str) -> dict[str, list[str]]:
    """Return the commands of setup and tests at a commit, each as one line."""
    files = _git(repository, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    profile = read_profile(files, lambda path: _git(repository, "show", f"{commit}:{path}"))
    return {
        kind: [" ".join(command.argv) for command in getattr(profile.commands, kind)]
        for kind in _STORED
    }


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, check=False
    )
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
