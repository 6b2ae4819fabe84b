"""A run on disk, for every host: create it, find it, continue it, report on it."""
