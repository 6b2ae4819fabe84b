"""The project as a graph: files, symbols, tests and pipelines, and their uses."""
