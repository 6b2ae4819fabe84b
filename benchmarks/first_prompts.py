"""Ten issues that were answered from prompts: does the first prompt show the lines that decide?

`python -m benchmarks.first_prompts FOLDER`. FOLDER holds a git directory for each package, as
OWNER/NAME. `benchmarks/held_out.json` has the requests, the commits they were answered at, and the
lines of the code that the accepted change or the plain loop's edited there.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forge_bot.git import Repository
from forge_bot.knowledge.code_index import Span
from forge_bot.prompts.material import InputFile
from forge_bot.runs.prompt_material.prompt_files import PromptFiles

ISSUES = Path(__file__).with_name("held_out.json")
_SPAN = re.compile(r"(\d+)(?:-(\d+))?(?=, \d| of )")


def main() -> int:
    """Print a line for each issue, and how many prompts show all of its deciding lines."""
    parser = argparse.ArgumentParser(description="Deciding lines in the first prompts.")
    parser.add_argument("folder", type=Path, help="git directories, as OWNER/NAME")
    given = parser.parse_args()
    sizes, whole = list[int](), 0
    for entry in json.loads(ISSUES.read_text(encoding="utf-8")):
        place: Path = given.folder / entry["repository"]
        title, _, text = entry["request"].partition("\n")
        request = f"{title}\n\n{text.lstrip()}"
        shown = first_inputs(Repository(place, place), entry["base"], request)
        hidden = [*_hidden(entry["deciding"], shown)]
        sizes.append(sum(len(part.text) for part in shown))
        whole += not hidden
        print(f"{entry['effort']} {entry['issue']:<28} {sizes[-1]:7,}  {', '.join(hidden)}")
    print(f"{whole} of {len(sizes)} show what decides; {statistics.median(sizes):,.0f} characters")
    return 0


def first_inputs(repository: Repository, base: str, request: str) -> list[InputFile]:
    """Return what the first prompt of a run shows of the repository behind the request."""
    files = PromptFiles(repository, base, request)
    return [*files.looked_up(), *files.house_rules()]


def _hidden(deciding: Mapping[str, Sequence[Span]], shown: Sequence[InputFile]) -> Iterator[str]:
    """Yield the deciding lines that are in no part of the prompt."""
    for path, spans in deciding.items():
        seen = [span for part in shown if part.name == path for span in _lines_of(part)]
        for first, last in spans:
            if not any(a <= first and last <= b for a, b in seen):
                yield f"{path}:{first}-{last}"


def _lines_of(part: InputFile) -> list[Span]:
    """Return the lines of a file that a part of a prompt has."""
    if not part.shown_as:
        return [(1, sys.maxsize)]
    return [(int(first), int(last or first)) for first, last in _SPAN.findall(part.shown_as)]


if __name__ == "__main__":
    sys.exit(main())
