"""The turn of an agent: its work tree, its answer, and the report of both."""
