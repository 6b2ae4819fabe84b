"""Commits of real packages: are the files that had to change in the implementer's prompt?

`python -m benchmarks.prompt_recall FOLDER`. FOLDER holds a git directory for each package, as
OWNER/NAME; `benchmarks/commits.json` names the commits. The request is the message of a commit, or
what the entry says as an issue would. The design is made of its diff, as a good architect would
name things; the prompt is made at the commit before. Nothing is downloaded, and nothing of the
packages lies in this repository.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git import Repository, files_at
from forge_bot.git.process import git
from forge_bot.prompts.material import InputFile
from forge_bot.runs.prompt_material.prompt_files import PromptFiles

COMMITS = Path(__file__).with_name("commits.json")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@ ?(.*)$")
_SYMBOL = re.compile(r"(?:class|def)\s+(\w+)")
_IN_BRACES = re.compile(
    r"(?:\b(?:function\*?|class|interface|type|enum)\s+([\w$]+)"
    r"|\b(?:const|let)\s+([\w$]+)(?=.*(?:=>|function|\w\(|\{)\s*.*$)"
    r"|^\s*(?:(?:async|static|get|set|public|private)\s+)*([\w$]+)\([^;]*\)[^;]*\{\s*$)"
)
_COMPILED = re.compile(
    r"(?:^func\s+(?:\([^)]*\)\s*)?(\w+)|^(?:type|var|const)\s+(\w+)"
    r"|\b(?:fn|struct|enum|trait|mod)\s+(\w+)|^impl\b.*?(\w+)(?:<[^{]*>)?\s*\{$)"
)
_WITH_BRACES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".go", ".rs")
_TEST = re.compile(r"\s*(?:it|test|describe|beforeEach)\b.*\(")
_NO_NAMES = frozenset({"if", "for", "while", "switch", "catch", "it", "test", "describe"})


class Change(NamedTuple):
    """One file of a commit: what its diff names, and its old lines that the diff replaces."""

    path: str
    symbols: tuple[str, ...]
    replaced: tuple[str, ...]


class Score(NamedTuple):
    """How one commit came out with one kind of design."""

    missing: tuple[str, ...]
    files: int
    lines: int
    lines_shown: int
    characters: int


def main() -> int:
    """Print a table by kind of design, and the misses."""
    parser = argparse.ArgumentParser(description="Recall of files in prompts over real commits.")
    parser.add_argument("folder", type=Path, help="git directories, as OWNER/NAME")
    parser.add_argument("--language", help="only the commits of one language")
    given = parser.parse_args()
    wanted = [
        entry
        for entry in json.loads(COMMITS.read_text(encoding="utf-8"))
        if given.language in {None, entry["language"]}
    ]
    scores: dict[tuple[str, str], list[Score]] = {}
    for entry in wanted:
        place: Path = given.folder / entry["repository"]
        if not place.is_dir():
            print(f"{entry['repository']}: not in {given.folder}", file=sys.stderr)
            return 2
        for kind, score in measured(
            Repository(place, place),
            entry["commit"],
            request=entry.get("request", ""),
        ):
            scores.setdefault((entry["language"], kind), []).append(score)
            if score.missing:
                print(f"miss, {kind}: {entry['repository']} {entry['commit'][:10]}:", end=" ")
                print(", ".join(score.missing), flush=True)
    titles = ("the design names", "commits", "all files", "changed lines", "characters, median")
    print(f"\n{'':<10}  {titles[0]:<24} {'  '.join(titles[1:])}")
    for (language, kind), rows in scores.items():
        whole = sum(not row.missing for row in rows) / len(rows)
        lines, seen = sum(row.lines for row in rows), sum(row.lines_shown for row in rows)
        size = sorted(row.characters for row in rows)[len(rows) // 2]
        shown = f"{len(rows):7}  {whole:9.0%}  {seen / max(lines, 1):13.0%}  {size:18,}"
        print(f"{language:<10}  {kind:<24} {shown}")
    return 0


def measured(
    repository: Repository, commit: str, *, request: str = ""
) -> Iterator[tuple[str, Score]]:
    """Yield the score of a commit for each kind of design."""
    base = repository.commit_id(f"{commit}^")
    said = git(repository.root, "log", "-1", "--format=%B", commit).out
    message = request or said.decode("utf-8", "replace")
    changes = _changes(repository, base, commit)
    known = [change for change in changes if change.path in repository.list_files(base)]
    named = "".join(f"- `{each.path}`: {_ticked(each.symbols)}\n" for each in changes)
    symbols = "".join(f"- {_ticked(each.symbols)}\n" for each in changes if each.symbols)
    first = PromptFiles(repository, base, message).looked_up()
    yield "(before the first call)", _score(known, [each for each in first if each.kind == "file"])
    for kind, design in (
        ("files and symbols", f"## Changes\n\n{named}"),
        ("symbols only", f"## Changes\n\n{symbols}"),
        ("nothing", "## Changes\n\nAs the request says.\n"),
    ):
        files = PromptFiles(repository, base, message)
        shown = [*files.looked_up(), *files.for_task(base, (), [design])]
        yield kind, _score(known, [each for each in shown if each.kind == "file"])


def _score(changes: Sequence[Change], shown: Sequence[InputFile]) -> Score:
    texts: dict[str, str] = {}
    for each in shown:
        texts[each.name] = f"{texts.get(each.name, '')}\n{each.text}"
    missing = tuple(change.path for change in changes if change.path not in texts)
    replaced = [(change.path, line) for change in changes for line in change.replaced]
    seen = [line for path, line in replaced if line in texts.get(path, "").split("\n")]
    size = sum(len(text) for text in texts.values())
    return Score(missing, len(changes), len(replaced), len(seen), size)


def _ticked(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "text"


def _changes(repository: Repository, base: str, commit: str) -> list[Change]:
    said = git(
        repository.root, "diff-tree", "-r", "-p", "-U0", "--no-renames", base, commit, "--"
    ).out.decode("utf-8", "replace")
    found: list[Change] = []
    for part in said.split("diff --git ")[1:]:
        lines = part.split("\n")
        path = lines[0].partition(" b/")[2]
        hunks = [match for line in lines if (match := _HUNK.match(line))]
        body = "\n".join(line for line in lines if line[:1] in "+-@")
        names = [*_SYMBOL.findall("\n".join(hunk[3] for hunk in hunks)), *_SYMBOL.findall(body)]
        if path.endswith(_WITH_BRACES):
            before = (files_at.read(repository.root, base, path) or b"").decode("utf-8", "replace")
            pattern = _COMPILED if path.endswith((".go", ".rs")) else _IN_BRACES
            names = _around(before.split("\n"), [int(hunk[1]) for hunk in hunks], pattern)
        old = [
            line[1:] for line in lines if line[:1] == "-" and line[:3] != "---" and line[1:].strip()
        ]
        found.append(Change(path, tuple(dict.fromkeys(names))[:8], tuple(old)))
    return [each for each in found if not _is_log(each.path)]


def _around(lines: Sequence[str], places: Sequence[int], pattern: re.Pattern[str]) -> list[str]:
    """Return the names of the innermost definitions around some lines, by indentation."""
    found: list[str] = []
    for place in places:
        depth = _indent(lines[place - 1]) if 0 < place <= len(lines) else 0
        for line in reversed(lines[: max(place, 0)]):
            match = pattern.search(line) if line.strip() and _indent(line) <= depth else None
            name = match and next(filter(None, match.groups()))
            if name and name not in _NO_NAMES and (_indent(line) < depth or not _indent(line)):
                found.append(name)
                break
            if line.strip():
                depth = min(depth, _indent(line))
            if _TEST.match(line) and _indent(line) == depth:
                break
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_log(path: str) -> bool:
    """Return whether a file only tells of changes: what goes there no diagnosis can find."""
    return bool(
        re.search(r"(?:^|/)(?:CHANGES|CHANGELOG|HISTORY|NEWS|changelog\.d|versions\.rst)", path)
    )


if __name__ == "__main__":
    sys.exit(main())
