"""How fast a repository is read as a graph, and how fast the graph answers.

`python -m benchmarks.graph_speed [FILES]` makes a repository of that many Python files in a
temporary folder. The times are those of work on a processor, git's included, so that other
programs on the machine do not count.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from forge_bot.git import Repository, make_repository
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.node_types import NodeTier
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.repo_map import repo_map

_PARTS = 40
_FUNCTIONS = 12


def main() -> int:
    """Print one line for each figure, in milliseconds."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory() as name:
        repository = _repository(Path(name) / "made", count)
        reader = GraphReader(repository)
        cold = _time(reader.here)
        graph = reader.here()
        started = _usual(lambda: GraphReader(repository).here())
        changed = _median(lambda: _after_changes(repository, count, reader.here))
        anew = _usual(lambda: GraphReader(repository).here())
        whole = _usual(lambda: ask_graph(reader.here(), GraphQuestion(tier=NodeTier.WORKER)))
        query = _usual(lambda: ask_graph(graph, GraphQuestion(tier=NodeTier.WORKER)))
        symbol = _usual(lambda: ask_graph(graph, GraphQuestion(name="file_77.py::function_3")))
        touched = _usual(lambda: ask_graph(graph, GraphQuestion(touches=("part_0/file_0.py",))))
        shown = _usual(lambda: repo_map(graph, 2_000, said="file"))
    for what, value in (
        (f"{count} files, cold, a file", cold / count),
        ("five changed files", changed),
        ("with kept facts, in a new process's reader", started),
        ("after five changes, in a new process's reader", anew),
        ("a query by tier, git's look at the files included", whole),
        ("a query by tier", query),
        (f"a definition among {count * _FUNCTIONS:,}", symbol),
        ("what a change reaches", touched),
        ("a map of 2,000 tokens, warm", shown),
    ):
        print(f"{what:50} {value:8.2f} ms")
    return 0


def _usual(do: Callable[[], object]) -> float:
    """Return the median of five goes after a first one, which reads what is kept from then on."""
    do()
    return _median(lambda: _time(do))


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(5))


def _after_changes(repository: Repository, count: int, do: Callable[[], object]) -> float:
    """Return the time after five files got contents that they never had."""
    for number in range(5):
        _write(repository.root, number, count, f"changed {time.time_ns()}")
    return _time(do)


def _time(do: Callable[[], object]) -> float:
    begun = _spent()
    do()
    return (_spent() - begun) * 1000


def _spent() -> float:
    """Return the seconds of work of this process and of those it started, such as git."""
    # The clock of os.times() ticks every ten milliseconds.
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _repository(folder: Path, count: int) -> Repository:
    for number in range(count):
        _write(folder, number, count, "first")
    return make_repository(folder, "All files")


def _write(folder: Path, number: int, count: int, word: str) -> None:
    path = folder / f"part_{number % _PARTS}" / f"file_{number}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    wanted = [(number * step + step) % count for step in (3, 7, 11)]
    lines = [f"from part_{each % _PARTS} import file_{each}" for each in wanted]
    for each in range(_FUNCTIONS):
        lines += ["", "", f"def function_{each}(value: int) -> int:", f'    """{word} {each}."""']
        lines += [f"    return value + file_{wanted[each % 3]}.function_{each}(value)"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
