"""Admission of events: reads events and comments, and authorises people, with nothing but the
standard library.

`parse_comment` and `authorise` are pure. The gate calls them first. The process that carries out
commands calls them again on every comment that it reads by itself.
"""
