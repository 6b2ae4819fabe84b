"""The toolchains whose commands are found, Python's in files of their own."""
