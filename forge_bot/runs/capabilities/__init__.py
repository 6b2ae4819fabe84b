"""Things that models may ask for in a run, and their performance."""
