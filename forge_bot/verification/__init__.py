"""Read the output of test runners and linters and judge it. No files, no network."""
