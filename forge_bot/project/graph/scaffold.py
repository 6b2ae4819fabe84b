"""A new file, where this project would put it: beside its likes, in the language of the project."""

import re
from collections import Counter
from collections.abc import Iterable
from posixpath import basename, dirname, splitext

from pydantic import JsonValue

from forge_bot.engine.step_contracts import ScaffoldArguments
from forge_bot.errors import BadOption
from forge_bot.project.file_list import join
from forge_bot.project.graph.node_types import NodeKind, kind_of
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.stacks.all_stacks import STACKS, named_stack, stack_for
from forge_bot.project.graph.stacks.stack import Stack

_FOLDERS = {
    NodeKind.ADAPTER: "adapters",
    NodeKind.GATE: "gates",
    NodeKind.SCHEMA: "schemas",
    NodeKind.REGISTRY: "registries",
}
_KINDS = (NodeKind.MODULE, *_FOLDERS)
_OTHER_TEXT = (".pyi", ".vue", ".svelte")
"""Endings of a stack's files that a new file does not get."""
_UNSAFE = re.compile(r'["\\\x00-\x1f]|\*/')
_LONGEST_PURPOSE = 90
_WORD = re.compile(r"[a-z0-9]+")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,60}")
_NEAR = 5


def scaffold(graph: ProjectGraph, wanted: ScaffoldArguments) -> dict[str, JsonValue]:
    """Return the file as it would be written, and files of its kind near it. Raises BadOption."""
    kind = _kind(wanted.kind)
    if not _NAME.fullmatch(wanted.name.strip()):
        raise BadOption(
            f"name {wanted.name!r}: letters, digits, spaces, - and _, from a letter on."
        )
    stack = _stack(graph, wanted.stack)
    files = [
        path
        for path, node in graph.files.items()
        if stack_for(path) is stack and node.kind.is_code and not node.generated
        if splitext(path)[1] not in _OTHER_TEXT
    ]
    likes = [path for path in files if graph.files[path].kind is kind]
    folder = _folder(likes, files, kind)
    first = ".ts" if wanted.stack.lower() == "typescript" else stack.endings[0]
    ending = _most(splitext(path)[1] for path in likes or files) or first
    path = join(folder, _file_name(wanted.name, likes or files, ending))
    if path in graph.files:
        raise BadOption(
            f"{path} is there already.",
            hint="Choose another name.",
        )
    if kind_of(path, frozenset()) is not kind:
        raise BadOption(f"{path} would be of kind {kind_of(path, frozenset())}, not {kind}.")
    package = re.sub(r"\W", "", (basename(folder) or wanted.name).lower())
    text = stack.new_file.format(purpose=_sentence(wanted), package=package)
    near = sorted(other for other in likes if dirname(other) == folder)[:_NEAR]
    return {
        "output_path": path,
        "file_content": text,
        "node_id": path,
        "near": list[JsonValue](near),
    }


def main_stack(graph: ProjectGraph) -> Stack | None:
    """Return the stack with the most files of code; None without code."""
    counts = Counter(
        stack.name
        for path, node in graph.files.items()
        if node.kind.is_code and not node.generated and (stack := stack_for(path)) is not None
    )
    most = max(counts, key=lambda name: counts[name], default="")
    return next((stack for stack in STACKS if stack.name == most), None)


def _kind(word: str) -> NodeKind:
    kind = next((kind for kind in _KINDS if kind.value == word), None)
    if kind is None:
        raise BadOption(f"kind {word!r}: a new file is of kind {', '.join(_KINDS)}.")
    return kind


def _stack(graph: ProjectGraph, word: str) -> Stack:
    stack = named_stack(word) if word else main_stack(graph)
    if stack is None or not stack.new_file:
        there = f"stack {word!r}" if word else "this project has no code yet"
        slugs = ", ".join(other.slug for other in STACKS if other.new_file)
        raise BadOption(
            f"{there}: new files are made for {slugs}.",
            hint="Give a stack.",
        )
    return stack


def _folder(likes: list[str], files: list[str], kind: NodeKind) -> str:
    """Return the folder with most files of the kind; else one of its own beside the code."""
    if likes:
        return _most(dirname(path) for path in likes)
    beside = _most(path.partition("/")[0] if "/" in path else "" for path in files)
    return join(beside, _FOLDERS[kind]) if kind in _FOLDERS else beside


def _most(words: Iterable[str]) -> str:
    counts = Counter(words)
    return min(counts, key=lambda word: (-counts[word], word)) if counts else ""


def _sentence(wanted: ScaffoldArguments) -> str:
    """Return the purpose in one line that ends with a full stop, safe in any comment."""
    text = " ".join(_UNSAFE.sub(" ", wanted.purpose or wanted.name).split())
    text = text[:_LONGEST_PURPOSE].rstrip(" .")
    return f"{text[:1].upper()}{text[1:]}."


def _file_name(name: str, files: list[str], ending: str) -> str:
    """Return the name of the file, with hyphens where the project has them."""
    stems = [splitext(path.rpartition("/")[2])[0] for path in files]
    hyphens = sum("-" in stem for stem in stems) > sum("_" in stem for stem in stems)
    joint = "-" if hyphens and ending not in {".py", ".go"} else "_"
    return f"{joint.join(_WORD.findall(name.lower()))}{ending}"
