"""The graph in other forms: Mermaid for pictures, SARIF and commands of Actions for violations."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from forge_bot import __version__
from forge_bot.errors import registry
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.verify_graph import Violation
from forge_bot.sentences import say

_MOST_ARROWS = 60


def mermaid_of_folders(graph: ProjectGraph, within: str = "") -> str:
    """Return a picture of the folders and files directly in one folder, with counts of imports."""
    arrows: Counter[tuple[str, str]] = Counter()
    for path, node in graph.files.items():
        for target in node.imports:
            one, other = _part(path, within), _part(target, within)
            if one and other and one != other and node.kind.is_code:
                arrows[one, other] += 1
    ranked = sorted(arrows.items(), key=lambda each: (-each[1], each[0]))[:_MOST_ARROWS]
    return _flowchart([(one, other, str(count)) for (one, other), count in sorted(ranked)])


def mermaid_of_node(graph: ProjectGraph, path: str) -> str:
    """Return a picture of a file with its neighbours."""
    around = [*graph.edges_to(path), *graph.edges_from(path)] if path else []
    edges = around[:_MOST_ARROWS]
    return _flowchart([(edge.source, edge.target, str(edge.kind)) for edge in edges])


def _part(path: str, within: str) -> str:
    if not path.startswith(within):
        return ""
    first, slash, _ = path[len(within) :].partition("/")
    return f"{within}{first}{slash}"


def _flowchart(arrows: Sequence[tuple[str, str, str]]) -> str:
    names = dict.fromkeys(name for one, other, _ in arrows for name in (one, other))
    ids = {name: f"n{at}" for at, name in enumerate(names)}
    boxes = [f'    {ids[name]}["{_quoted(name)}"]' for name in names]
    lines = [f"    {ids[one]} -->|{label}| {ids[other]}" for one, other, label in arrows]
    return "\n".join(["flowchart LR", *boxes, *lines]) + "\n"


def _quoted(name: str) -> str:
    return name.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def violation_json(each: Violation) -> dict[str, object]:
    """Return a violation in the form of forge-bot's other errors."""
    return {
        "code": each.code,
        "domain": each.code.partition("-")[0],
        "message": each.message,
        "node_id": each.node_id,
        "dependency_ids": list(each.dependency_ids),
        "check_class": registry()[each.code].__name__,
        "path": each.path,
        "line": each.line,
        "rule": each.rule,
    }


def sarif(violations: Iterable[Violation]) -> str:
    """Return violations in the form that code scanning reads (OASIS SARIF 2.1.0)."""
    kinds = registry()
    found = list(violations)
    rules = [
        {
            "id": code,
            "name": kinds[code].__name__,
            "shortDescription": {"text": " ".join((kinds[code].__doc__ or "").split())},
            "help": {"text": say(kinds[code].hint)},
        }
        for code in sorted({each.code for each in found})
    ]
    results = [
        {
            "ruleId": each.code,
            "level": "error",
            "message": {"text": each.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": each.path},
                        "region": {"startLine": max(each.line, 1)},
                    }
                }
            ],
            "partialFingerprints": {"forgeBot/v1": "|".join(each.key)},
        }
        for each in found
    ]
    driver = {"name": "forge-bot", "version": __version__, "rules": rules}
    return json.dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "results": results}],
        },
        indent=2,
    )


def annotation(each: Violation) -> str:
    """Return a violation as a command of GitHub Actions, which shows it at its line."""
    place = f"file={_property(each.path)},line={max(each.line, 1)},title={_property(each.code)}"
    return f"::error {place}::{_message(each.message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
