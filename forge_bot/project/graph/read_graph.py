"""Reads the graph of a repository: facts by git's blob ids, then what imports mean.

A reader that is kept reads only files that have changed since. What a process before it has read
comes from the cache.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from posixpath import basename, dirname, join, normpath
from typing import cast

from pydantic_core import from_json, to_json

from forge_bot import __version__
from forge_bot.errors import BadConfig
from forge_bot.git import Repository
from forge_bot.project.file_list import Listing
from forge_bot.project.graph.classify import entry_points, kind_of
from forge_bot.project.graph.config_problems import config_problem
from forge_bot.project.graph.file_facts import FileFacts, ImportLine
from forge_bot.project.graph.graph_cache import GraphCache
from forge_bot.project.graph.kept_graph import PROBLEM, TESTS, commands_from, kept_form, node_from
from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.project_files import (
    LINK,
    MANIFESTS,
    SUBMODULE,
    FileEntry,
    ProjectFiles,
    collecting_paused,
    committed_texts,
)
from forge_bot.project.graph.project_graph import FileNode, GraphCommand, ProjectGraph
from forge_bot.project.graph.stacks.all_stacks import BUILT_IN, StackTable
from forge_bot.project.graph.stacks.declared_stacks import FOLDER as OWN_STACKS
from forge_bot.project.graph.stacks.declared_stacks import declared_stacks
from forge_bot.project.graph.stacks.shell_paths import command_files
from forge_bot.project.graph.stacks.stack import Resolution, Resolve, Stack
from forge_bot.project.graph.tested_files import with_tests
from forge_bot.project.scoped_commands import scoped_commands
from forge_bot.sentences import say
from forge_bot.settings import Config
from forge_bot.settings.config import CONFIG, parse_config
from forge_bot.text_format import several
from forge_bot.values import CommandName

_FORM = 7
"""The number of the form of a kept graph. It grows when graphs are made differently."""
_PARTS = 2_000
_QUICK = 400
_FEW = 50
"""Files that a process reads anew without keeping the whole graph again."""


class GraphReader:
    """Reads the graph of one repository, again and again. It writes nothing but its cache."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._cache = GraphCache(repository.kept / "graph.sqlite")
        self._facts: dict[str, FileFacts] = {}
        self._nodes: dict[str, tuple[str, FileNode]] = {}
        self._notes: tuple[str, ...] = ()
        self._structure = ""
        self._stacks, self._unusable = BUILT_IN, dict[str, str]()
        self._unfit: Mapping[str, str] = {}
        self._declared: Mapping[str, str] = {}
        self._unheeded: Mapping[str, str] = {}
        self._make: Callable[[str, FileFacts], FileNode] | None = None
        self._known: tuple[ProjectFiles, ProjectGraph] | None = None
        self._found: tuple[tuple[str, ...], dict[str, str], tuple[GraphCommand, ...]]
        self._found = ((), {}, ())

    def here(self) -> ProjectGraph:
        """Return the graph of the current work tree."""
        return self._graph(ProjectFiles.here(self._repository))

    def if_quick(self, ref: str = "", most: int = _QUICK) -> ProjectGraph | None:
        """Return the graph of a commit, or of the work tree; None if more than `most` files would
        have to be read for it that no process has read before.
        """
        files = (
            ProjectFiles.committed(self._repository, ref)
            if ref
            else ProjectFiles.here(self._repository)
        )
        self._look_at_stacks(files)
        keys = [
            self._key(path, files.blob(path))
            for path in files.entries
            if self._is_read(files, path)
        ]
        new = [key for key in keys if key not in self._facts]
        if len(new) > most and len(new) - self._cache.count(new) > most:
            return None
        return self._graph(files)

    def at(self, ref: str) -> ProjectGraph:
        """Return the graph of a commit. Raises GitFailed for an unknown one."""
        return self._graph(ProjectFiles.committed(self._repository, ref))

    def _graph(self, files: ProjectFiles) -> ProjectGraph:
        changed = self._look_at_stacks(files)
        if not changed and self._known is not None and self._known[0].entries == files.entries:
            return self._known[1]
        with collecting_paused():
            graph = self._read(files) if self._structure else self._read_first(files)
        self._known = (files, graph)
        return graph

    def _read_first(self, files: ProjectFiles) -> ProjectGraph:
        """Return a graph for which this process has read nothing yet: as it is kept, or with as
        much as can be taken from a kept one.
        """
        forms = "".join(f" {stack.name}.{stack.form}" for stack in self._stacks.own)
        alike = f"{__version__}.{_FORM}{forms} {_digest(files.structure)} "
        key = alike + files.fingerprint
        kept = self._cache.graph(key)
        if kept is not None and (graph := self._restored(files, kept)) is not None:
            return graph
        new = self._read_most(files, alike)
        graph = self._read(files)
        if new:
            # Later ones differ by a few files, which the next process reads quickly.
            self._cache.keep_graph(key, kept_form(files, graph, self._found[1]))
        return graph

    def _look_at_stacks(self, files: ProjectFiles) -> bool:
        """Take the stacks that the project declares, as they are on its default branch; return
        whether they are others than before. A file that says something else has a problem.
        """
        names = [path for path in files.entries if path.startswith(OWN_STACKS)]
        if not names and not self._declared:
            return False
        texts = committed_texts(self._repository, names)
        changed = texts != self._declared
        if changed:
            self._declared = texts
            self._stacks, self._unusable = declared_stacks(texts)
            self._structure, self._known = "", None
        others = [path for path in names if files.text(path) != texts.get(path)]
        said = say("project.declared_stacks.does_not_count_here")
        self._unfit = {**self._unusable, **dict.fromkeys(others, said)}
        return changed

    def _key(self, path: str, blob: str) -> str:
        stack = cast("Stack", self._stacks.stack_for(path))
        ending = path.rpartition(".")[2]
        return f"{blob} {stack.name}.{ending}.{stack.form}"

    def _is_read(self, files: ProjectFiles, path: str) -> bool:
        mode = files.entries[path].mode
        return mode not in {LINK, SUBMODULE} and self._stacks.stack_for(path) is not None

    def _read_one(self, path: str, data: bytes | None) -> FileFacts:
        if data is None:
            return FileFacts(problem="its contents are not in this clone")
        return cast("Stack", self._stacks.stack_for(path)).read(path, data)

    def _read_most(self, files: ProjectFiles, alike: str) -> bool:
        """Begin with the nodes of a kept graph of files with the same names; return whether more
        than a few have to be read still.
        """
        self._prepare(files)
        kept = self._cache.graph_like(alike)
        if kept is None:
            return True
        paths = list(files.entries)
        try:
            found = cast("dict[str, list[list[object]]]", from_json(kept))
            rows = zip(paths, cast("list[str]", found["blobs"]), found["files"], strict=True)
            for path, blob, row in rows:
                # Problems may disappear by changes elsewhere, such as contents that are fetched
                # into a clone.
                if blob == files.entries[path].blob and not row[PROBLEM]:
                    row[TESTS] = None
                    self._nodes[path] = blob, node_from(row, paths)
            self._found = (tuple(paths), *commands_from(found))
        except (ValueError, KeyError, TypeError, IndexError):
            self._nodes = {}
        return len(paths) - len(self._nodes) > _FEW

    def _prepare(self, files: ProjectFiles) -> None:
        """Make ready for files with these names and manifests, unless that was done."""
        if files.structure == self._structure and self._make is not None:
            return
        listing = files.listing()
        self._structure, self._nodes = files.structure, {}
        read = (path for path in files.entries if self._is_read(files, path))
        self._notes = tuple(_promises(read, self._stacks))
        self._make = _maker(listing, self._stacks)
        self._unheeded = {
            path: problem
            for path in files.entries
            if basename(path) in MANIFESTS and (problem := config_problem(listing, path))
        }

    def _read(self, files: ProjectFiles) -> ProjectGraph:
        self._prepare(files)
        make = cast("Callable[[str, FileFacts], FileNode]", self._make)
        known, entries = self._nodes, files.entries
        same = {path for path, (blob, _) in known.items() if entries[path].blob == blob}
        new = [path for path in entries if path not in same]
        facts = self._facts_of(files, [path for path in new if self._is_read(files, path)])
        for path in new:
            made = make(path, facts.get(path, FileFacts()))
            if problem := self._unfit.get(path) or self._unheeded.get(path):
                made = made._replace(problem=problem)
            known[path] = entries[path].blob, _with_mode(made, path, entries[path], files)
        nodes = {path: known[path][1] for path in entries}
        return ProjectGraph(
            with_tests(nodes, lambda paths: self._facts_of(files, paths)),
            self._commands(files),
            self._notes,
            self._lazily(files),
            files.text,
            files.blob,
            stacks=self._stacks,
        )

    def _commands(self, files: ProjectFiles) -> tuple[GraphCommand, ...]:
        """Return the project's commands, the configured ones too. They are found anew when the
        names of the files change, or the contents of a file that was read for them.
        """
        names = tuple(files.entries)
        before, blobs, known = self._found
        if before == names and all(files.blob(path) == blob for path, blob in blobs.items()):
            return known
        seen: dict[str, str] = {}

        def read(path: str) -> str:
            seen[path] = files.blob(path)
            return files.text(path)

        listing = Listing(names, read)
        try:
            config = parse_config(read(CONFIG) or None)
        except BadConfig:
            config = Config()
        overrides, projects = config.commands.overrides(), config.overrides_by_project()
        commands = scoped_commands(listing, overrides, projects, "").commands
        found = tuple(
            GraphCommand(
                name,
                " ".join(command.argv),
                command.reason,
                *command_files(listing, command.argv),
            )
            for name in CommandName
            for command in commands.of(name)
        )
        self._found = (names, seen, found)
        return found

    def _lazily(self, files: ProjectFiles) -> Callable[[Iterable[str]], Mapping[str, FileFacts]]:
        def facts(paths: Iterable[str]) -> Mapping[str, FileFacts]:
            return self._facts_of(files, [path for path in paths if self._is_read(files, path)])

        return facts

    def _facts_of(self, files: ProjectFiles, paths: list[str]) -> dict[str, FileFacts]:
        """Return the facts of files: known ones, those in the cache, and newly read ones."""
        keys = {path: self._key(path, files.entries[path].blob) for path in paths}
        unknown = [key for key in dict.fromkeys(keys.values()) if key not in self._facts]
        for key, data in self._cache.facts(unknown).items():
            self._facts[key] = FileFacts.restored(from_json(data))
        left = {key: path for path, key in keys.items() if key not in self._facts}
        todo = list(left.values())
        for start in range(0, len(todo), _PARTS):
            fresh: dict[str, bytes] = {}
            for path, data in files.contents(todo[start : start + _PARTS]):
                facts = self._read_one(path, data)
                self._facts[keys[path]] = facts
                if data is not None:
                    fresh[keys[path]] = to_json(facts)
            self._cache.keep_facts(fresh)
        return {path: self._facts[key] for path, key in keys.items()}

    def _restored(self, files: ProjectFiles, kept: bytes) -> ProjectGraph | None:
        """Return a graph from the cache; None if it does not fit these files."""
        try:
            found = cast("dict[str, list[list[object]]]", from_json(kept))
            paths = list(files.entries)
            return ProjectGraph(
                {
                    path: node_from(row, paths)
                    for path, row in zip(paths, found["files"], strict=True)
                },
                commands_from(found)[1],
                tuple(map(str, found["notes"])),
                self._lazily(files),
                files.text,
                files.blob,
                stacks=self._stacks,
            )
        except (ValueError, KeyError, TypeError, IndexError):
            return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def _resolve_nothing(_path: str, _line: ImportLine) -> tuple[Resolution, ...]:
    return ()


def _maker(listing: Listing, stacks: StackTable) -> Callable[[str, FileFacts], FileNode]:
    """Return the function that makes a node of a file's facts."""
    entries = entry_points(listing)

    @cache
    def resolver(stack: Stack | None) -> Resolve:
        if stack is None or stack.resolver is None:
            return _resolve_nothing
        return stack.resolver(listing)

    def make(path: str, facts: FileFacts) -> FileNode:
        stack = stacks.stack_for(path)
        kind = kind_of(path, entries, code=stack in stacks.own)
        if kind is NodeKind.MODULE and "main" in facts.marks:
            kind = NodeKind.ENTRY
        resolve = resolver(stack)
        imports: dict[str, int] = {}
        outside: dict[str, int] = {}
        missing: dict[str, int] = {}
        for line in facts.imports:
            for found in resolve(path, line):
                for target in found.paths:
                    if target != path:
                        imports.setdefault(target, line.line)
                if found.outside:
                    outside.setdefault(found.outside, line.line)
                if found.missing:
                    missing.setdefault(found.missing, line.line)
        writes = {
            target: line.line
            for line in reversed(facts.writes)
            for found in resolve(path, line)
            for target in found.paths
        }
        return FileNode(
            kind,
            imports,
            outside,
            tuple(missing.items()),
            (),
            facts.problem,
            "generated" in facts.marks,
            writes,
        )

    return make


def _with_mode(node: FileNode, path: str, entry: FileEntry, files: ProjectFiles) -> FileNode:
    """Return a node with what its mode adds: a link uses its target, a submodule is not read."""
    if entry.mode == SUBMODULE:
        return node._replace(problem="a submodule; its files are not read")
    if entry.mode != LINK:
        return node
    data = next(files.contents((path,)))[1] or b""
    target, seen = path, {path}
    while True:
        named = data.decode("utf-8", "replace")
        target = normpath(join(dirname(target), named))
        if target in seen:
            return node._replace(problem="a link that leads back to itself")
        seen.add(target)
        found = files.entries.get(target)
        if found is None:
            inside = any(each.startswith(f"{target}/") for each in files.entries)
            return node if inside else node._replace(problem=f"a link to {named}, not a file here")
        if found.mode != LINK:
            return node._replace(imports={target: 1})
        data = next(files.contents((target,)))[1] or b""


def _promises(paths: Iterable[str], stacks: StackTable) -> Iterable[str]:
    """Yield one sentence for each stack of the project: the number of its files, and the facts that
    are read.
    """
    counts = Counter(cast("Stack", stacks.stack_for(path)).name for path in paths)
    for stack in stacks.stacks:
        if count := counts[stack.name]:
            yield f"{stack.name} ({several(count, 'file')}): {stack.promise}"
