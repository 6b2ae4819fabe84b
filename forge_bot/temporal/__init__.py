"""Runs on a Temporal server: the same loop in a workflow, the same host in activities.

Git has the truth. A workflow knows the reports that it was told and the newest commit. Each
activity reads the branch, and records and pushes what it did before the workflow hears of it.
"""
