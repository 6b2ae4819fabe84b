"""A server that starts has its list of tools at once: what takes long to import comes with the
first call that needs it.
"""

import subprocess
import sys

LISTED = """
import asyncio, sys
from forge_bot.mcp_server.sdk_server.server import make_server
tools = asyncio.run(make_server(None).list_tools())
print(len(tools), *sorted({name for name in sys.modules}))
"""
LATER = {
    "forge_bot.engine",
    "forge_bot.runs",
    "forge_bot.git",
    "forge_bot.prompts",
    "yaml",
    "jinja2",
    "pydantic_ai",
    "github",
    "rank_bm25",
    "numpy",
}


def test_neither_engine_nor_anything_behind_it_is_there_before_the_first_call() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTED], capture_output=True, text=True, check=True
    )
    count, *modules = done.stdout.split()
    assert (count, LATER & {*modules}) == ("9", set())
