"""Runs that a client performs: how one begins, what is to do, and what the client reports."""
