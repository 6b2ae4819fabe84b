"""An MCP server that behaves as it is told: well, or in one of the ways servers go wrong.

    python unruly_server.py MODE [FILE]

It speaks the protocol by hand, so that it can also break it. FILE takes a line for each call, with
the tool and its arguments, before the call is answered; a file beside it that ends in .mode changes
the mode.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS: list[dict[str, object]] = [
    {
        "name": "echo",
        "description": "Say the text again.",
        "inputSchema": TEXT,
        "annotations": {"readOnlyHint": True},
    },
    {"name": "create", "description": "Create a ticket.", "inputSchema": TEXT},
    {
        "name": "look up.it/all",
        "description": "Look something up.\nIn two lines.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["bug", "task"], "description": "which kind"},
                "count": {"type": "integer", "minimum": 1, "default": 5},
                "where": {"type": "object", "properties": {"team": {"type": "string"}}},
            },
            "required": ["kind"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "environment",
        "description": "Show the names of the variables.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
]


def send(message: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sys.stdout.buffer.flush()


def text(words: str, **more: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], **more}


def result(mode: str, name: str, arguments: dict[str, Any]) -> dict[str, object]:
    match mode:
        case "large":
            return text("x" * 3_000_000)
        case "too-large":
            return text("x" * 5_000_000)
        case "fails":
            return text("no such ticket", isError=True)
        case "structured":
            return {
                "content": [
                    {"type": "image", "data": "QUJD", "mimeType": "image/png"},
                    {"type": "resource_link", "uri": "ticket://7", "name": "ticket 7"},
                ],
                "structuredContent": {"id": 7},
            }
        case _:
            pass
    match name:
        case "environment":
            return text(json.dumps(sorted(os.environ)))
        case "look up.it/all":
            return text(f"found {json.dumps(arguments, sort_keys=True)}")
        case "create":
            return text(f"created {arguments['text']}")
        case _:
            said = os.environ.get("TICKETS_TOKEN", "")
            return text(f"{arguments.get('text', '')}{said and f' with {said}'}")


def called(mode: str, id_: object, params: dict[str, Any], kept: Path | None) -> None:
    name: str = params["name"]
    arguments: dict[str, Any] = params.get("arguments") or {}
    if kept is not None:
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, arguments]) + "\n")
            file.flush()
            os.fsync(file.fileno())
    if mode == "kills":
        # Whoever started the process that keeps this one.
        os.kill(int(Path(f"/proc/{os.getppid()}/cmdline").read_bytes().split(b"\0")[4]), 9)
    if mode == "hangs":
        time.sleep(3_600)
    if mode == "crashes":
        sys.stderr.write("out of tickets\n")
        sys.stderr.flush()
        os._exit(3)
    if mode == "invalid-text":
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": text("caf? au lait")})
        sys.stdout.buffer.write(
            body.replace("caf?", "caf\0").encode().replace(b"\0", b"\xe9") + b"\n"
        )
        sys.stdout.buffer.flush()
        return
    send({"id": id_, "result": result(mode, name, arguments)})


def listed(mode: str, params: dict[str, Any]) -> dict[str, object]:
    if mode == "lies":
        return {"tools": [{"name": "bent", "inputSchema": {"type": "object", "properties": 7}}]}
    if mode == "pages":
        start = int(str(params.get("cursor") or 0))
        page: dict[str, object] = {"tools": TOOLS[start : start + 1]}
        return {**page, "nextCursor": str(start + 1)} if start + 1 < len(TOOLS) else page
    if mode == "endless":
        start = int(str(params.get("cursor") or 0))
        return {"tools": [], "nextCursor": str(start + 1)}
    if mode == "many":
        names = [f"tool_{number}" for number in range(60)]
        tools = [{**TOOLS[0], "name": name, "description": f"About {name}."} for name in names]
        return {"tools": [*tools, {**TOOLS[0], "description": "The weather of the harbour."}]}
    return {"tools": TOOLS}


def main(mode: str, kept: Path | None) -> None:
    if kept is not None and kept.with_suffix(".mode").exists():
        mode = kept.with_suffix(".mode").read_text()
    if mode == "silent":
        # A child that outlives its parent unless the whole group is ended.
        subprocess.Popen(["sleep", "3600"])
        time.sleep(3_600)
    if mode == "chatty":
        sys.stdout.write("Welcome to tickets!\n")
        sys.stdout.flush()
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        params: dict[str, Any] = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                given: dict[str, Any] = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "tickets", "version": "1"},
                }
                send({"id": message["id"], "result": given})
            case "tools/list":
                send({"id": message["id"], "result": listed(mode, params)})
            case "tools/call":
                called(mode, message["id"], params, kept)
            case _ if "id" in message:
                send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
            case _:
                pass


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None)
