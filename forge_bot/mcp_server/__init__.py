"""The engine as an MCP server: the client is the host, asks for the next action, does it and
reports.

`desk` has the tools as plain functions and speaks no protocol; `tools`, `shelves` and `contracts`
say what a client sees of it. The engine is imported at the first call, so that a client that only
looks at the list of tools gets it at once.
"""
