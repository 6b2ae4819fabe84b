"""Results of the project's commands for edits: newly red tests, reruns, tests without them."""
