"""A pre-receive hook with GitHub's rules for pushes. Started by git with FAKE_GITHUB_RULES; nothing is imported but the standard library.

The sentences are GitHub's. What it writes into `reasons` the server puts in the place of git's own "pre-receive hook declined".
"""

import json
import os
import subprocess
import sys
from pathlib import Path

WORKFLOWS = ".github/workflows/"


def _git(*words: str, given: str = "") -> list[str]:
    return subprocess.run(["git", *words], input=given, capture_output=True, text=True, check=True).stdout.splitlines()


def _too_large(new: str, most: int) -> str:
    objects = _git("rev-list", "--objects", new, "--not", "--all")
    names = {line[:40]: line[41:] for line in objects}
    for line in _git("cat-file", "--batch-check", given="\n".join(names)):
        sha, kind, size = line.split()
        if kind == "blob" and int(size) > most:
            return f"File {names[sha]} is {int(size) / 1e6:.2f} MB; this exceeds GitHub's file size limit of {most / 1e6:.2f} MB"
    return ""


def _refusal(old: str, new: str, ref: str, rules: dict[str, object]) -> tuple[str, list[str]]:
    guarded: dict[str, str] = rules["guarded"]  # type: ignore[assignment]
    branch = ref.removeprefix("refs/heads/")
    if guarded.get(branch) == "ruleset":
        said = [f"error: GH013: Repository rule violations found for {ref}.", "", "- Changes must be made through a pull request."]
        return "push declined due to repository rule violations", said
    if branch in guarded:
        said = [f"error: GH006: Protected branch update failed for {ref}.", "error: Changes must be made through a pull request."]
        return "protected branch hook declined", said
    if not new.strip("0"):
        return "", []
    if rules["workflows"] is not True:
        changed = _git("log", "--format=", "--name-only", new, "--not", "--all")
        if path := next((path for path in changed if path.startswith(WORKFLOWS)), ""):
            return f"{rules['workflows']}".replace("PATH", path), []
    if large := _too_large(new, int(str(rules["most"]))):
        return "pre-receive hook declined", ["error: GH001: Large files detected.", f"error: {large}"]
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
    Path(rules["reasons"]).write_text(json.dumps(reasons), encoding="utf-8")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
