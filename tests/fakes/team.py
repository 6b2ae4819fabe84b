"""A team with a ticket system and a skill of its own, and the record of one run for its ticket 7:
the answers of a model to the prompts of that run.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "fixtures" / "team"
RECORD = FOLDER / "record.jsonl"
REQUEST = (FOLDER / "request.md").read_text(encoding="utf-8")
ENTRY = (
    "- 4. `who` and `week` say `nobody` for days before the rota starts, and `load` does not count"
    " them. (#7)"
)


def files() -> dict[str, bytes]:
    """The team's files in the sample repository, by their paths."""
    server = {"command": sys.executable, "args": [".forge/servers/tickets.py"]}
    own = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for path in FOLDER.rglob("*")
        if path.is_file() and path.parent != FOLDER
    }
    return {
        **own,
        "CHANGES.md": (FOLDER / "CHANGES.md").read_bytes(),
        "forge-mcp.json": json.dumps({"mcpServers": {"tickets": server}}).encode(),
    }


def used(state: dict[str, list[dict[str, object]]]) -> dict[str, tuple[object, ...]]:
    """What a run's state says of tools and skills."""
    return {
        str(each["name"]): (each["calls"], each["failed"], each["denied"])
        for each in state["capabilities"]
    }
