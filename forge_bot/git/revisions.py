"""Resolves names: branches become full refs, revisions become object ids, HEAD its branch and
commit.
"""

import os
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from forge_bot.errors import BadOption, DetachedHead, GitFailed, NoCommits
from forge_bot.git.process import git
from forge_bot.sentences import say

HEADS = "refs/heads/"
_SHARED_REFS = (HEADS, "refs/remotes/", "refs/forge-bot/")

_SURELY_REF = re.compile(r"refs(/\w[\w-]*)+", re.ASCII)
"""Names with nothing in them that git could refuse."""

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_KNOWN = 4_096
_START = 512
_ID = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_COMMIT = re.compile(
    rb"commit \d+\0tree (?P<tree>" + _ID + rb")\n(?:parent (?P<parent>" + _ID + rb")\n)?"
)

_known: dict[tuple[Path, str], tuple[str, str]] = {}
"""Commit and tree behind full ids, by folder; no commit behind the id of a tree."""


def branch_ref(folder: Path, name: str) -> str:
    """Return the full ref of a branch name. Raises BadOption for a name that git refuses
    (git-check-ref-format(1)).
    """
    if not is_branch_name(folder, name):
        raise BadOption(
            say("git.revisions.bad_branch_name", name=name),
            hint=say("git.revisions.allowed_in_branch_names"),
        )
    return HEADS + name


def is_branch_name(folder: Path, name: str) -> bool:
    """Return whether git takes this as the name of a branch. `HEAD` and a leading dash are refused,
    as `git branch` does.
    """
    return name != "HEAD" and not name.startswith("-") and is_ref(folder, HEADS + name)


@lru_cache(maxsize=256)
def is_ref(folder: Path, ref: str) -> bool:
    """Return whether the full ref (it begins with refs/) is well formed; nothing but its letters
    decides that.
    """
    if _SURELY_REF.fullmatch(ref):
        return True
    return "\0" not in ref and git(folder, "check-ref-format", ref, ok=(0, 1)).code == 0


def ref_target(folder: Path, ref: str) -> str | None:
    """Object id at a full ref, which has to be well formed; None when there is no such ref."""
    with suppress(OSError):
        common = own_folders(folder)[1]
        if found := _ref_in_files(common, ref):
            return found
        if _is_in_no_file(common, ref):
            return None
    answer = git(folder, "show-ref", "--verify", "--hash", "--", ref, ok=(0, 1, 128))
    return answer.line if answer.code == 0 else None


def symbolic_target(folder: Path, ref: str) -> str:
    """Return the target of a symbolic ref; empty if there is none, or the ref is not symbolic."""
    with suppress(OSError):
        common = own_folders(folder)[1]
        if not os.path.lexists(common / ref) and (common / HEADS).is_dir():
            return ""
    answer = git(folder, "symbolic-ref", "--quiet", ref, ok=(0, 1, 128))
    return answer.line if answer.code == 0 else ""


def commit_id(folder: Path, revision: str) -> str:
    """Id of the commit that a branch, tag, id or expression names. Raises GitFailed if none."""
    if plain := _plainly(folder, revision):
        return plain
    found = _behind(folder, revision)
    return (found is not None and found[0]) or _resolved(folder, revision, "commit")


def tree_id(folder: Path, revision: str) -> str:
    """Id of the folder tree behind a revision. Raises GitFailed when it names none."""
    revision = _plainly(folder, revision) or revision
    found = _behind(folder, revision)
    if found is None:
        found = ("", _resolved(folder, revision, "tree"))
        _remember(folder, revision, found)
    return found[1]


def is_ancestor(folder: Path, older: str, newer: str) -> bool:
    """Return whether a commit is another one or one of its ancestors, both by their full ids; False
    if one of them is missing.
    """
    if older == newer:
        return is_full_id(older) and (_behind(folder, older) or ("",))[0] == older
    return git(folder, "merge-base", "--is-ancestor", older, newer, ok=(0, 1, 128)).code == 0


def is_full_id(text: str) -> bool:
    """Return whether this is written like the whole id of an object."""
    return _FULL_ID.fullmatch(text) is not None


def _behind(folder: Path, revision: str) -> tuple[str, str] | None:
    """Commit and tree behind a full id; None for any other revision, and for an id that leads to no
    commit.

    What an id names never changes, so git is asked once, and for both: whoever asks for the one
    will ask for the other.
    """
    known = _known.get((folder, revision))
    if known is None and (tree := _tree_in_files(folder, revision)):
        known = (revision, tree)
        _remember(folder, revision, known)
    if known is None and is_full_id(revision):
        match git(
            folder, "rev-parse", f"{revision}^{{commit}}", f"{revision}^{{tree}}", ok=(0, 128)
        ).line.split("\n"):
            case [commit, tree] if is_full_id(commit) and is_full_id(tree):
                known = (commit, tree)
                _remember(folder, revision, known)
            case _:
                pass
    return known


def _remember(folder: Path, revision: str, found: tuple[str, str]) -> None:
    """Cache the objects of full ids; the targets of other names may change."""
    if is_full_id(revision):
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[folder, revision] = found


def _resolved(folder: Path, revision: str, kind: str) -> str:
    options = ("--verify", "--quiet", "--end-of-options")
    answer = git(folder, "rev-parse", *options, f"{revision}^{{{kind}}}", ok=(0, 1, 128))
    if answer.code != 0:
        raise GitFailed(
            say("git.revisions.no_such_revision", revision=revision, kind=kind, folder=folder),
            hint=(say("git.revisions.check_the_name")),
        )
    return answer.line


# The files by which git itself knows it (wt-status.c, wt_status_get_state), in the order in which
# they decide.
_SIGNS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
_TODO = "sequencer/todo"


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is under way, by the name of its git command."""

    name: str

    @property
    def way_out(self) -> str:
        """Return the commands that end the operation."""
        if self.name == "bisect":
            return say("git.revisions.end_the_bisect")
        return say("git.revisions.finish_or_abort", name=self.name)


def under_way(folder: Path) -> Operation | None:
    """Return the operation under way in this work tree; each work tree has its own."""
    own = own_folders(folder)[0]
    found = next((name for sign, name in _SIGNS if (own / sign).exists()), None)
    if found is None and (own / _TODO).is_file():
        # Between two commits of a series the sign of the single one is gone.
        found = "revert" if (own / _TODO).read_bytes().startswith(b"revert") else "cherry-pick"
    return Operation(found) if found else None


@dataclass(frozen=True, slots=True)
class Head:
    """A branch and the id of its newest commit."""

    branch: str
    commit: str


def head(folder: Path) -> Head:
    """The branch that is checked out in `folder`. Raises DetachedHead or NoCommits."""
    found = _in_files(folder)
    return found if found is not None else _asked(folder)


def _in_files(folder: Path) -> Head | None:
    """Return HEAD as git's own files give it plainly (gitrepository-layout(5): HEAD, refs,
    commondir, .git as a file).

    Nothing is asked as often, and a process for it costs a hundred times as much. None for whatever
    is not plain: no commit, no branch, a packed ref, another store of refs, a folder inside the
    tree.
    """
    try:
        own, common = own_folders(folder)
        kind, _, ref = os.fsdecode((own / "HEAD").read_bytes()).rstrip("\n").partition(" ")
        if kind != "ref:":
            return None
        commit = _ref_in_files(common, ref)
    except OSError:
        return None
    return Head(ref.removeprefix(HEADS), commit) if commit else None


def is_shallow(folder: Path) -> bool:
    """Return whether this clone lacks old commits (gitrepository-layout(5), shallow)."""
    file = own_folders(folder)[1] / "shallow"
    return file.is_file() and file.stat().st_size > 0


def _detached_in_files(folder: Path) -> str:
    """Return the commit that is checked out on no branch; empty where there is a branch."""
    try:
        commit = os.fsdecode((own_folders(folder)[0] / "HEAD").read_bytes()).rstrip("\n")
    except OSError:
        return ""
    return commit if is_full_id(commit) else ""


def named_folder(link: Path) -> Path:
    """Return git's folder that the file `.git` of a linked work tree or a submodule names."""
    return link.parent / os.fsdecode(link.read_bytes().removeprefix(b"gitdir:").strip())


def own_folders(folder: Path) -> tuple[Path, Path]:
    """Return git's folder of a work tree, and the one that all work trees share."""
    own = folder / ".git"
    if not own.is_dir():
        own = named_folder(own)
    shared = own / "commondir"
    common = own / os.fsdecode(shared.read_bytes().rstrip(b"\n")) if shared.is_file() else own
    return own, common


def _ref_in_files(common: Path, ref: str) -> str:
    """Return the commit of a ref that all work trees share, from its own file or the packed refs;
    empty if neither has it.
    """
    if not ref.startswith(_SHARED_REFS) or ".." in ref:
        return ""
    try:
        commit = os.fsdecode((common / ref).read_bytes()).rstrip("\n")
    except FileNotFoundError:
        # Git uses the same order: packed refs are older.
        commit = _packed(common, ref)
    return commit if is_full_id(commit) else ""


def _is_in_no_file(common: Path, ref: str) -> bool:
    """Return whether there is surely no such ref: refs are kept in files here, and none has it."""
    heads, file = common / HEADS, common / ref
    if not ref.startswith(_SHARED_REFS) or ".." in ref or not heads.is_dir():
        return False
    return not os.path.lexists(file) and not _packed(common, ref)


def _packed(common: Path, ref: str) -> str:
    """Return the entry of a ref in the packed refs; empty if there is none."""
    try:
        packed = (common / "packed-refs").read_bytes()
    except FileNotFoundError:
        return ""
    found = re.search(rb"^(\S+) %b$" % re.escape(os.fsencode(ref)), packed, re.MULTILINE)
    return found[1].decode(errors="replace") if found is not None else ""


def _plainly(folder: Path, revision: str) -> str:
    """Return the commit of `HEAD`, of a full branch ref or of a new commit's first parent (`ID^`)
    from git's own files; empty if they do not say it plainly.
    """
    if revision == "HEAD":
        found = _in_files(folder)
        return found.commit if found is not None else _detached_in_files(folder)
    if revision.endswith("^"):
        made = _commit_in_files(folder, revision[:-1])
        return made["parent"].decode() if made is not None and made["parent"] else ""
    try:
        # Whatever makes an expression of a name is no part of one (git-check-ref-format(1)).
        plain = revision.startswith(HEADS) and not set("^~:@\0") & set(revision)
        return _ref_in_files(own_folders(folder)[1], revision) if plain else ""
    except OSError:
        return ""


def _tree_in_files(folder: Path, revision: str) -> str:
    """Return the tree of a commit from the file of a loose object. Return an empty text if the
    object is stored otherwise, or if the history is cut.
    """
    found = _commit_in_files(folder, revision)
    return found["tree"].decode() if found is not None else ""


def is_rewritten(common: Path) -> bool:
    """Return whether git may read other parents than a commit itself names: where the history is
    cut. Replaced commits and grafts count for no git that we call.
    """
    return (common / "shallow").exists()


def _commit_in_files(folder: Path, revision: str) -> re.Match[bytes] | None:
    if not is_full_id(revision):
        return None
    try:
        common = own_folders(folder)[1]
        if is_rewritten(common):
            return None
        with (common / "objects" / revision[:2] / revision[2:]).open("rb") as file:
            start = zlib.decompressobj().decompress(file.read(_START), _START)
    except (OSError, zlib.error):
        return None
    return _COMMIT.match(start)


def _asked(folder: Path) -> Head:
    # The full ref, since the short form says `heads/x` when a tag is called x too. One call for
    # both where there is a commit.
    match git(folder, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD", ok=(0, 128)).line.split(
        "\n"
    ):
        case [commit, ref] if ref.startswith(HEADS):
            return Head(ref.removeprefix(HEADS), commit)
        case _:
            pass
    ref = git(folder, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).line
    if not ref.startswith(HEADS):
        raise _detached(folder)
    branch = ref.removeprefix(HEADS)
    raise NoCommits(say("git.revisions.branch_without_commits", branch=branch, folder=folder))


def _detached(folder: Path) -> DetachedHead:
    operation = under_way(folder)
    if operation is None:
        return DetachedHead(say("git.revisions.no_branch_is_checked_out", folder=folder))
    # A rebase or bisect stands between commits: changing the branch would not be the way out of it.
    return DetachedHead(
        say("git.revisions.no_branch_during_an_operation", folder=folder, name=operation.name),
        hint=operation.way_out,
    )
