"""The forge: where the code is hosted, with its issues, pull requests and jobs. It is chosen here.

Another forge is a folder beside `github` that gives the same names; `types` are common to all. The
gate runs before anything is installed: nothing but the standard library is imported with this room.
"""

from forge_bot.forge.github import *
