"""Stacks that a repository declares: `.forge/stacks/NAME.yaml`, with a query for tree-sitter.

Nothing of them is carried out. Their text is that of the default branch, whatever lies elsewhere.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from posixpath import dirname, normpath
from typing import TYPE_CHECKING

from pydantic import Field, TypeAdapter

from forge_bot.errors import BadStack
from forge_bot.project.file_list import Listing, join
from forge_bot.project.graph.file_facts import FileFacts, ImportLine
from forge_bot.project.graph.stacks.all_stacks import BUILT_IN, StackTable
from forge_bot.project.graph.stacks.stack import Resolution, Resolve, Stack
from forge_bot.project.graph.syntax import Grammar, check_query, read_source, words_of
from forge_bot.sentences import say
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from tree_sitter import Node

FOLDER = ".forge/stacks/"
"""The folder of the declared stacks."""

_FUNCTIONS = {
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
}
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_QUOTES = "\"'`<>"


class OwnImports(Frozen):
    """The way from an import to files."""

    separator: str = Field(default="/", min_length=1, description="between the parts of a name")
    roots: tuple[str, ...] = Field(default=("",), description="folders in which names begin")
    indexes: tuple[str, ...] = Field(
        default=(), description="files that a folder means when it is imported"
    )


class OwnStack(Frozen):
    """One declared stack."""

    name: str = Field(pattern=r"^[A-Za-z][\w+#-]{0,30}$", description="one word")
    endings: tuple[str, ...] = Field(min_length=1, description="of its files, as `.bzl`")
    grammar: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,40}$",
        description="python, javascript, typescript, tsx, go, rust, java, ruby, or one whose"
        " package tree-sitter-NAME is installed beside forge-bot",
    )
    query: str = Field(
        min_length=1,
        description="patterns of tree-sitter: a definition is captured by its kind with its @name,"
        " an import by @import with its @module",
    )
    imports: OwnImports | None = Field(
        default=None, description="without it, imports are not resolved"
    )


def declared_stacks(texts: Mapping[str, str]) -> tuple[StackTable, Mapping[str, str]]:
    """Return all stacks, including those that these texts declare, and the problems by path."""
    found: list[Stack] = []
    wrong: dict[str, str] = {}
    for path, text in sorted(texts.items()):
        try:
            found.append(_stack(text, path, (*BUILT_IN.stacks, *found)))
        except BadStack as error:
            wrong[path] = " ".join((f"{error.code}: {error.message}", *error.details))
    return (StackTable(found) if found else BUILT_IN), wrong


def read_stack(text: str, path: str) -> OwnStack:
    """Return the stack that a file declares. Raises BadStack with each problem and its line."""
    from forge_bot.settings.yaml_file import read_yaml

    return read_yaml(text, path, _adapter(), BadStack, tuple(OwnStack.model_fields))


def _stack(text: str, path: str, others: Sequence[Stack]) -> Stack:
    said = read_stack(text, path)
    for other in others:
        if taken := sorted({*said.endings} & {*other.endings}):
            raise BadStack(
                say(
                    "project.declared_stacks.ending_is_taken",
                    path=path,
                    taken=taken[0],
                    name=other.name,
                )
            )
        if said.name.lower() == other.slug:
            raise BadStack(say("project.declared_stacks.name_is_taken", path=path, name=other.name))
    grammar = _grammar(said, path)
    if problem := check_query(grammar):
        raise BadStack(f"{path}: query: {problem}.")
    return Stack(
        said.name,
        said.endings,
        partial(_read, grammar),
        partial(_resolver, said) if said.imports is not None else None,
        f"as {path} declares: definitions" + (" and imports" if said.imports is not None else ""),
        form=int(hashlib.sha256(text.encode()).hexdigest()[:12], 16),
    )


def _grammar(said: OwnStack, path: str) -> Grammar:
    package, function = _FUNCTIONS.get(
        said.grammar, (f"tree_sitter_{said.grammar}", Grammar._field_defaults["function"])
    )
    spec = find_spec(package)
    # Never a folder of the project that happens to be on Python's path.
    if spec is None or spec.origin is None or _INSTALLED.isdisjoint(Path(spec.origin).parts):
        wanted = package.replace("_", "-")
        raise BadStack(
            say(
                "project.declared_stacks.grammar_is_missing",
                path=path,
                grammar=said.grammar,
                wanted=wanted,
            )
        )
    return Grammar(package, said.query, function)


def _read(grammar: Grammar, path: str, data: bytes) -> FileFacts:
    del path
    return read_source(grammar, data, _imports)


def _imports(captures: "dict[str, list[Node]]") -> Sequence[ImportLine]:
    node = captures.get("module", captures["import"])[0]
    text = words_of(node).strip().strip(_QUOTES).strip()
    return [ImportLine(text, node.start_point[0] + 1)] if text else []


def _resolver(said: OwnStack, listing: Listing) -> Resolve:
    rules = said.imports or OwnImports()
    roots = tuple(root.strip("/") for root in rules.roots)

    def at(path: str) -> str | None:
        names = (path, *(f"{path}{ending}" for ending in said.endings))
        names += tuple(join(path, index) for index in rules.indexes)
        return next((name for name in names if listing.has(name)), None)

    def resolve(importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        name = line.module
        if name.startswith(("./", "../")):
            found = at(normpath(join(dirname(importer), name)))
            return (Resolution((found,)) if found else Resolution(missing=name),)
        parts = [part for part in name.split(rules.separator) if part]
        for root in roots:
            if found := at(join(root, "/".join(parts))):
                return (Resolution((found,)),)
        first = parts[0] if parts else name
        ours = any(listing.has_folder(join(root, first)) for root in roots)
        return (Resolution(missing=name) if ours else Resolution(outside=first),)

    return resolve


@cache
def _adapter() -> TypeAdapter[OwnStack]:
    return TypeAdapter(OwnStack)
