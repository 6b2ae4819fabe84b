"""The graph of a repository: a node for every file, and what each file says by itself."""

from pathlib import Path

import pytest

from forge_bot.project.graph.project_graph import NodeKind, NodeTier
from forge_bot.project.graph.read_graph import GraphReader
from tests.project.graph_scene import git, graph, repository, write


def test_every_file_is_a_node_with_a_kind_and_its_tier(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n',
            "shop/__init__.py": "",
            "shop/cli.py": "def main(): ...\n",
            "shop/prices.py": "def net(): ...\n",
            "shop/models.py": "class Order: ...\n",
            "shop/adapters/mail.py": "class Mail: ...\n",
            "shop/gates.py": "def may_ship(): ...\n",
            "shop/registry.py": "SHOPS = {}\n",
            "tests/test_prices.py": "from shop.prices import net\n",
            ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: python shop/cli.py\n",
            "README.md": "# Shop\n",
            "forge-mcp.json": "{}\n",
            ".agents/skills/release/SKILL.md": "# Release\n",
            "logo.png": b"\x89PNG\0",
        },
    )
    assert {path: node.kind for path, node in found.files.items()} == {
        ".github/workflows/ci.yml": NodeKind.PIPELINE,
        ".agents/skills/release/SKILL.md": NodeKind.CAPABILITY,
        "README.md": NodeKind.DOCUMENT,
        "forge-mcp.json": NodeKind.CAPABILITY,
        "logo.png": NodeKind.OTHER,
        "pyproject.toml": NodeKind.OTHER,
        "shop/__init__.py": NodeKind.MODULE,
        "shop/adapters/mail.py": NodeKind.ADAPTER,
        "shop/cli.py": NodeKind.ENTRY,
        "shop/gates.py": NodeKind.GATE,
        "shop/models.py": NodeKind.SCHEMA,
        "shop/prices.py": NodeKind.MODULE,
        "shop/registry.py": NodeKind.REGISTRY,
        "tests/test_prices.py": NodeKind.TEST,
    }
    assert found.file_node("shop/cli.py").tier is NodeTier.SURFACE
    assert found.files["tests/test_prices.py"].tests == ("shop/prices.py",)


def test_gloves_and_gates_are_workers_and_registries_are_schemas() -> None:
    workers = {tier for tier in NodeTier if tier.within(NodeTier.WORKER)}
    schemas = {tier for tier in NodeTier if tier.within(NodeTier.SCHEMA)}
    assert workers == {NodeTier.WORKER, NodeTier.GLOVE, NodeTier.GATE}
    assert schemas == {NodeTier.SCHEMA, NodeTier.REGISTRY}


def test_definitions_are_named_with_what_holds_them(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {
            "a.py": "LIMIT = 3\nclass A:\n    def b(self):\n        def hidden(): ...\n        return 1\n",
            "b.ts": "export interface Shape { x: number }\nexport const area = () => 1\nclass C { m() {} }\n",
            "c.go": "package c\n\ntype T struct{}\n\nfunc (t *T) Run() {}\n",
            "d.rs": "struct S;\nimpl S { fn new() -> S { S } }\nmod inner { fn f() {} }\n",
            "E.java": "class E { void run() {} }\n",
            "f.rb": "module M\n  class K\n    def go; end\n  end\nend\n",
        },
    )
    names = {
        path: [each.id.partition("::")[2] for each in found.contained(path)] for path in found.files
    }
    assert names == {
        "a.py": ["LIMIT", "A", "A.b"],
        "b.ts": ["Shape", "area", "C", "C.m"],
        "c.go": ["T", "T.Run"],
        "d.rs": ["S", "S.new", "inner", "inner.f"],
        "E.java": ["E", "E.run"],
        "f.rb": ["M", "M.K", "M.K.go"],
    }
    lines = {each.id: (each.line, each.text) for each in found.contained("a.py")}
    assert lines["a.py::A.b"] == (3, "def b(self):")


def test_a_broken_file_is_a_node_with_a_problem_and_the_rest_of_it_is_read(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {"a.py": "import b\n\ndef good(): ...\n\nclass :\n    x = = 3\n", "b.py": "x = 1\n"},
    )
    assert found.files["a.py"].problem == "line 5 cannot be parsed"
    assert list(found.files["a.py"].imports) == ["b.py"]
    assert [each.id for each in found.contained("a.py")] == ["a.py::good"]


def test_what_is_too_large_or_no_text_is_a_node_with_a_problem(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {"large.py": b"x = 1\n" * 1_700_000, "odd.py": b"x = 1\0\n", "ok.py": "import odd\n"},
    )
    assert found.files["large.py"].problem == "too large to read (10.2 MB, more than 1 MB)"
    assert found.files["odd.py"].problem == "not text"
    assert list(found.files["ok.py"].imports) == ["odd.py"]


@pytest.mark.parametrize(
    ("path", "sign"), [("a.py", "("), ("a.js", "("), ("a.js", "`${"), ("a.ts", "{")]
)
def test_a_file_of_signs_that_fit_nothing_is_not_searched_for_definitions(
    tmp_path: Path, path: str, sign: str
) -> None:
    found = graph(tmp_path, {path: sign * 200_000, "b.py": "def good(): ...\n"})
    assert found.files[path].problem == "line 1 cannot be parsed, nor most of what follows"
    assert [each.id for each in found.contained("b.py")] == ["b.py::good"]


def test_files_in_conflict_are_read_as_they_lie_there(tmp_path: Path) -> None:
    made = repository(tmp_path, {"a.py": "x = 1\n", "b.py": ""})
    start = made.commit_id("HEAD")
    for branch, text in (("one", "import b\n"), ("two", "x = 2\n")):
        assert git(tmp_path, "switch", "-q", "-c", branch, start) == 0
        write(tmp_path, {"a.py": text})
        assert git(tmp_path, "commit", "-qam", branch) == 0
    assert git(tmp_path, "merge", "one") == 1
    found = GraphReader(made).here()
    assert found.files["a.py"].imports == {"b.py": 4}
    assert found.files["a.py"].problem == "line 1 cannot be parsed"
    (tmp_path / "a.py").unlink()
    assert list(GraphReader(made).here().files) == ["b.py"]


def test_configured_commands_are_in_the_graph_as_long_as_they_are_configured(
    tmp_path: Path,
) -> None:
    config = ".forge/config.yml"
    makefile = "test:\n\tprove -r t\nlint:\n\tperlcritic t\n"
    text = "commands: {build: sh make.sh, lint: []}\nprojects: {web: {test: sh web/test.sh}}\n"
    files = {"Makefile": makefile, "make.sh": "true\n", "web/test.sh": "true\n", config: text}
    reader = GraphReader(repository(tmp_path, files))

    def commands() -> list[str]:
        return [command.id.rpartition(":")[2] for command in reader.here().commands]

    assert commands() == ["sh make.sh", "sh web/test.sh"]
    write(tmp_path, {config: "commands: {test: sh other.sh}\n"})
    assert commands() == ["sh other.sh", "make lint"]
    write(tmp_path, {config: "commands: [\n"})
    assert commands() == ["make test", "make lint"]


def test_a_reader_that_goes_on_gives_what_one_gives_that_reads_everything(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .one import thing\n",
        "pkg/one.py": "thing = 1\n",
        "pkg/broken.py": "import pkg.one\ndef (:\n",
        "tests/test_thing.py": "from pkg import thing\n",
        "tool/go.mod": "module example.com/tool\n",
        "tool/run.go": "package main\n",
        "tsconfig.json": '{"compilerOptions": {"paths": {"#lib": ["./web/a.js"]}}}',
        "web/a.js": "",
        "web/b.js": "",
        "web/use.js": "import '#lib'\n",
    }
    changes = {
        "pkg/two.py": "thing = 2\n",
        "pkg/__init__.py": "from .two import thing\n",
        "pkg/one.py": "def (:\n",
        "pkg/broken.py": "import pkg.one\n",
        "tool/run.go": "package tool\n",
        "tsconfig.json": '{"compilerOptions": {"paths": {"#lib": ["./web/b.js"]}}}',
    }
    made = repository(tmp_path, files)
    reader = GraphReader(made)
    before = reader.here()
    for path, text in changes.items():
        write(tmp_path, {path: text})
        later = reader.here()
        assert later.files != before.files
        assert reader.here() is later, "while nothing changes it is not made again"
        assert later.files == GraphReader(made).here().files
        before = later
