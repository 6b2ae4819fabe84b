"""Readers of artifacts: Markdown in, verdicts, findings and tasks out. No files, no network."""
