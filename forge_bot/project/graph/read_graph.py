"""Reads the graph of a repository: its files by git's ids, as committed or as they lie in the work
tree, the facts of each by its id, then what imports mean.

A reader that is kept reads only files that have changed since. Nothing is kept on disk.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

from forge_bot.errors import BadConfig
from forge_bot.git import Repository, blob_id
from forge_bot.project.file_list import Listing
from forge_bot.project.graph.project_graph import (
    FileNode,
    GraphNode,
    NodeKind,
    ProjectGraph,
    entry_points,
    kind_of,
    with_tests,
)
from forge_bot.project.graph.stacks.all_stacks import STACKS, resolves, stack_for
from forge_bot.project.graph.syntax import FileFacts, Stack
from forge_bot.project.scoped_commands import scoped_commands
from forge_bot.settings.config import CONFIG, Config, parse_config
from forge_bot.values import CommandName

LINK = "120000"
SUBMODULE = "160000"
_MOST_READ = 4_000
"""Files that a run reads for a graph: about six seconds of work."""
_MANIFESTS = frozenset(
    {"pyproject.toml", "setup.cfg", "package.json", "tsconfig.json", "jsconfig.json", "go.mod"}
)
"""Names of files that decide how imports are resolved."""
_TOGETHER = 2_000


class FileEntry(NamedTuple):
    """A file: its mode, the id of its contents, and the contents if git does not have them yet."""

    mode: str
    blob: str
    data: bytes | None = None


class ProjectFiles:
    """The files of a repository at a commit, or as they lie in the work tree."""

    def __init__(self, repository: Repository, entries: Mapping[str, FileEntry]) -> None:
        self._repository = repository
        self.entries = dict(sorted(entries.items()))

    @staticmethod
    def committed(repository: Repository, ref: str) -> "ProjectFiles":
        """Return the files of a commit. Raises GitFailed for an unknown one."""
        listed = repository.objects(ref)
        return ProjectFiles(repository, {path: FileEntry(*row) for path, row in listed.items()})

    @staticmethod
    def here(repository: Repository) -> "ProjectFiles":
        """Return the tracked and new files of the work tree."""
        listed, changed = repository.blobs_here()
        entries = {path: FileEntry(*row) for path, row in listed.items()}
        for path in changed:
            entries.pop(path, None)
            if (entry := _on_disk(repository.root / path)) is not None:
                entries[path] = entry
        return ProjectFiles(repository, entries)

    def blob(self, path: str) -> str:
        """Return git's id of a file's contents; empty when there is none."""
        return self.entries[path].blob if path in self.entries else ""

    def listing(self) -> Listing:
        """Return the files as a list with a reader of text. The manifests are read at once."""
        manifests = [path for path in self.entries if path.rpartition("/")[2] in _MANIFESTS]
        texts = {path: _decode(data) for path, data in self.contents(manifests)}
        return Listing(
            tuple(self.entries), lambda path: texts[path] if path in texts else self.text(path)
        )

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield the contents of files; None for one that this clone does not have."""
        yield from ((path, data) for path in paths if (data := self.entries[path].data) is not None)
        stored = [path for path in paths if self.entries[path].data is None]
        for start in range(0, len(stored), _TOGETHER):
            part = stored[start : start + _TOGETHER]
            blobs = [self.entries[path].blob for path in part]
            objects = self._repository.read_objects(blobs, fetching=False)
            for path, known in zip(part, objects, strict=True):
                yield path, None if known is None else known.data

    def text(self, path: str) -> str:
        """Return the text of a file; empty when there is none."""
        return _decode(next(self.contents((path,)))[1]) if path in self.entries else ""


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _on_disk(path: Path) -> FileEntry | None:
    """Return the content of a file on disk; None for a link, a folder and a missing file."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return FileEntry("100644", blob_id(data), data)


class GraphReader:
    """Reads the graph of one repository, again and again."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._facts: dict[str, FileFacts] = {}
        self._known: tuple[ProjectFiles, ProjectGraph] | None = None

    def here(self) -> ProjectGraph:
        """Return the graph of the current work tree."""
        return self._graph(ProjectFiles.here(self._repository))

    def at(self, ref: str) -> ProjectGraph:
        """Return the graph of a commit. Raises GitFailed for an unknown one."""
        return self._graph(ProjectFiles.committed(self._repository, ref))

    def if_quick(self, ref: str, most: int) -> ProjectGraph | None:
        """Return the graph of a commit; None if more than `most` files would have to be read."""
        files = ProjectFiles.committed(self._repository, ref)
        unread = set(_keys(files).values()) - self._facts.keys()
        return self._graph(files) if len(unread) <= most else None

    def _graph(self, files: ProjectFiles) -> ProjectGraph:
        if self._known is None or self._known[0].entries != files.entries:
            listing, facts = files.listing(), self._facts_of(files)
            nodes = with_tests(_nodes(listing, facts))
            graph = ProjectGraph(nodes, _commands(listing), facts, files.text, files.blob)
            self._known = (files, graph)
        return self._known[1]

    def _facts_of(self, files: ProjectFiles) -> dict[str, FileFacts]:
        """Return the facts of files, those that are known and newly read ones."""
        keys = _keys(files)
        unread = {key: path for path, key in keys.items() if key not in self._facts}
        for path, data in files.contents(list(unread.values())):
            missing = FileFacts(problem="its contents are not in this clone")
            stack = cast("Stack", stack_for(path))
            self._facts[keys[path]] = missing if data is None else stack.read(path, data)
        return {path: self._facts[key] for path, key in keys.items()}


def _keys(files: ProjectFiles) -> dict[str, str]:
    """Return the keys of the facts of those files that a stack reads."""
    return {
        path: f"{entry.blob} {stack.name}.{path.rpartition('.')[2]}"
        for path, entry in files.entries.items()
        if entry.mode not in {LINK, SUBMODULE} and (stack := stack_for(path)) is not None
    }


def _nodes(listing: Listing, facts: Mapping[str, FileFacts]) -> dict[str, FileNode]:
    """Return the nodes of all files, with what their imports mean."""
    entries = frozenset(entry_points(listing))
    resolvers = {stack.name: stack.resolver(listing) for stack in STACKS if stack.resolver}
    nodes: dict[str, FileNode] = {}
    for path in listing.files:
        stack, known = stack_for(path), facts.get(path, FileFacts())
        kind = kind_of(path, entries)
        if kind is NodeKind.MODULE and known.is_program:
            kind = NodeKind.ENTRY
        resolve = resolvers.get(stack.name) if stack is not None else None
        imports, outside, missing = (dict[str, int]() for _ in range(3))
        for line in known.imports:
            for meant in resolve(path, line) if resolve is not None else ():
                for target in meant.paths:
                    imports.setdefault(target, line.line)
                outside.setdefault(meant.outside, line.line)
                missing.setdefault(meant.missing, line.line)
        for lines, nothing in ((imports, path), (outside, ""), (missing, "")):
            lines.pop(nothing, None)
        nodes[path] = FileNode(kind, imports, outside, tuple(missing.items()), (), known.problem)
    return nodes


def _commands(listing: Listing) -> tuple[GraphNode, ...]:
    """Return the project's commands, the configured ones too."""
    try:
        config = parse_config(listing.text(CONFIG) or None)
    except BadConfig:
        config = Config()
    overrides, projects = config.commands.overrides(), config.overrides_by_project()
    commands = scoped_commands(listing, overrides, projects, "")
    return tuple(
        GraphNode(
            id=f"command:{name}:{' '.join(command.argv)}",
            kind=NodeKind.COMMAND,
            tier=NodeKind.COMMAND.tier,
            text=command.reason,
        )
        for name in CommandName
        for command in commands.of(name)
    )


@lru_cache(maxsize=4)
def graph_at(repository: Repository, commit: str) -> ProjectGraph | None:
    """Return the graph of a commit; None if no file has imports that are resolved, or too many
    files would have to be read while a run waits.
    """
    if not any(map(resolves, repository.list_files(commit))):
        return None
    return GraphReader(repository).if_quick(commit, _MOST_READ)
