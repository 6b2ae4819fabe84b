"""The project that is worked on, read from its files: languages, commands, and its graph."""
