"""forge-bot: a labelled issue becomes a reviewed pull request, and a person is asked before it
matters.
"""

__version__ = "0.1.0"
