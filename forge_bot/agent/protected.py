"""Paths that only a person may let a model change: what runs, who decides, what is locked, and what instructs agents."""

import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

PROTECTED = (
    # what runs, and who decides
    ".github/",
    ".forge/",
    ".specs/",
    "CODEOWNERS",
    # git's own
    ".gitattributes",
    ".gitmodules",
    # what agents are told, and what they start
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "copilot-instructions.md",
    ".agents/",
    ".claude/",
    ".codex/",
    ".cursor/",
    ".cursorrules",
    ".gemini/",
    ".windsurf/",
    ".windsurfrules",
    ".mcp.json",
    "forge-mcp.json",
    # locked dependencies
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "conda-lock.yml",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "Cargo.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "Package.resolved",
    "packages.lock.json",
    "gradle.lockfile",
    "flake.lock",
)


def protected(paths: Iterable[str], patterns: Sequence[str] = PROTECTED) -> tuple[str, ...]:
    """Those of `paths` that a pattern covers, sorted. Case does not matter, since some file systems do not see it.

    A pattern of one name covers that file, or everything below that folder, at any depth; one with a slash inside is meant
    from the root. `*` and `?` stand for letters within one name.
    """
    split = [tuple(_name(part) for part in pattern.strip("/").split("/")) for pattern in patterns]
    return tuple(sorted(path for path in set(paths) if any(_covers(parts, _parts(path)) for parts in split)))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(_name(part) for part in path.split("/") if part not in {"", "."})


def _name(part: str) -> str:
    return unicodedata.normalize("NFC", part).casefold()


def _covers(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(pattern) == 1:
        return any(fnmatchcase(part, pattern[0]) for part in path)
    return len(path) >= len(pattern) and all(fnmatchcase(part, want) for part, want in zip(path, pattern, strict=False))
