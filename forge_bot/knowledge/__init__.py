"""Knowledge before the work starts: the repository's commands, conventions, and past runs."""

from forge_bot.knowledge.history import History, Pattern, Recall, Similar
from forge_bot.knowledge.past_runs import DocumentNames, PastRun, read_past_run
from forge_bot.knowledge.profile import Profile, read_profile
from forge_bot.project.detected_commands import ENV, Command, ProjectCommands
from forge_bot.project.languages import Language

__all__ = [
    "ENV",
    "Command",
    "DocumentNames",
    "History",
    "Language",
    "PastRun",
    "Pattern",
    "Profile",
    "ProjectCommands",
    "Recall",
    "Similar",
    "read_past_run",
    "read_profile",
]
