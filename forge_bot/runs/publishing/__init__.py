"""The branch, the commits and the pull request for merge."""
