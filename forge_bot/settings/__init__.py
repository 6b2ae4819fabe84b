"""The settings of a repository and its user: .forge/config.yml, pipelines, and where state is
kept.
"""

from forge_bot.settings.config import CommandSettings, Config, load_config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.settings.state_home import state_home

__all__ = ["CommandSettings", "Config", "load_config", "load_pipeline", "state_home"]
