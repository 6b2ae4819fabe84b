"""Read artifacts: Markdown to verdicts, findings and tasks. No files, no network."""
