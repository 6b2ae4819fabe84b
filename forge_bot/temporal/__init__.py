"""Runs on a Temporal server: the same loop in a workflow, the same host in activities.

Git has the truth. A workflow knows the reports that it received and the newest commit. Each
activity reads the branch, and records and pushes its result before the workflow receives it.
"""
