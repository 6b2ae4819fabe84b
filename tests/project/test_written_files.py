"""What steps of pipelines and commands of the project write, as edges of the graph."""

from pathlib import Path

import pytest

from forge_bot.project.graph.graph_pictures import mermaid_of_node
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.node_types import EdgeKind
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from tests.project.graph_scene import graph, repository

WORKFLOW = """\
on: push
jobs:
  docs:
    steps:
      - run: |
          python tools/list.py templates/page.md > docs/list.md
          python tools/list.py --output=docs/other.md
      - run: cat docs/list.md | tee docs/copy.md >/dev/null
      - run: cp templates/page.md docs/
  check:
    steps:
      - run: diff docs/list.md docs/copy.md
"""
STEPS = """\
kind: steps
pipeline_id: notes
steps:
  - {step: find, kind: tool, tool: forge_query, input_map: {name: "'templates/page.md'"}}
  - step: keep
    kind: fs_write
    input_map: {path: "'docs/kept.md'", content: find.sentence}
  - step: keep_others
    kind: fs_write
    input_map: {path: 'find.nodes[0].id', content: find.sentence}
"""
FILES = {
    ".github/workflows/docs.yml": WORKFLOW,
    ".forge/pipelines/notes.yaml": STEPS,
    "docs/list.md": "",
    "docs/other.md": "",
    "docs/copy.md": "",
    "docs/page.md": "",
    "docs/kept.md": "",
    "templates/page.md": "",
    "tools/list.py": "",
}


def edges(found: ProjectGraph, kind: EdgeKind, source: str) -> set[str]:
    return {edge.target for edge in found.edges_from(source) if edge.kind is kind}


@pytest.fixture
def docs(tmp_path: Path) -> ProjectGraph:
    return graph(tmp_path, FILES)


def test_a_workflow_writes_where_its_lines_send_output_and_reads_the_rest(
    docs: ProjectGraph,
) -> None:
    workflow = ".github/workflows/docs.yml"
    assert edges(docs, EdgeKind.WRITES, workflow) == {
        "docs/list.md",
        "docs/other.md",
        "docs/copy.md",
        "docs/page.md",
    }
    assert edges(docs, EdgeKind.READS, workflow) == {
        "tools/list.py",
        "templates/page.md",
        "docs/list.md",
        "docs/copy.md",
    }
    lines = {edge.target: edge.line for edge in docs.edges_from(workflow)}
    assert lines["docs/other.md"] == 7


def test_a_step_writes_its_constant_path_and_one_that_is_only_known_later_is_no_edge(
    docs: ProjectGraph,
) -> None:
    notes = ".forge/pipelines/notes.yaml"
    assert edges(docs, EdgeKind.WRITES, notes) == {"docs/kept.md"}
    assert edges(docs, EdgeKind.READS, notes) == {"templates/page.md"}
    answer = ask_graph(docs, GraphQuestion(of=f"{notes}::keep"))
    assert [(node.id, node.how) for node in answer.nodes] == [
        (notes, "contains it"),
        ("docs/kept.md", "written by it in line 7"),
    ]


def test_a_file_is_asked_for_who_writes_it(docs: ProjectGraph) -> None:
    around = ask_graph(docs, GraphQuestion(of="docs/kept.md")).nodes
    assert [(node.id, node.how) for node in around] == [
        (".forge/pipelines/notes.yaml", "writes it")
    ]
    used = ask_graph(docs, GraphQuestion(used_by="docs/list.md")).nodes
    assert [(node.id.rpartition("/")[2], node.how) for node in used] == [
        ("docs.yml", "line 6"),
        ("docs.yml::check", "reads it"),
        ("docs.yml::docs", "reads it, writes it"),
    ]
    assert "-->|writes|" in mermaid_of_node(docs, "docs/kept.md")


def test_the_document_of_a_phase_is_written(tmp_path: Path) -> None:
    phases = "phases:\n  - {id: plan, kind: agent, writes: plan.md, reads: [request.md]}\n"
    found = graph(tmp_path, {"pipelines/own.yaml": phases, "plan.md": "", "request.md": ""})
    assert edges(found, EdgeKind.WRITES, "pipelines/own.yaml") == {"plan.md"}
    assert edges(found, EdgeKind.READS, "pipelines/own.yaml") == {"request.md"}


PACKAGE = """{"scripts": {
  "prebuild": "node tools/clean.js", "build": "node tools/make.js > list.md",
  "test": "node --test tests/a.test.js"
}}"""
MAKEFILE = "build: docs\n\tpython gen.py -o out.md\ndocs:\n\ttouch stamp.txt\ntest:\n\t./check.sh\n"


@pytest.mark.parametrize("folder", ["", "web/"])
def test_a_command_reads_and_writes_what_its_script_does(tmp_path: Path, folder: str) -> None:
    files = {
        "package.json": PACKAGE,
        "list.md": "",
        "tools/clean.js": "",
        "tools/make.js": "",
        "tests/a.test.js": "",
    }
    found = graph(tmp_path, {f"{folder}{path}": text for path, text in files.items()})
    build = next(each for each in found.commands if each.name == "build")
    assert build.writes == (f"{folder}list.md",)
    assert set(build.reads) == {f"{folder}tools/clean.js", f"{folder}tools/make.js"}
    around = ask_graph(found, GraphQuestion(of=f"{folder}list.md")).nodes
    assert [(node.id, node.how) for node in around] == [(build.id, "writes it")]
    asked = ask_graph(found, GraphQuestion(of=build.id)).nodes
    assert (f"{folder}list.md", "written by it") in [(node.id, node.how) for node in asked]


def test_a_target_of_make_reads_and_writes_what_the_recipes_do(tmp_path: Path) -> None:
    files = {"Makefile": MAKEFILE, "gen.py": "", "out.md": "", "stamp.txt": "", "check.sh": ""}
    found = graph(tmp_path, files)
    commands = {str(each.name): each for each in found.commands}
    assert set(commands["build"].writes) == {"out.md", "stamp.txt"}
    assert commands["build"].reads == ("gen.py",)
    assert commands["test"].reads == ("check.sh",)


def test_what_is_written_is_kept_for_the_next_process(tmp_path: Path) -> None:
    here = repository(tmp_path, {**FILES, "package.json": PACKAGE, "list.md": ""})
    first = GraphReader(here).here()
    again = GraphReader(here).here()
    assert again.files == first.files
    assert again.commands == first.commands
    assert any(each.writes for each in again.commands)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("tool 2>&1 >> out.md", True),
        ("VAR=1 sudo cp in.md out.md", True),
        ("if true; then mv in.md out.md; fi", True),
        ("tool -o out.md in.md", True),
        ("tool \\\n  --out-file out.md", True),
        ("echo 'a > out.md'", False),
        ("tool # > out.md", False),
        ("cat out.md > /dev/null", False),
        ("echo \"it's out.md", False),
        ("cp out.md", False),
    ],
)
def test_of_a_line_only_what_a_shell_writes_counts(
    tmp_path: Path, line: str, *, written: bool
) -> None:
    script = "\n".join(f"          {part}" for part in line.splitlines())
    workflow = f"on: push\njobs:\n  a:\n    steps:\n      - run: |\n{script}\n"
    found = graph(tmp_path, {".github/workflows/a.yml": workflow, "out.md": "", "in.md": ""})
    wanted = {"out.md"} if written else set[str]()
    assert edges(found, EdgeKind.WRITES, ".github/workflows/a.yml") == wanted
