"""Readers of command output: what test runners and linters print in, a judgement out. No files, no network."""
