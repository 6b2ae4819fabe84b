"""Runs that there are, found by branches and folders without opening one."""
