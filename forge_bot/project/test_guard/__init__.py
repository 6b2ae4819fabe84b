"""Tests of a project that a change deletes, skips or weakens."""
