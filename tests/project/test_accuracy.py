"""Edges of imports against tools of others: grimp, dependency-cruiser, `go list`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from forge_bot.git import Repository, make_repository
from forge_bot.project.graph.read_graph import GraphReader
from tests.mcp_server.programs import programs

HERE = Path(__file__).parents[2]
Edges = set[tuple[str, str]]


def oracle(package: str, root: Path) -> Edges:
    sys.path.insert(0, str(root))
    try:
        found = grimp.build_graph(package, cache_dir=None)
    finally:
        sys.path.remove(str(root))
    return {
        (file_of(root, name), file_of(root, other))
        for name in found.modules
        for other in found.find_modules_directly_imported_by(name)
        if name != other
    }


def file_of(root: Path, module: str) -> str:
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if (root / path / "__init__.py").is_file() else f"{path}.py"


def edges(package: str, repository: Repository) -> Edges:
    found = GraphReader(repository).here()
    inside = f"{package}/"
    return {
        (path, target)
        for path, node in found.files.items()
        for target in node.imports
        if path.startswith(inside) and target.startswith(inside) and path.endswith(".py")
    }


def test_the_imports_of_our_own_package_are_those_that_grimp_finds() -> None:
    assert edges("forge_bot", Repository.find(HERE)) == oracle("forge_bot", HERE)


TSCONFIG = {
    "compilerOptions": {
        "allowJs": True, "module": "esnext", "moduleResolution": "bundler", "target": "esnext"
    }
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("package", ["@tanstack/query-core", "rxjs", "svelte"])
def test_the_imports_of_npm_packages_are_those_that_dependency_cruiser_finds(
    package: str, tmp_path: Path
) -> None:
    there = programs("dependency-cruiser")
    shutil.copytree(there.modules / package / "src", tmp_path / "src")
    shutil.copy(there.modules / package / "package.json", tmp_path)
    (tmp_path / "tsconfig.json").write_text(json.dumps(TSCONFIG))
    cruiser = there.modules / "dependency-cruiser" / "bin" / "dependency-cruise.mjs"
    options = ["--no-config", "--output-type", "json", "--ts-pre-compilation-deps"]
    done = subprocess.run(
        [there.node, cruiser, *options, "--ts-config", "tsconfig.json", "src"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = {
        (module["source"], each["resolved"])
        for module in json.loads(done.stdout)["modules"]
        for each in module["dependencies"]
        if not each["couldNotResolve"] and each["resolved"].startswith("src/")
        if each["resolved"] != module["source"]
    }
    found = GraphReader(make_repository(tmp_path, "A package")).here()
    ours = {
        (path, target)
        for path, node in found.files.items()
        for target in node.imports
        if path.startswith("src/") and target.startswith("src/")
    }
    both = ours & theirs
    assert len(both) / len(ours) >= 0.98, sorted(ours - theirs)
    assert len(both) / len(theirs) >= 0.98, sorted(theirs - ours)
    missing = [one for node in found.files.values() for one in node.missing]
    assert len(missing) <= 1, "what names nothing is listed"
