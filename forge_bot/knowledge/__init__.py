"""What is known before the work starts: the repository's own commands and habits, and what earlier runs teach."""

from forge_bot.knowledge.history import History
from forge_bot.knowledge.languages import Language
from forge_bot.knowledge.past_runs import PastRun, read_past_run
from forge_bot.knowledge.patterns import Pattern
from forge_bot.knowledge.profile import Profile, read_profile
from forge_bot.knowledge.project_commands_of import ENV, Command, Commands
from forge_bot.knowledge.recall import Recall, Similar

__all__ = [
    "ENV",
    "Command",
    "Commands",
    "History",
    "Language",
    "PastRun",
    "Pattern",
    "Profile",
    "Recall",
    "Similar",
    "read_past_run",
    "read_profile",
]
