"""Documents, files and lines that an agent is shown."""
