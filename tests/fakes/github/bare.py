"""The bare git repository behind a repository of the fake: the only truth about code."""

import atexit
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    "TZ": "UTC",
    "PATH": os.environ.get("PATH", ""),
}

_ID = re.compile("[0-9a-f]{40}")
_COMMIT = "%T%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B"


@dataclass(frozen=True)
class Entry:
    """A line of a tree."""

    mode: str
    type: str
    sha: str
    size: int
    path: str


@dataclass(frozen=True)
class Commit:
    """A commit as git tells it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    committer: tuple[str, str, str]
    message: str


@dataclass(frozen=True)
class Change:
    """One file of a comparison."""

    path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str


class BareRepository:
    """git, asked with argument lists."""

    def __init__(self, path: Path, branch: str = "main") -> None:
        self.path, self.default_branch = path, branch
        shutil.copytree(_empty(branch), path)

    def _run(
        self, *words: str, given: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", "-C", str(self.path), *words],
            input=given,
            capture_output=True,
            check=False,
            env={**_ENVIRONMENT, **(env or {})},
        )

    def git(
        self, *words: str, given: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> str:
        """What git says; an AssertionError with its complaint when it fails."""
        done = self._run(*words, given=given, env=env)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode(errors="replace")

    def commit(
        self,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str,
        who: str,
        at: int,
        *,
        start: str = "",
    ) -> str:
        """Add a commit with those files (None removes one) to a branch, which begins at `start` if
        it is new; the new id.
        """
        lines = [
            f"commit refs/heads/{branch}\n",
            f"committer {who} {at} +0000\n",
            f"data {len(message.encode())}\n{message}\n",
        ]
        parent = self.head(branch) or start
        out = "".join(lines).encode() + (f"from {parent}\n".encode() if parent else b"")
        for path, content in files.items():
            if content is None:
                out += f"D {path}\n".encode()
                continue
            data = content.encode() if isinstance(content, str) else content
            out += f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        self.git("fast-import", "--quiet", "--force", given=out)
        return self.head(branch)

    def head(self, branch: str) -> str:
        """The commit a branch stands at; empty when there is no such branch."""
        try:
            found = (self.path / "refs" / "heads" / branch).read_text("ascii").strip()
        except OSError:
            found = ""
        # A branch that has no file of its own may be packed, and one in a file may be another's name.
        return found if _ID.fullmatch(found) else self.resolve(f"refs/heads/{branch}")

    def resolve(self, name: str) -> str:
        """The commit behind a name or id; empty when there is none."""
        done = self._run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        return done.stdout.decode().strip() if done.returncode == 0 else ""

    def refs(self, prefix: str = "refs") -> dict[str, str]:
        """References under a prefix, with what they point to."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
        return {line.split()[0]: line.split()[1] for line in lines}

    def set_ref(self, ref: str, sha: str) -> None:
        """Point a reference somewhere; the empty id removes it."""
        self.git(*(("update-ref", ref, sha) if sha else ("update-ref", "-d", ref)))

    def contains(self, later: str, earlier: str) -> bool:
        """Whether one commit is the other or comes after it."""
        return self._run("merge-base", "--is-ancestor", earlier, later).returncode == 0

    def show(self, sha: str) -> Commit:
        """A commit's own words."""
        text = self.git("show", "-s", "--date=iso-strict-local", f"--format={_COMMIT}", sha)
        tree, parents, an, ae, at, cn, ce, ct, message = text.split("\0", 8)
        return Commit(
            sha,
            tree,
            tuple(parents.split()),
            (an, ae, _z(at)),
            (cn, ce, _z(ct)),
            message.rstrip("\n"),
        )

    def entry(self, sha: str, path: str) -> Entry | None:
        """What lies at a path in a commit."""
        found = self._tree(sha, "--", path)
        return found[0] if found else None

    def folder(self, sha: str, path: str) -> list[Entry]:
        """What lies in a folder of a commit; the empty path is the root."""
        return self._tree(f"{sha}:{path}" if path else sha)

    def _tree(self, *words: str) -> list[Entry]:
        entries: list[Entry] = []
        for line in self.git("ls-tree", "-z", "-l", *words).split("\0"):
            if line:
                meta, path = line.split("\t", 1)
                mode, kind, sha, size = meta.split()
                entries.append(Entry(mode, kind, sha, 0 if size == "-" else int(size), path))
        return entries

    def blob(self, sha: str) -> bytes:
        """The bytes of a file."""
        return self._run("cat-file", "blob", sha).stdout

    def texts(self, ref: str, pattern: str = "") -> dict[str, str]:
        """Names and texts of the files in a commit, or of those that the pattern names, with one
        process for all of them.
        """
        entries = [entry for entry in self._tree("-r", ref) if entry.type == "blob"]
        wanted = [
            entry for entry in entries if not pattern or PurePosixPath(entry.path).match(pattern)
        ]
        out = self._run(
            "cat-file", "--batch", given="".join(f"{entry.sha}\n" for entry in wanted).encode()
        ).stdout
        found: dict[str, str] = {}
        for entry in wanted:
            # `<oid> SP <type> SP <size> LF <contents> LF` for each (git-cat-file(1)).
            out = out.partition(b"\n")[2]
            found[entry.path] = out[: entry.size].decode(errors="replace")
            out = out[entry.size + 1 :]
        return found

    def read(self, ref: str, path: str) -> str | None:
        """A file's text at a branch or commit; None when it is not there."""
        sha = self.resolve(ref)
        entry = self.entry(sha, path) if sha else None
        return self.blob(entry.sha).decode() if entry and entry.type == "blob" else None

    def arriving(self, sha: str) -> list[str]:
        """The paths that commits change which no reference has yet."""
        log = self.git("log", "--format=", "--name-only", "-z", sha, "--not", "--all")
        return sorted({path for path in log.split("\0") if path})

    def merge(self, base: str, head: str, message: str, who: str, at: int) -> str:
        """A merge commit of two commits; empty when they contradict each other."""
        done = self._run("merge-tree", "--write-tree", base, head)
        if done.returncode:
            return ""
        name, _, rest = who.partition(" <")
        person = {"NAME": name, "EMAIL": rest.rstrip(">"), "DATE": f"{at} +0000"}
        env = {
            f"GIT_{part}_{key}": value
            for part in ("AUTHOR", "COMMITTER")
            for key, value in person.items()
        }
        return self.git(
            "commit-tree",
            done.stdout.decode().strip(),
            "-p",
            base,
            "-p",
            head,
            "-m",
            message,
            env=env,
        ).strip()

    def ahead(self, base: str, head: str) -> list[str]:
        """Commits of `head` that `base` has not, oldest first."""
        return self.git("rev-list", "--reverse", f"{base}..{head}").split()

    def changes(self, base: str, head: str) -> list[Change]:
        """What `head` changed since it left `base`, file by file, without a search for renames."""
        words = {"A": "added", "D": "removed", "M": "modified", "T": "changed"}
        found: list[Change] = []
        raw = self.git(
            "diff", "--raw", "--no-abbrev", "--no-renames", "-z", f"{base}...{head}"
        ).split("\0")
        parts = ("\n" + self.git("diff", "--no-renames", f"{base}...{head}")).split(
            "\ndiff --git "
        )[1:]
        if len(parts) != len(raw) // 2:
            # A file that became a link has two parts; all others have one, in the same order.
            parts = [
                self.git("diff", "--no-renames", f"{base}...{head}", "--", path)
                for path in raw[1::2]
            ]
        for meta, path, patch in zip(raw[::2], raw[1::2], parts, strict=False):
            _, _, old, new, letter = meta.split()
            lines = patch[patch.find("\n@@") + 1 :].splitlines() if "\n@@" in patch else []
            plus, minus = (sum(line.startswith(sign) for line in lines) for sign in "+-")
            found.append(
                Change(
                    path,
                    words[letter[0]],
                    old if letter[0] == "D" else new,
                    plus,
                    minus,
                    "\n".join(lines),
                )
            )
        return found


@cache
def _empty(branch: str) -> Path:
    """A repository without a commit, that all others of this process are copies of."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name, "empty.git")
    for words in (
        ("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", str(path)),
        ("-C", str(path), "config", "receive.autogc", "false"),
        # While a push is judged, git asks the repository for its own references in one more process.
        ("-C", str(path), "config", "core.alternateRefsCommand", ":"),
    ):
        subprocess.run(["git", *words], check=True, env=_ENVIRONMENT)
    return path


def _z(moment: str) -> str:
    """GitHub writes UTC as Z."""
    return moment.removesuffix("+00:00") + "Z" if moment.endswith("+00:00") else moment
