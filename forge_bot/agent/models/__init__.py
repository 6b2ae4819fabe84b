"""Models:

the interface (base), answers from files (scripted, recorded), and providers (provider).
"""
