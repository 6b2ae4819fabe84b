"""The texts that all interfaces share: the pull request, ways out of errors, and
the parts that texts are made of.

Pure functions from values to Markdown or plain text: no files, no network, no clock.
"""
