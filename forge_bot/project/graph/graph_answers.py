"""The answers of the graph: documents (the manifest with its nodes, findings, stacks, the taxonomy,
a map of the most imported files within a budget of tokens, a new file where this project would put
it), and questions for nodes, their neighbours and the reach of a change.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from posixpath import basename, dirname, splitext

from pydantic import Field, JsonValue, ValidationError

from forge_bot.errors import BadOption, UnknownNode
from forge_bot.project.file_list import join
from forge_bot.project.graph.project_graph import (
    EDGES,
    SEPARATOR,
    Criticality,
    GraphNode,
    NodeKind,
    NodeTier,
    ProjectGraph,
)
from forge_bot.project.graph.stacks.all_stacks import STACKS, named_stack, stack_for
from forge_bot.project.graph.syntax import FileFacts, Stack, SymbolFact
from forge_bot.project.graph.verify_graph import GraphFinding, Manifest, matching, scan, verify
from forge_bot.text_format import several
from forge_bot.values import Frozen

_NODES_LISTED = 1_000
_FINDINGS_LISTED = 200


def manifest_document(graph: ProjectGraph, manifest: Manifest) -> dict[str, JsonValue]:
    """Return the nodes of code with tier and imports."""
    nodes = [path for path, node in graph.files.items() if node.kind is not NodeKind.OTHER]
    return {
        "version": manifest.version,
        "files": len(graph.files),
        "left_out": max(len(nodes) - _NODES_LISTED, 0),
        "nodes": [_node(graph, path) for path in nodes[:_NODES_LISTED]],
    }


def annotations_document(graph: ProjectGraph) -> dict[str, JsonValue]:
    """Return the present findings of the graph, each bound to its node's text, and the kept
    annotations.

    An annotation is stale if that text has changed since.
    """
    findings = [*verify(graph), *scan(graph)]
    return {
        "total": len(findings),
        "annotations": [
            {**finding.model_dump(mode="json"), "text": graph.blob(finding.path)}
            for finding in findings[:_FINDINGS_LISTED]
        ],
        "kept": list[JsonValue](_kept_annotations(graph)[:_FINDINGS_LISTED]),
    }


def _node(graph: ProjectGraph, path: str) -> dict[str, JsonValue]:
    file, node = graph.files[path], graph.file_node(path)
    more: dict[str, JsonValue] = {
        "domain": node.domain,
        "problem": node.problem,
        "contracts": list(node.contracts),
        "imports": list(file.imports),
        "tests": list(file.tests),
    }
    return {
        "id": path,
        "kind": str(node.kind),
        "tier": str(node.tier) if node.tier is not None else None,
        "criticality": str(node.criticality),
        **{name: value for name, value in more.items() if value},
    }


def stack_document(kind: str, stack: str) -> dict[str, JsonValue]:
    """Return the facts that a stack gives for a kind of node. Raises UnknownNode."""
    adapter = named_stack(stack)
    known = {member.value: member for member in NodeKind}
    if adapter is None or kind not in known:
        slugs = [other.slug for other in STACKS]
        raise UnknownNode(
            f"There is no stack for {kind!r} in {stack!r}.",
            hint=f"Kinds: {', '.join(known)}. Stacks: {', '.join(slugs)}.",
        )
    tier = known[kind].tier
    return {
        "stack": adapter.name,
        "kind": kind,
        "tier": str(tier) if tier is not None else None,
        "endings": list(adapter.endings),
        "reads": adapter.promise,
        "resolves_imports": adapter.resolver is not None,
        "scaffolds": bool(adapter.new_file),
    }


def taxonomy() -> dict[str, JsonValue]:
    """Return the tiers with their hierarchy, the kinds of nodes with their tier, and the edges."""
    return {
        "tiers": [
            {
                "tier": tier.value,
                "what": tier.meaning,
                "subtype_of": tier.parent.value if tier.parent is not None else None,
                "kinds": [kind.value for kind in NodeKind if kind.tier is tier],
            }
            for tier in NodeTier
        ],
        "untiered_kinds": [kind.value for kind in NodeKind if kind.tier is None],
        "edges": list[JsonValue](EDGES),
    }


FOLDER = ".annotations"
"""The folder of the kept findings."""


class AnnotateArguments(Frozen):
    """The findings that are to be kept."""

    findings: list[GraphFinding]


class _Annotation(GraphFinding):
    """A kept finding with the id of its node's text."""

    text: str


def annotation_file(graph: ProjectGraph, finding: GraphFinding) -> tuple[str, str]:
    """Return the path and the text of the file that keeps a finding."""
    kept = _Annotation(**dict(finding), text=graph.blob(finding.path))
    place = re.sub(r"[^A-Za-z0-9.]+", "-", f"{finding.path}-{finding.line}").strip("-")
    text = kept.model_dump_json(indent=1, exclude={"dependency_ids"})
    return f"{FOLDER}/{finding.code}-{place}.json", f"{text}\n"


def _kept_annotations(graph: ProjectGraph) -> list[dict[str, JsonValue]]:
    """Return the kept findings by file; one is stale if its node's text is another now, or gone. A
    file that is none is left out.
    """
    annotations: list[dict[str, JsonValue]] = []
    for path in graph.files:
        if not path.startswith(f"{FOLDER}/"):
            continue
        with suppress(ValidationError):
            kept = _Annotation.model_validate_json(graph.text(path))
            about = kept.model_dump(include={"code", "node", "message"})
            stale = graph.blob(kept.path) != kept.text
            annotations.append({"file": path, **about, "stale": stale})
    return annotations


_CHARACTERS = 4
"""Characters of a token, as models count source text, on the careful side."""
_MOST_LINES = 8
_LONGEST = 110


def repo_map(graph: ProjectGraph, tokens: int) -> str:
    """Return files with their definitions, the most imported first, within `tokens`."""
    room = max(tokens, 0) * _CHARACTERS
    ranked = sorted(_own_code(graph), key=partial(_place, graph))
    shown = list[str]()
    for path in ranked:
        lines = _definitions(graph.facts.get(path, FileFacts()).symbols)
        entry = "\n".join((path, *lines)) + "\n"
        entry = entry if len(entry) <= room else f"{path}\n"
        if len(entry) > room:
            break
        room -= len(entry)
        shown.append(entry)
    left = len(ranked) - len(shown)
    return "".join(shown) + (f"… {left} more files of code\n" if left else "")


def _definitions(symbols: tuple[SymbolFact, ...]) -> list[str]:
    """Return the first lines of definitions that others may use."""
    shown = [
        f"  {symbol.text[:_LONGEST].rstrip(' {:')}"
        for symbol in symbols
        if symbol.name.count(".") == 0 and not symbol.name.startswith("_")
    ]
    return shown[:_MOST_LINES] + (["  …"] if len(shown) > _MOST_LINES else [])


def _place(graph: ProjectGraph, path: str) -> tuple[int, str]:
    uses = graph.importers.get(path, ())
    return -sum(graph.files[importer].kind.is_code for importer in uses), path


_FOLDERS = {
    NodeKind.MODULE: "",
    NodeKind.ADAPTER: "adapters",
    NodeKind.GATE: "gates",
    NodeKind.SCHEMA: "schemas",
    NodeKind.REGISTRY: "registries",
}
_UNSAFE = re.compile(r'["\\\x00-\x1f]|\*/')
_LONGEST_PURPOSE = 90
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,60}")


class ScaffoldArguments(Frozen):
    """A file that is wanted."""

    name: str
    kind: str = "module"
    stack: str = ""
    purpose: str = ""


def scaffold(graph: ProjectGraph, wanted: ScaffoldArguments) -> dict[str, JsonValue]:
    """Return the file as it would be written, beside most files of its kind. Raises BadOption."""
    name, kind = wanted.name.strip(), next((k for k in _FOLDERS if k.value == wanted.kind), None)
    if not _NAME.fullmatch(name):
        raise BadOption(f"name {name!r}: letters, digits, spaces, - and _, from a letter on.")
    if kind is None:
        raise BadOption(f"kind {wanted.kind!r}: a new file is of kind {', '.join(_FOLDERS)}.")
    stack = named_stack(wanted.stack) if wanted.stack else main_stack(graph)
    if stack is None or not stack.new_file:
        slugs = ", ".join(other.slug for other in STACKS if other.new_file)
        raise BadOption(f"stack {wanted.stack!r}: new files are made for {slugs}.")
    files = [path for path in _own_code(graph) if stack_for(path) is stack]
    files = [path for path in files if not path.endswith((".pyi", ".vue", ".svelte"))]
    likes = [path for path in files if graph.files[path].kind is kind]
    beside = _most(path.partition("/")[0] if "/" in path else "" for path in files)
    folder = _most(map(dirname, likes)) if likes else join(beside, _FOLDERS[kind]).rstrip("/")
    typed = ".ts" if wanted.stack.lower() == "typescript" else stack.endings[0]
    ending = _most(splitext(path)[1] for path in likes or files) or typed
    joint = "_" if ending in {".py", ".go"} else "-"
    path = join(folder, joint.join(re.split(r"[ _-]+", name.lower())) + ending)
    if path in graph.files:
        raise BadOption(f"{path} is there already.", hint="Choose another name.")
    package = re.sub(r"\W", "", (basename(folder) or name).lower())
    text = stack.new_file.format(purpose=_sentence(wanted), package=package)
    return {"output_path": path, "file_content": text, "node_id": path}


def main_stack(graph: ProjectGraph) -> Stack | None:
    """Return the stack with the most files of code; None without code."""
    counts = Counter(filter(None, map(stack_for, _own_code(graph))))
    return max(counts, key=lambda stack: counts[stack], default=None)


def _own_code(graph: ProjectGraph) -> list[str]:
    return [path for path, node in graph.files.items() if node.kind.is_code]


def _most(words: Iterable[str]) -> str:
    counts = Counter(words)
    return min(counts, key=lambda word: (-counts[word], word)) if counts else ""


def _sentence(wanted: ScaffoldArguments) -> str:
    """Return the purpose in one line that ends with a full stop, safe in any comment."""
    text = " ".join(_UNSAFE.sub(" ", wanted.purpose or wanted.name).split())
    text = text[:_LONGEST_PURPOSE].rstrip(" .")
    return f"{text[:1].upper()}{text[1:]}."


_NEAR = 3


class GraphQuestion(Frozen):
    """One question. `touches` or `of` asks for edges; the rest narrows the nodes of the answer."""

    name: str = Field(default="", description="part of an id, or a glob")
    tier: NodeTier | None = Field(default=None, description="subtypes included")
    kind: NodeKind | None = None
    domain: str = ""
    criticality: Criticality | None = Field(default=None, description="this or worse")
    of: str = Field(default="", description="a node: what it uses and what uses it")
    touches: tuple[str, ...] = Field(
        default=(), description="files or folders: what a change of them reaches"
    )
    limit: int = Field(default=20, ge=1, le=1_000)


class GraphAnswer(Frozen):
    """The nodes that answer a question, as many as were asked for, and how many there are."""

    sentence: str
    nodes: tuple[GraphNode, ...]
    total: int

    @property
    def text(self) -> str:
        left = self.total - len(self.nodes)
        more = [f"… {left} more; narrow the question or raise the limit"] if left else []
        return "\n".join([self.sentence, *(node.words for node in self.nodes), *more])


def ask_graph(graph: ProjectGraph, question: GraphQuestion) -> GraphAnswer:
    """Return the answer to a question. Raises BadOption for a node that there is not."""
    noun, tail, nodes = _find_answer(graph, question)
    fitting = [node for node in nodes if _fits(node, question)]
    sentence = f"{several(len(fitting), noun)}{tail}"
    shown = tuple(fitting[: question.limit])
    return GraphAnswer(sentence=sentence, nodes=shown, total=len(fitting))


def _find_answer(graph: ProjectGraph, asked: GraphQuestion) -> tuple[str, str, list[GraphNode]]:
    """Return the nodes with their relations, what they are, and what else is said of them all."""
    if asked.of and asked.touches:
        raise BadOption("Ask for one thing at a time: neighbours, or a change.")
    if asked.of:
        node = _named_node(graph, asked.of)
        return "neighbour", f" of {node.id}", _neighbours(graph, node)
    if asked.touches:
        return "node", *_find_touched(graph, asked.touches)
    symbols = SEPARATOR in asked.name or asked.kind is NodeKind.SYMBOL
    # The worst first.
    nodes = sorted(graph.nodes(symbols=symbols), key=lambda one: (-one.criticality.weight, one.id))
    return "node", "", nodes


def _fits(node: GraphNode, asked: GraphQuestion) -> bool:
    return (
        _is_named(node.id, asked.name)
        and (asked.kind is None or node.kind is asked.kind)
        and (asked.tier is None or (node.tier is not None and node.tier.within(asked.tier)))
        and (not asked.domain or node.domain == asked.domain)
        and (asked.criticality is None or node.criticality.weight >= asked.criticality.weight)
    )


def _is_named(name: str, wanted: str) -> bool:
    """Return whether an id is named as wanted: by a glob, or a part in any case."""
    return fnmatchcase(name, wanted) if "*" in wanted else wanted.lower() in name.lower()


def _named_node(graph: ProjectGraph, name: str) -> GraphNode:
    """Return the node of an id, or the only one whose id ends so."""
    if (node := graph.node(name)) is not None:
        return node
    ending = [path for path in graph.files if path.endswith(f"/{name}")]
    if len(ending) == 1:
        return graph.file_node(ending[0])
    like = ", ".join((ending or [path for path in graph.files if _is_named(path, name)])[:_NEAR])
    raise BadOption(
        f"There is no node {name!r}.",
        hint=f"There are: {like}." if like else "A part of a name finds ids.",
    )


def _neighbours(graph: ProjectGraph, node: GraphNode) -> list[GraphNode]:
    if SEPARATOR in node.id:
        return [graph.file_node(node.path).replace(how="contains it")]
    if node.kind is NodeKind.COMMAND:
        return []
    file, relations = graph.files[node.id], defaultdict[str, list[str]](list)
    for path in graph.importers.get(node.id, ()):
        relations[path].append("imports it")
    for path in graph.testers.get(node.id, ()):
        relations[path].append("tests it")
    for path, line in file.imports.items():
        relations[path].append(f"imported by it in line {line}")
    for path in file.tests:
        relations[path].append("tested by it")
    near = [graph.file_node(path).replace(how=", ".join(how)) for path, how in relations.items()]
    return [*near, *(part.replace(how="in it") for part in graph.contained(node.id))]


def _find_touched(graph: ProjectGraph, selectors: Sequence[str]) -> tuple[str, list[GraphNode]]:
    changed = [
        path
        for selector in selectors
        for path in matching(graph, selector) or (_named_node(graph, selector).path,)
    ]
    distance = graph.dependents(changed)
    tests = {path for path in distance if graph.files[path].kind is NodeKind.TEST}
    tests |= {test for path in (*changed, *distance) for test in graph.testers.get(path, ())}
    code = [path for path in distance if graph.files[path].kind.is_code]
    untested = sum(not graph.testers.get(path) for path in code)
    without = f", {untested} of them with no test of their own" if untested else ""
    counts = f"{several(len(code), 'file')} of code{without}"
    nodes = [
        graph.file_node(path).replace(how="directly" if away == 1 else f"{away} imports away")
        for path, away in distance.items()
    ]
    return f" reached by a change: {counts}, {several(len(tests), 'test')}", nodes
