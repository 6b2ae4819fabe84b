"""Real packages from a fresh clone to a baseline: what is installed, and what can be judged.

`python -m benchmarks.baselines FOLDER [PACKAGE …]`. FOLDER holds a git directory
for each package, as OWNER/NAME; `benchmarks/packages.json` names the commits. With `--set
NAME=VALUE` the project's commands get a variable, such as the index of a mirror. Packages come from
the registries of this machine; nothing of the projects lies in this repository.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git import Repository, Tree
from forge_bot.git.process import git
from forge_bot.runs.notifications import Message, Notice
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.settings.config import Config
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.judgement import unusable

PACKAGES = Path(__file__).with_name("packages.json")


class Baseline(NamedTuple):
    """How one package came out."""

    results: tuple[CommandResult, ...]
    told: tuple[str, ...]
    seconds: float

    @property
    def judged(self) -> str:
        """What the baseline can judge a change by, and what it cannot, in words."""
        found = unusable(self.results)
        said = [f"{each.name.value}: {each.cause.value}" for each in found]
        checks = [each for each in self.results if each.name is not CommandName.SETUP]
        good = [_said(each) for each in checks if not any(bad.covers(each) for bad in found)]
        return "; ".join([*good, *(f"**not judged**, {each}" for each in said)]) or "nothing ran"


def main() -> int:
    """Print a row for each package."""
    parser = argparse.ArgumentParser(description="Baselines of real packages.")
    parser.add_argument("folder", type=Path, help="git directories, as OWNER/NAME")
    parser.add_argument("packages", nargs="*", help="only these")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    variables = dict(each.split("=", 1) for each in given.set)
    print("| package | commit | installed by | seconds | what is judged |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for entry in wanted(given.packages):
        place: Path = given.folder / entry["repository"]
        if not place.is_dir():
            print(f"{entry['repository']}: not in {given.folder}", file=sys.stderr)
            continue
        found = baseline(place, entry["commit"], variables)
        row = (entry["repository"], entry["commit"][:10], entry["by"], f"{found.seconds:.0f}")
        print(f"| {' | '.join(row)} | {found.judged} |", flush=True)
        for text in found.told:
            print(f"  {text}", file=sys.stderr, flush=True)
    return 0


def wanted(names: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """Yield the packages with their commits."""
    for entry in json.loads(PACKAGES.read_text(encoding="utf-8")):
        if not names or entry["repository"] in names:
            yield entry


def baseline(place: Path, commit: str, variables: Mapping[str, str]) -> Baseline:
    """Clone a package at a commit, set it up, and run what judges it."""
    with tempfile.TemporaryDirectory(prefix="baseline-") as folder:
        home = Path(folder)
        clone = home / "clone"
        git(home, "clone", "-q", "--no-hardlinks", str(place.resolve()), str(clone))
        git(clone, "checkout", "-q", "-b", "work", commit)
        repository = Repository.find(clone)
        config = Config(environment=dict(variables))
        told: list[str] = []

        def tell(message: Notice) -> None:
            if isinstance(message, Message):
                told.append(message.text)

        project = Project(
            repository,
            Tree(clone),
            config,
            tell,
            Foundation(commit, tuple[bytes, ...]),
        )
        began = time.monotonic()
        ready = project.set_up()
        good = all(each.exit_code == 0 for each in ready)
        outputs = project.check(lambda _: False) if good else ()
        results = (*ready, *(output.result for output in outputs))
        told += [f"$ {' '.join(each.argv)} → {each.exit_code}" for each in results]
        told += [each.tail for each in results if each.exit_code]
        return Baseline(results, tuple(told), time.monotonic() - began)


def _said(result: CommandResult) -> str:
    if result.exit_code == 0:
        count = f"{result.tests:,} tests" if result.tests is not None else "green"
        return f"{result.name.value}: {count}"
    failing = f"{len(result.failures):,} of {result.tests or 0:,} fail"
    return f"{result.name.value}: {failing if result.failures else 'red'}, as before is no fault"


if __name__ == "__main__":
    sys.exit(main())
