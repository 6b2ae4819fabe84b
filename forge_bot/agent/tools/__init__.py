"""Capabilities from outside: tools of MCP servers, and Agent Skills.

Nothing here holds a connection between two calls. A server is started for one call or one listing,
with the variables that its configuration names, and is gone afterwards.
"""
