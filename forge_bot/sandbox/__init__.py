"""Run project commands in isolation.

A command has no secrets, has no network unless requested, writes only to permitted places, and has
limits. `choose` finds the backend that works on this machine; `run` runs one command in a Box and
returns its outcome. docs/sandbox.md lists the promises of each backend and their limits.
"""
