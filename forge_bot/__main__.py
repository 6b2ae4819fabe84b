"""`python -m forge_bot` is the console script."""

from forge_bot.cli import main

main()
