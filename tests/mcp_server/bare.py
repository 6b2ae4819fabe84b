"""The product's server over HTTP without its token, for programs that cannot send one: `python -m tests.mcp_server.bare PORT FOLDER`."""

import sys
from pathlib import Path

import uvicorn

from forge_bot.mcp_server.calling import LazyDesk
from forge_bot.mcp_server.offering import make_server

if __name__ == "__main__":
    application = make_server(LazyDesk([Path(sys.argv[2])])).streamable_http_app()
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
