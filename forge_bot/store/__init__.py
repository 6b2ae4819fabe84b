"""A run's folder under .specs: names, atomic writes, one writer, the request, the reports and their
state.
"""
