"""What a change does to the tests of a project: deleted, skipped and weakened ones."""
