"""What is looked at by `doctor`, before a run begins, and before one goes on."""
