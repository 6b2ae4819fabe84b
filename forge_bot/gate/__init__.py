"""Admission of events: events and comments are read and people authorised with nothing but the
standard library.

`parse_comment` and `authorise` are pure. The gate uses them in front of everything, and who carries
out commands uses them again on every comment that it reads by itself.
"""
