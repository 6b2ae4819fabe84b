"""Stacks that a repository declares: by tree-sitter queries, from its default branch only."""

import subprocess
from pathlib import Path

import pytest

from forge_bot.errors import BadStack
from forge_bot.project.graph.graph_documents import stack_document
from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.scan_graph import scan
from forge_bot.project.graph.stacks.declared_stacks import read_stack
from tests.project.graph_scene import graph, imports, repository, write

STARLARK = """\
name: Starlark
endings: [.bzl]
grammar: python
query: |
  (function_definition name: (identifier) @name) @function
  (call function: (identifier) @_called (#eq? @_called "load")
    arguments: (argument_list . (string) @module)) @import
imports: {separator: "/", roots: ["", build]}
"""
STACK = ".forge/stacks/starlark.yaml"
FILES = {
    STACK: STARLARK,
    "build/rules.bzl": 'load("./deps.bzl", "deps")\nload("tools/lint.bzl", "lint")\n\ndef rule():\n    pass\n',
    "build/deps.bzl": 'load("@rules_go//go:def.bzl", "go")\nload("./gone.bzl", "x")\n',
    "build/tools/lint.bzl": "def lint():\n    pass\n",
}


def commit(folder: Path, message: str) -> None:
    for words in (["add", "-A"], ["commit", "-qm", message]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


def problem_of(found: ProjectGraph, path: str) -> str:
    return found.files[path].problem


def test_a_declared_stack_is_read_with_definitions_and_resolved_imports(tmp_path: Path) -> None:
    found = graph(tmp_path, FILES)
    assert imports(found) == {"build/rules.bzl": {"build/deps.bzl", "build/tools/lint.bzl"}}
    assert found.files["build/rules.bzl"].kind is NodeKind.MODULE
    assert [node.id for node in found.contained("build/rules.bzl")] == ["build/rules.bzl::rule"]
    assert list(found.files["build/deps.bzl"].outside) == ["@rules_go"]
    assert [(each.path, each.module) for each in found.missing] == [
        ("build/deps.bzl", "./gone.bzl")
    ]
    assert f"Starlark (3 files): as {STACK} declares: definitions and imports" in found.notes
    about = stack_document("module", "starlark", found.stacks)
    assert (about["endings"], about["resolves_imports"]) == ([".bzl"], True)


def test_only_the_default_branch_declares_stacks(tmp_path: Path) -> None:
    here = repository(tmp_path, {name: text for name, text in FILES.items() if name != STACK})
    write(tmp_path, {STACK: STARLARK})
    reader = GraphReader(here)
    assert imports(reader.here()) == {}, "it lies there, and is not on the default branch"
    assert "does not count" in problem_of(reader.here(), STACK)
    commit(tmp_path, "Declare it")
    assert imports(reader.here()) == imports(GraphReader(here).here()) != {}
    assert not problem_of(reader.here(), STACK)
    write(tmp_path, {STACK: STARLARK.replace("(function_definition name: (identifier) @name)", "")})
    assert imports(reader.here()) != {}, "what counts is the text on the default branch"
    assert "does not count" in problem_of(GraphReader(here).here(), STACK)


def test_the_cache_forgets_what_was_read_by_another_query(tmp_path: Path) -> None:
    here = repository(tmp_path, FILES)
    assert len(GraphReader(here).here().contained("build/rules.bzl")) == 1
    write(tmp_path, {STACK: STARLARK.replace("@function", "@type").replace("[., build]", "[]")})
    commit(tmp_path, "Another query")
    (node,) = GraphReader(here).here().contained("build/rules.bzl")
    facts = GraphReader(here).here().facts(["build/rules.bzl"])["build/rules.bzl"]
    assert (node.id, facts.symbols[0].kind) == ("build/rules.bzl::rule", "type")


BAD = {
    "a key that there is not": (f"{STARLARK}colour: red\n", "starlark.yaml:9: colour"),
    "a query that does not fit the grammar": (
        STARLARK.replace("function_definition", "palace"),
        "query: Invalid node type",
    ),
    "a grammar that is not installed": (
        STARLARK.replace("grammar: python", "grammar: kotlin"),
        "tree-sitter-kotlin has to be installed",
    ),
    "an ending that is read already": (
        STARLARK.replace("[.bzl]", "[.bzl, .py]"),
        ".py is read as Python already",
    ),
    "a name that is taken": (STARLARK.replace("Starlark", "ruby"), "there is a stack Ruby already"),
    "no YAML": ("name: [\n", "is not YAML"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_stack_that_cannot_be_used_is_a_node_with_its_problem(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    found = graph(tmp_path, {**FILES, STACK: text})
    assert said in problem_of(found, STACK)
    assert [(each.code, each.path) for each in scan(found)] == [("SCAN-001", STACK)]
    assert found.files["build/rules.bzl"].kind is NodeKind.OTHER


def test_a_folder_of_the_project_is_never_loaded_as_a_grammar(tmp_path: Path) -> None:
    files = {"tree_sitter_evil/__init__.py": "raise SystemExit('it was loaded')\n"}
    found = graph(tmp_path, {**FILES, **files, STACK: STARLARK.replace("python", "evil")})
    assert "has to be installed" in problem_of(found, STACK)


def test_a_mistake_is_told_with_its_line() -> None:
    with pytest.raises(BadStack) as caught:
        read_stack(STARLARK.replace("name: Starlark", "name: Two words"), STACK)
    assert f"{STACK}:1: name: " in caught.value.details[0]
