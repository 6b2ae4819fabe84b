"""Access to GitHub: one repository through PyGithub, with types of our own, and issues by URL."""
