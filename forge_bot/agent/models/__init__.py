"""Models:

the interface (base), answers from files (recorded), and providers (provider).
"""
