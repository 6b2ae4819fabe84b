"""The engine as an MCP server: the client is the host, asks for the next action, does it and
reports.

`service` has the tools as plain functions without the protocol; `tools`, `resource_handlers` and
`prompts` are what a client sees. The engine is imported at the first call, so that a client
that only looks at the list of tools gets it at once.
"""
