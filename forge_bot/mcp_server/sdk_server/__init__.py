"""The server as the SDK of MCP runs it: transports, tools, resources, prompts and questions."""
