"""Runs on a Temporal server: a workflow repeats "go on", the host of the terminal does the rest.

Git has the truth. A workflow knows why the host came back, and who is next.
"""
