"""Everything that forge-bot knows of GitHub: its events, addresses, variables and files, the calls
over urllib that the gate makes, and those through PyGithub, which is imported at the first call.
"""

from forge_bot.forge.github.addresses import *
from forge_bot.forge.github.attachments import *
from forge_bot.forge.github.checks import *
from forge_bot.forge.github.client import *
from forge_bot.forge.github.command_line import *
from forge_bot.forge.github.events import *
from forge_bot.forge.github.gate_client import *
from forge_bot.forge.github.job_step import *
from forge_bot.forge.github.names import *
from forge_bot.forge.github.workflow_files import *
