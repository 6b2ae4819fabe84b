"""What a model may ask to be shown: the repository, its past, its tests. Read only, and never out of the work tree."""
