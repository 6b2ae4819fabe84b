"""A pre-receive hook with GitHub's rules for pushes. Started by git with FAKE_GITHUB_RULES; nothing
is imported but the standard library, and of that what loads quickly: a run is many pushes.

The sentences are GitHub's. What it writes into `reasons` the server puts in the place of git's own
"pre-receive hook declined".
"""

import json
import os
import sys

WORKFLOWS = ".github/workflows/"


def _git(*words: str) -> list[str]:
    """What git says, line by line; without `subprocess`, which takes longer to load than git to
    answer.
    """
    out, given = os.pipe()
    pid = os.posix_spawnp(
        "git", ["git", *words], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, given, 1)]
    )
    os.close(given)
    with open(out, encoding="utf-8", errors="replace") as answer:  # noqa: PTH123 - a pipe has no path
        lines = answer.read().splitlines()
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(f"git {words[0]} failed")
    return lines


def _too_large(new: str, most: int) -> str:
    # What the filter leaves out is listed behind a tilde: files of at least this size
    # (git-rev-list(1)).
    only = (f"--filter=blob:limit={most + 1}", "--filter-print-omitted")
    for line in _git("rev-list", "--objects", *only, new, "--not", "--all"):
        if line.startswith("~"):
            name = next(
                each[41:]
                for each in _git("rev-list", "--objects", new, "--not", "--all")
                if each.startswith(line[1:41])
            )
            size = int(_git("cat-file", "-s", line[1:41])[0])
            return (
                f"File {name} is {size / 1e6:.2f} MB; this exceeds GitHub's file size limit of"
                f" {most / 1e6:.2f} MB"
            )
    return ""


def _unsigned(old: str, new: str, ref: str) -> tuple[str, list[str]]:
    # What other branches have counts too: the rule is one of this branch.
    known = ("HEAD", old) if old.strip("0") else ("HEAD",)
    commits = _git("rev-list", new, "--not", *known)
    bare = [
        each
        for each in commits
        if not any(line.startswith("gpgsig ") for line in _git("cat-file", "commit", each))
    ]
    if not bare:
        return "", []
    said = [
        f"error: GH013: Repository rule violations found for {ref}.",
        "",
        "- Commits must have verified signatures.",
        "  Found 1 violation:",
        "",
        f"  {bare[0]}",
    ]
    return "push declined due to repository rule violations", said


def _refusal(old: str, new: str, ref: str, rules: dict[str, object]) -> tuple[str, list[str]]:
    guarded: dict[str, str] = rules["guarded"]  # type: ignore[assignment]
    branch = ref.removeprefix("refs/heads/")
    if guarded.get(branch) == "ruleset":
        said = [
            f"error: GH013: Repository rule violations found for {ref}.",
            "",
            "- Changes must be made through a pull request.",
        ]
        return "push declined due to repository rule violations", said
    if guarded.get(branch) == "signatures":
        return _unsigned(old, new, ref)
    if branch in guarded:
        said = [
            f"error: GH006: Protected branch update failed for {ref}.",
            "error: Changes must be made through a pull request.",
        ]
        return "protected branch hook declined", said
    if not new.strip("0"):
        return "", []
    if rules["workflows"] is not True:
        changed = _git("log", "--format=", "--name-only", new, "--not", "--all")
        if path := next((path for path in changed if path.startswith(WORKFLOWS)), ""):
            return f"{rules['workflows']}".replace("PATH", path), []
    if large := _too_large(new, int(str(rules["most"]))):
        return "pre-receive hook declined", [
            "error: GH001: Large files detected.",
            f"error: {large}",
        ]
    return "", []


def main() -> int:
    """Judge each reference of the push; one refusal refuses all."""
    rules = json.loads(os.environ["FAKE_GITHUB_RULES"])
    reasons: dict[str, str] = {}
    for line in sys.stdin:
        old, new, ref = line.split()
        reason, said = _refusal(old, new, ref, rules)
        if reason:
            reasons[ref] = reason
        for words in said:
            print(words, file=sys.stderr)  # noqa: T201 - a hook speaks to the person who pushes
    with open(rules["reasons"], "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes as long to load as all the rest
        json.dump(reasons, file)
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
