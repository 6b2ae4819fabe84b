"""Which lines of a comment can hold a command: those that a reader sees as the author's own
words.
"""

from forge_bot.gate.markdown.author_lines import Text, read_text

__all__ = ["Text", "read_text"]
