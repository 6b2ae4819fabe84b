"""Servers to compare with, over stdio: an SDK server with one trivial tool, and a loop written by
hand that knows no SDK.
"""

import json
import sys
from typing import Any


def main(kind: str) -> None:
    """Serve one client over stdin and stdout."""
    if kind == "loop":
        _loop()
        return
    from mcp.server import MCPServer

    server = MCPServer("bare")

    @server.tool(structured_output=False)
    async def trivial(workspace: str) -> str:
        """Answer."""
        return workspace

    server.run("stdio")


def _loop() -> None:
    """As little as answers the requests of the benchmark, in the older protocol."""
    tool = {
        "name": "trivial",
        "description": "Answer.",
        "inputSchema": {"type": "object", "properties": {"workspace": {"type": "string"}}},
    }
    hello: dict[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "loop", "version": "1"},
    }
    for line in sys.stdin:
        asked = json.loads(line)
        results: dict[str, dict[str, Any]] = {
            "initialize": hello,
            "tools/list": {"tools": [tool]},
            "tools/call": {
                "content": [
                    {
                        "type": "text",
                        "text": asked.get("params", {}).get("arguments", {}).get("workspace", ""),
                    }
                ]
            },
        }
        if "id" in asked:
            sys.stdout.write(
                json.dumps(
                    {"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]}
                )
                + "\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
