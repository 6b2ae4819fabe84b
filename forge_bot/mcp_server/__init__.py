"""The engine as an MCP server. The client is the host: it asks for the next action, performs it and
reports.

`service` has the tools as plain functions without the protocol. Clients see `sdk_server/tools` and
`sdk_server/server`. The engine is imported at the first call, so a client gets the list of tools at
once.
"""
