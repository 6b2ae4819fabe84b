"""What each toolchain makes of a repository: one module each, asked for commands and answering with reasons."""
