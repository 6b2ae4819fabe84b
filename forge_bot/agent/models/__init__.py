"""Models: the seam (base), those that answer from a file (scripted, recorded), and those behind a provider (provider)."""
