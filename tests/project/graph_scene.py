"""A repository made of the files a test names, and its graph."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from forge_bot.git import Repository, make_repository
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader


def repository(folder: Path, files: Mapping[str, str | bytes]) -> Repository:
    write(folder, files)
    return make_repository(folder, "All of it")


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)


def graph(folder: Path, files: Mapping[str, str | bytes]) -> ProjectGraph:
    return GraphReader(repository(folder, files)).here()


def imports(found: ProjectGraph) -> dict[str, set[str]]:
    return {path: set(node.imports) for path, node in found.files.items() if node.imports}


def clone(source: Path, folder: Path) -> Repository:
    subprocess.run(["git", "clone", "-q", str(source), str(folder)], check=True)
    return Repository.find(folder)


def git(folder: Path, *words: str) -> int:
    """Run git as somebody, and return how it ended."""
    somebody = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(["git", "-C", str(folder), *somebody, *words], check=False).returncode
