"""Commits that are made without a work tree: the history they are made from, their trees, and the
branches that lead to them.
"""

import re
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git import files_at
from forge_bot.git.commits import Trailers, in_a_line, message_text, read_trailers
from forge_bot.git.kept_process import asked
from forge_bot.git.lock_files import unlock_ref
from forge_bot.git.object_reader import ObjectReader
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import (
    HEADS,
    branch_ref,
    commit_id,
    is_ancestor,
    is_rewritten,
    own_folders,
    ref_target,
    tree_id,
)
from forge_bot.git.signed_commits import SigningKey
from forge_bot.git.snapshot import APPLY, quoted
from forge_bot.git.tree_listing import GONE, ListedEntry, differences, rows

_PLAIN, _LINK = "100644", "120000"
_FORM = "%x02%H%n%P%n%an%n%ae%n%ad%n%cn%n%ce%n%cd%n%B"
_MARK = "\x02"
_PERSON = re.compile(r"\s*(.*?)\s*<([^<>]*)> (\d+ [+-]\d+)")
_MOST_WALKED = 1_000
_MAKE_TREES = ("mktree", "-z", "--batch", "--missing")
_MOST_WRITTEN = 1 << 15
_RULES = ".gitattributes"

# No `.`, `..` or `.git`, in any spelling that a file system takes for it (git-config(1),
# core.protectNTFS).
_PLAIN_NAME = re.compile(
    r"(?!git~|\.git(?![a-z])|\.\.?$)[\w.+@-]*[\w+@-]", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as a commit leaves it: path, mode and object id."""

    path: str
    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Signature:
    """The author and time of a commit, as git's environment variables name them."""

    author: tuple[str, str, str]
    committer: tuple[str, str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make git use exactly these names and times."""
        parts = ("NAME", "EMAIL", "DATE")
        return {
            f"GIT_{role}_{part}": value
            for role, values in (("AUTHOR", self.author), ("COMMITTER", self.committer))
            for part, value in zip(parts, values, strict=True)
        }


_TRIED = "Edits to be tried"
_NOBODY = ("forge-bot", "forge-bot@users.noreply.github.com", "@0 +0000")
_OURS = Signature(_NOBODY, _NOBODY)


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit with the files in which it differs from its first parent."""

    id: str
    parents: tuple[str, ...]
    signature: Signature
    message: str
    files: tuple[FileVersion, ...] = field(repr=False)

    @property
    def trailers(self) -> Trailers:
        """The trailers of its message."""
        return read_trailers(self.message)

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.strip().partition("\n")[0]


def first_parents(root: Path, base: str, tip: str) -> tuple[CommitInfo, ...]:
    """Return the commits from `base`, which is left out, to `tip`, oldest first, along the first
    parents. Raises GitFailed.
    """
    first, last = commit_id(root, base), commit_id(root, tip)
    if (found := _read_along(root, first, last)) is not None:
        return found
    options = ("-z", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent", "--reverse")
    plain = ("--no-color", "--no-notes", "--encoding=UTF-8", "--date=raw", f"--format={_FORM}")
    limits = (last, f"^{first}")
    settings = ("-c", "log.showSignature=false", "-c", "diff.ignoreSubmodules=none")
    answer = git(root, *settings, "log", *options, *plain, *limits, "--", seconds=LONG)
    return tuple(_commits(answer.out.decode(errors="surrogateescape").split("\0")))


class _RawCommit(NamedTuple):
    tree: str
    parents: tuple[str, ...]
    signature: Signature
    message: str


def _read_along(root: Path, base: str, tip: str) -> tuple[CommitInfo, ...] | None:
    """Return the same without a process; None where `base` is no first parent on the way, or a
    commit is not plain.
    """
    try:
        common = own_folders(root)[1].resolve(strict=True)
    except OSError:
        return None
    if is_rewritten(common):
        return None
    reader, oid = ObjectReader(common), tip
    way: list[tuple[str, _RawCommit]] = []
    while oid != base:
        raw = _raw_commit(reader, oid) if len(way) < _MOST_WALKED else None
        if raw is None or not raw.parents:
            return None
        way.append((oid, raw))
        oid = raw.parents[0]
    start = _raw_commit(reader, base)
    if start is None:
        return None
    found: list[CommitInfo] = []
    before = start.tree
    for oid, raw in reversed(way):
        files = tuple(
            FileVersion(path, entry.mode, entry.oid)
            for path, entry in differences(root, before, raw.tree)
        )
        found.append(CommitInfo(oid, raw.parents, raw.signature, raw.message, files))
        before = raw.tree
    return tuple(found)


def _raw_commit(reader: ObjectReader, oid: str) -> _RawCommit | None:
    known = reader.one(oid)
    if known is None or known.kind != "commit":
        return None
    above, _, message = known.data.decode(errors="surrogateescape").partition("\n\n")
    lines = [line.partition(" ") for line in above.split("\n")]
    said = {word: value for word, _, value in reversed(lines)}
    people = [_PERSON.fullmatch(said.get(role, "")) for role in ("author", "committer")]
    who = [_who(match.groups()) for match in people if match is not None]
    if len(who) < len(people) or "encoding" in said or "\0" in message:
        return None
    parents = tuple(value for word, _, value in lines if word == "parent")
    return _RawCommit(said["tree"], parents, Signature(*who), message)


def _commits(fields: Sequence[str]) -> Iterator[CommitInfo]:
    """Read what `git log -z --raw` prints: each commit, then `:modes ids status` and a path for
    each file.
    """
    head, files = "", list[FileVersion]()
    tokens = iter(fields)
    for token in tokens:
        text = token.lstrip("\n")
        if text.startswith(":"):
            _, mode, _, oid, _ = text.split(" ")
            files.append(FileVersion(next(tokens), mode, oid))
        elif text.startswith(_MARK):
            if head:
                yield _commit(head, files)
            head, files = text, []
    if head:
        yield _commit(head, files)


def _commit(head: str, files: Iterable[FileVersion]) -> CommitInfo:
    oid, parents, *names, message = head.removeprefix(_MARK).split("\n", 8)
    return CommitInfo(
        id=oid,
        parents=tuple(parents.split()),
        signature=Signature(_who(names[:3]), _who(names[3:])),
        message=message,
        files=tuple(files),
    )


def _who(parts: Sequence[str | None]) -> tuple[str, str, str]:
    name, address, date = (part or "" for part in parts)
    return name or "forge-bot", address, f"@{date}"


def tree_with(root: Path, tree: str, files: Sequence[FileVersion]) -> str:
    """Return the id of a tree with some files in another version; those that are gone are left
    out. Nothing but objects is written.
    """
    if all(map(_is_plain, files)):
        changes = {each.path: each for each in files}
        return _changed_tree(root, tree, changes) or empty_tree(root)
    # What goes away makes room for what comes: a file may have become a folder.
    ordered = sorted(files, key=lambda each: each.mode != GONE)
    text = "".join(
        f"0 {'0' * len(tree)}\t{each.path}\0"
        if each.mode == GONE
        else f"{each.mode} {each.oid}\t{each.path}\0"
        for each in ordered
    )
    with _index(root, tree) as env:
        stdin = text.encode(errors="surrogateescape")
        options = ("-z", "--replace", "--add", "--index-info")
        git(root, "update-index", *options, stdin=stdin, env=env, seconds=LONG)
        return git(root, "write-tree", env=env, seconds=LONG).line


def _is_plain(file: FileVersion) -> bool:
    """Return whether git would take this path into an index, by its letters alone."""
    return all(_PLAIN_NAME.fullmatch(name) for name in file.path.split("/"))


def _changed_tree(root: Path, tree: str, changes: Mapping[str, FileVersion]) -> str:
    """Return the id of a tree with changes in it; empty for one that has nothing left."""
    inside, below = dict(rows(root, tree)) if tree else {}, dict[str, dict[str, FileVersion]]()
    for path, version in changes.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = version
        elif version.mode != GONE:
            inside[name] = ListedEntry(version.mode, version.oid)
        elif name in inside and inside[name].kind != "tree":
            del inside[name]
    for name, versions in below.items():
        old = inside.get(name)
        new = _changed_tree(root, old.oid if old and old.kind == "tree" else "", versions)
        if new:
            inside[name] = ListedEntry("040000", new)
        elif old is not None and old.kind == "tree":
            del inside[name]
    return _tree_of(root, inside) if inside else ""


def tree_without(root: Path, commit: str, under: str) -> str:
    """Return the id of the tree of a commit without one folder."""
    tree = tree_id(root, commit)
    names = files_at.list_files(root, commit, under)
    return tree_with(root, tree, [FileVersion(name, GONE, "") for name in names])


def tree_with_folders(root: Path, tree: str, under: str, folders: Mapping[str, str]) -> str:
    """Return the id of a tree in which one of its folders has these folders, by their names, and
    what else it had.
    """
    above = rows(root, tree)
    old = above.get(under)
    inside = rows(root, old.oid) if old is not None and old.kind == "tree" else {}
    inside = inside | {name: ListedEntry("040000", oid) for name, oid in folders.items()}
    return _tree_of(root, above | {under: ListedEntry("040000", _tree_of(root, inside))})


def empty_tree(root: Path) -> str:
    """Return the id of the tree without files."""
    return _tree_of(root, {})


def _tree_of(root: Path, inside: Mapping[str, ListedEntry]) -> str:
    text = "".join(
        f"{entry.mode} {entry.kind} {entry.oid}\t{name}\0" for name, entry in inside.items()
    ).encode(errors="surrogateescape")
    if len(text) <= _MOST_WRITTEN:
        common = own_folders(root)[1].resolve()
        # What it names is there, or is missing in a partial clone, which must not fetch it now.
        with suppress(OSError, EOFError), asked(common, *_MAKE_TREES) as process:
            process.ask(text + b"\0")
            return process.line().decode()
    return git(root, "mktree", "-z", "--missing", stdin=text, seconds=LONG).line


@contextmanager
def _index(root: Path, tree: str) -> Generator[Mapping[str, str]]:
    """An index of its own that holds a tree, as the environment of git."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(root, "read-tree", tree, env=env, seconds=LONG)
        yield env


def make_commit(
    root: Path,
    tree: str,
    parents: Sequence[str],
    message: str,
    trailers: Sequence[tuple[str, str]],
    signature: Signature,
    key: SigningKey | None = None,
) -> str:
    """Return the id of a commit that is made from these parts alone, so that every machine makes
    the same one; with a key, every machine that has it. No branch moves.
    """
    options = [word for parent in parents for word in ("-p", parent)]
    settings = ("-c", "i18n.commitEncoding=UTF-8")
    text = message_text(message, trailers).encode(errors="replace")
    words, env = ("commit-tree", tree, *options), signature.environment
    if key is None:
        return git(root, *settings, *words, stdin=text, env=env).line
    with key.for_git() as signing:
        env |= key.environment
        return git(root, *settings, *signing, *words, "-S", stdin=text, env=env).line


def commit_at(root: Path, commit: str) -> CommitInfo:
    """Return one commit that has a parent. Raises GitFailed."""
    return first_parents(root, f"{commit}^", commit)[-1]


def commit_on(
    root: Path,
    base: str,
    files: Sequence[tuple[str, bytes | None]],
    modes: Mapping[str, str] | None = None,
) -> str:
    """Return the id of a commit after `base` that has these files, None for those that go. It is on
    no branch.

    A file keeps its mode where `modes` does not name another one.
    """
    known = {
        path: about.split(" ")[0]
        for path, about in files_at.objects(root, base, [path for path, _ in files]).items()
    } | dict(modes or {})
    there = {path: data for path, data in files if data is not None}
    links = {path: data for path, data in there.items() if known.get(path) == _LINK}
    texts = {path: data for path, data in there.items() if path not in links}
    kept = _kept(root, base, texts) | {path: _link(root, data) for path, data in links.items()}
    versions = [
        FileVersion(path, GONE, "")
        if data is None
        else FileVersion(path, known.get(path, _PLAIN), kept[path])
        for path, data in files
    ]
    tree = tree_with(root, tree_id(root, base), versions)
    return make_commit(root, tree, (base,), _TRIED, (), _OURS)


def commit_of_patch(root: Path, base: str, patch: bytes, without: Sequence[str] = ()) -> str:
    """Return the id of a commit after `base` with a patch applied, but for the files that `without`
    names by wildcards. It is on no branch. Raises GitFailed when the patch does not fit.
    """
    left_out = [f"--exclude={pattern}" for pattern in without]
    with _index(root, tree_id(root, base)) as env:
        git(root, "apply", "--cached", *APPLY, *left_out, "-", stdin=patch, env=env)
        tree = git(root, "write-tree", env=env, seconds=LONG).line
    return make_commit(root, tree, (base,), _TRIED, (), _OURS)


def _kept(root: Path, base: str, files: Mapping[str, bytes]) -> dict[str, str]:
    """Put files into git as `git add` would, with the attributes that the commit says; their object
    ids.
    """
    if not files:
        return {}
    above = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    rules = files_at.read_many(root, base, [str(PurePosixPath(each, _RULES)) for each in above])
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        for path, data in {**rules, **files}.items():
            place = Path(name, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        common = str(own_folders(root)[1].resolve())
        env = {"GIT_DIR": common, "GIT_WORK_TREE": name}
        stdin = "".join(f"{quoted(path)}\n" for path in files).encode(errors="surrogateescape")
        words = ("hash-object", "-w", "--stdin-paths")
        oids = git(Path(name), *words, stdin=stdin, env=env, seconds=LONG).line.split("\n")
    return dict(zip(files, oids, strict=True))


def _link(root: Path, target: bytes) -> str:
    """Put a link into git; its object id. It holds its target as it is."""
    return git(root, "hash-object", "-w", "--stdin", "--no-filters", stdin=target).line


def point(root: Path, ref: str, commit: str) -> None:
    """Make a ref of our own name a commit."""
    if ref_target(root, ref) != commit:
        unlock_ref(root, ref)
        git(root, "update-ref", ref, commit)


def advance_branch(root: Path, branch: str, commit: str) -> bool:
    """Make a branch at a commit, or move it forward to it; False if it has commits that would be
    lost. Raises GitFailed when somebody moves it at the same time.
    """
    ref = branch_ref(root, branch)
    before = ref_target(root, ref)
    if before == commit:
        return True
    if before is not None and not is_ancestor(root, before, commit):
        return False
    unlock_ref(root, ref)
    git(root, "update-ref", ref, commit, before or "0" * len(commit))
    return True


def move_branch(root: Path, branch: str, commit: str, before: str) -> bool:
    """Move a branch from where it was seen, or make it if that is empty; False if it is somewhere
    else by now.
    """
    unlock_ref(root, f"{HEADS}{branch}")
    try:
        git(root, "update-ref", f"{HEADS}{branch}", commit, before or "0" * len(commit))
    except GitFailed:
        return False
    return True


@lru_cache(maxsize=8)
def last_subjects(root: Path, commit: str, most: int) -> tuple[str, ...]:
    """Return the first lines of the messages of the newest commits up to one, without merges.

    `commit` is a full id, so the answer never changes.
    """
    options = ("--no-merges", "--format=%s", f"--max-count={most}", "--encoding=UTF-8")
    listed = git(root, "log", *options, commit, "--", seconds=LONG).line
    return tuple(line for line in listed.split("\n") if line)


def commits_with_line(root: Path, line: str, tips: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the commits up to some whose messages have exactly this line, newest
    first. The line has no sign that a basic regular expression reads as another one.
    """
    options = ("--format=%H", "--topo-order", f"--grep=^{line}$")
    found = git(root, "log", *options, *tips, "--", seconds=LONG).line if tips else ""
    return tuple(found.split("\n")) if found else ()


def first_commit(root: Path, tip: str) -> str:
    """Return the id of the commit at the end of the first parents of another one."""
    options = ("--first-parent", "--max-parents=0")
    return git(root, "rev-list", *options, tip, "--", seconds=LONG).line


def count_commits(root: Path, base: str, tip: str) -> int:
    """Return how many commits lie between two."""
    return _count(root, commit_id(root, base), commit_id(root, tip))


@lru_cache(maxsize=32)
def _count(root: Path, base: str, tip: str) -> int:
    line = in_a_line(root, base, tip)
    return (
        len(line)
        if line is not None
        else int(git(root, "rev-list", "--count", f"{base}..{tip}").line)
    )
