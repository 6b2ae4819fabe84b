"""What people read on GitHub: pure functions from a run's state to Markdown. No files, no network, no clock.

Everything is made from one frozen `View`, and from sentences of one catalogue (`replies`, `failures`). The same view gives the same
bytes. Words of models and strangers go through `escape`, long texts through `fold`, and every comment through `fit`.
"""

from forge_bot.bot.speech.checkpoint import checkpoint
from forge_bot.bot.speech.commands import Commands
from forge_bot.bot.speech.links import Links
from forge_bot.bot.speech.markers import Marker, read_marker
from forge_bot.bot.speech.next_move import next_move
from forge_bot.bot.speech.pull_request import PullRequestText, pull_request
from forge_bot.bot.speech.reply import Reply
from forge_bot.bot.speech.summary import exit_code, short_summary, summary
from forge_bot.bot.speech.tracking import tracking
from forge_bot.bot.speech.view import View

__all__ = [
    "Commands",
    "Links",
    "Marker",
    "PullRequestText",
    "Reply",
    "View",
    "checkpoint",
    "exit_code",
    "next_move",
    "pull_request",
    "read_marker",
    "short_summary",
    "summary",
    "tracking",
]
