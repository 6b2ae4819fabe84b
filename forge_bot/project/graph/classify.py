"""The kind of a file: by its path, and by what the project declares to be an entry point."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, normpath, splitext

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.project.file_list import Listing, join, language_of
from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.stacks.pipeline_stack import is_pipeline
from forge_bot.project.lenient_config import json_object, string, table, toml

_SCHEMA_ENDINGS = (".proto", ".graphql", ".gql", ".avsc", ".xsd", ".thrift", ".prisma", ".d.ts")
_SCHEMA_NAME = re.compile(r".*\.schema\.json|openapi\.(?:ya?ml|json)|swagger\.(?:ya?ml|json)")
_BY_WORD = {
    **dict.fromkeys(("schema", "schemas", "models", "types", "interfaces", "contracts"), "schema"),
    **dict.fromkeys(("registry", "registries", "catalogue", "catalog", "constants"), "registry"),
    **dict.fromkeys(("adapter", "adapters", "glove", "gloves", "connectors"), "adapter"),
    **dict.fromkeys(("gate", "gates", "approval", "approvals"), "gate"),
}
_DOCUMENTS = (".md", ".mdx", ".rst", ".adoc", ".txt")
_PROMPT = re.compile(r"(?:^|/)prompts/[^/]+\.(?:md|txt|j2|jinja2?)$|\.prompt\.md$|\.md\.j2$")
_CAPABILITIES = frozenset({"SKILL.md", "forge-mcp.json", ".mcp.json"})
_ENTRY_NAMES = frozenset({"__main__.py", "manage.py", "main.rs", "main.go"})


def kind_of(path: str, entries: frozenset[str]) -> NodeKind:
    """Return the kind of a file. `entries` are the declared entry points."""
    name = basename(path)
    if is_pipeline(path):
        return NodeKind.PIPELINE
    if name in _CAPABILITIES:
        return NodeKind.CAPABILITY
    if _PROMPT.search(path):
        return NodeKind.PROMPT
    if name.endswith(_SCHEMA_ENDINGS) or _SCHEMA_NAME.fullmatch(name):
        return NodeKind.SCHEMA
    if not language_of(path) or name.endswith((".css", ".scss", ".less", ".html")):
        ending = splitext(name)[1].lower()
        return NodeKind.DOCUMENT if ending in _DOCUMENTS else NodeKind.OTHER
    if belongs_to_tests(path):
        return NodeKind.TEST
    if path in entries or name in _ENTRY_NAMES:
        return NodeKind.ENTRY
    words = (name.partition(".")[0].lower(), *reversed(path.lower().split("/")[:-1]))
    kind = next((_BY_WORD[word] for word in words if word in _BY_WORD), "module")
    return NodeKind(kind)


def entry_points(listing: Listing) -> frozenset[str]:
    """Return the files that manifests declare to be started: scripts, `bin`, and Rust programs."""
    return frozenset(_entries(listing))


def _entries(listing: Listing) -> Iterator[str]:
    for path in listing.own():
        match basename(path):
            case "pyproject.toml":
                yield from _python(listing, dirname(path), listing.text(path))
            case "package.json":
                yield from _node(listing, dirname(path), listing.text(path))
            case name if name.endswith(".rs") and "/src/bin/" in f"/{path}":
                yield path
            case _:
                pass


def _python(listing: Listing, folder: str, text: str) -> Iterator[str]:
    project = table(toml(text).get("project"))
    named = [*table(project, "scripts").values(), *table(project, "gui-scripts").values()]
    named += table(toml(text), "tool", "poetry", "scripts").values()
    for script in named:
        module = string(script).partition(":")[0].strip().replace(".", "/")
        for root in (folder, join(folder, "src")):
            forms = (f"{module}/__init__.py", f"{module}.py")
            if module and (path := listing.first(root, forms)):
                yield path


def _node(listing: Listing, folder: str, text: str) -> Iterator[str]:
    declared = json_object(text).get("bin")
    for target in (string(declared), *map(string, table(declared).values())):
        path = normpath(join(folder, target)) if target else ""
        if listing.has(path):
            yield path
