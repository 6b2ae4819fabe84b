"""The context that a model may request: the repository, its past, its tests.

It is read-only and never leaves the work tree.
"""
