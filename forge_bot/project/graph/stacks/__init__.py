"""One module for each stack, which reads its files and resolves its imports."""
