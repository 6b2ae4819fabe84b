"""The settings of a repository: .forge/config.yml, forge-mcp.json, and pipelines, which need the
engine.
"""
