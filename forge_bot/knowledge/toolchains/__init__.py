"""Detect commands, one module for each toolchain. Each command has a reason."""
