"""The texts that people read on GitHub, made by pure functions from a run's state to Markdown. No
files, no network, no clock.

Everything is made from one frozen `View`, and from sentences of one catalogue (`replies`,
`failures`). The same view gives the same bytes. Words of models and strangers go through `escape`,
long texts through `fold`, and every comment through `fit`.
"""

from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.bot.comments.job_summary import exit_code, short_summary, summary
from forge_bot.bot.comments.next_step import next_move
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import tracking
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.markers import Marker, read_marker

__all__ = [
    "CommandNames",
    "CommentReply",
    "Links",
    "Marker",
    "RunView",
    "checkpoint",
    "exit_code",
    "next_move",
    "read_marker",
    "short_summary",
    "summary",
    "tracking",
]
