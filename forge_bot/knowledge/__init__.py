"""Knowledge before the work starts: the repository's commands, conventions, and past runs."""
